"""What users decide between A and B online: interleaved result lists and A/B tests. The unit is the session, never the click.

Sources: Chapelle, Joachims, Radlinski & Yue, "Large-scale validation and analysis of interleaved search evaluation", ACM Transactions
on Information Systems 30, 2012; Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the American
Statistical Association 22, 1927; Newcombe, "Interval estimation for the difference between independent proportions", Statistics in
Medicine 17, 1998 (his method 10).

See docs/decisions/0152.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

from scipy.special import ndtr, ndtri

from relevancy.statistics.corrections import ALPHA
from relevancy.statistics.errors import StatisticsError
from relevancy.statistics.sign_test import sign_test

MIN_EXPECTED = 5  # successes and failures on each side, for a test of two proportions that can be relied on


class Side(StrEnum):
    """The first or the second of two runs."""

    A = "a"
    B = "b"


@dataclass(frozen=True)
class OnlineResult:
    """What the sessions show.

    sessions: all of them. effect: positive if B is better; None if nothing can be said. Interleaving: how much more than half of the
    sessions B wins, −0.5 to 0.5. A/B: by how much the share of successful sessions is higher with B, −1 to 1.
    low, high: 95 % interval of the effect. p: two-sided. is_reliable: whether there are enough sessions for the test.
    """

    sessions: int
    effect: float | None
    low: float | None
    high: float | None
    p: float | None
    is_reliable: bool

    @property
    def winner(self) -> Side | None:
        """The side that is better by a reliable test with p below .05."""
        if not self.is_reliable or self.p is None or self.p >= ALPHA or not self.effect:
            return None
        return Side.B if self.effect > 0 else Side.A


def measure_interleaving(wins_a: int, wins_b: int, ties: int = 0) -> OnlineResult:
    """Returns `Δ = (wins_b + ties / 2) / n − 1/2` over `n` sessions, with the exact binomial p of the sessions that are not ties.

    The interval is that of Clopper and Pearson for B's share among the `d` decided sessions, times `d / n`: ties are taken as given, so
    that it excludes 0 if p is below .05. Example: 6 and 18 wins, 4 ties → Δ .2142857, p .0226558, interval .0281890 to .3448026.

    Raises `StatisticsError` for a negative count.
    """
    sign = sign_test(wins_b, wins_a, ties)
    sessions = sign.decided + ties
    if sign.share is None or sign.low is None or sign.high is None:
        return OnlineResult(sessions, None, None, None, None, is_reliable=False)
    decided = sign.decided / sessions
    effect, low, high = ((share - 0.5) * decided for share in (sign.share, sign.low, sign.high))
    return OnlineResult(sessions, effect, low, high, sign.p, is_reliable=not sign.missing)


def measure_ab(sessions_a: int, successes_a: int, sessions_b: int, successes_b: int) -> OnlineResult:
    """Returns the difference `d` of the shares of successful sessions, with Newcombe's interval from those of Wilson.

    `[d − √((p_b − l_b)² + (u_a − p_a)²), d + √((u_b − p_b)² + (p_a − l_a)²)]`. p: of the score test with the pooled share,
    `z = d / √(p (1 − p) (1 / n_a + 1 / n_b))`. Reliable if each side can expect 5 successes and 5 failures.
    Example, Newcombe's (a): 48 of 80 and 56 of 70 → .2, .0524 to .3339.

    Raises `StatisticsError` for counts that cannot be.
    """
    for sessions, successes in ((sessions_a, successes_a), (sessions_b, successes_b)):
        if not 0 <= successes <= sessions:
            raise StatisticsError(f"{successes} successful sessions of {sessions} cannot be.")
    total = sessions_a + sessions_b
    if not (sessions_a and sessions_b):
        return OnlineResult(total, None, None, None, None, is_reliable=False)
    share_a, share_b = successes_a / sessions_a, successes_b / sessions_b
    low_a, high_a = wilson_interval(successes_a, sessions_a)
    low_b, high_b = wilson_interval(successes_b, sessions_b)
    effect = share_b - share_a
    pooled = (successes_a + successes_b) / total
    error = math.sqrt(pooled * (1 - pooled) * (1 / sessions_a + 1 / sessions_b))
    return OnlineResult(
        total,
        effect,
        effect - math.hypot(share_b - low_b, high_a - share_a),
        effect + math.hypot(high_b - share_b, share_a - low_a),
        2 * float(ndtr(-abs(effect) / error)) if error else 1.0,
        is_reliable=min(sessions_a, sessions_b) * min(pooled, 1 - pooled) >= MIN_EXPECTED,
    )


def wilson_interval(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Returns the interval of Wilson for a share: `(p + z²/2n ± z √(p (1 − p)/n + z²/4n²)) / (1 + z²/n)`. n: at least 1.

    Example: 10 of 12 → .5519645 to .9530335.
    """
    z = float(ndtri(0.5 + level / 2))
    share, square = successes / n, z * z / n
    centre = share + square / 2
    margin = z * math.sqrt(share * (1 - share) / n + square / (4 * n))
    low = 0.0 if successes == 0 else (centre - margin) / (1 + square)
    return low, 1.0 if successes == n else (centre + margin) / (1 + square)
