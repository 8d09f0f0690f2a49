"""The sign test: which of two was preferred more often, over independent units such as queries.

Sources: Dixon & Mood, "The statistical sign test", Journal of the American Statistical Association 41, 1946; the interval is that of
Clopper & Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial", Biometrika 26, 1934.
"""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import bdtr, betaincinv

from relevancy.statistics.corrections import ALPHA
from relevancy.statistics.errors import StatisticsError

TAIL = 0.025  # on both sides of a 95 % interval
MIN_DECIDED = 6  # with fewer, even a unanimous result has a p above .05


@dataclass(frozen=True)
class SignTest:
    """Counts of units, and what they show. Ties say nothing about the direction and are left out of the test.

    wins, losses: of the second against the first. p: exact and two-sided; None without a win or a loss.
    share: of wins among wins and losses, 0 to 1, with its exact 95 % interval `low` to `high`; None like p.
    """

    wins: int
    losses: int
    ties: int
    p: float | None
    share: float | None
    low: float | None
    high: float | None

    @property
    def decided(self) -> int:
        """Units that are not ties."""
        return self.wins + self.losses

    @property
    def is_significant(self) -> bool:
        """Whether p is below .05."""
        return self.p is not None and self.p < ALPHA

    @property
    def missing(self) -> int:
        """How many units are missing at least until a result can be significant."""
        return max(0, MIN_DECIDED - self.decided)


def sign_test(wins: int, losses: int, ties: int = 0) -> SignTest:
    """Tests whether wins and losses are equally likely: `p = min(1, 2 · Σ C(n, i) / 2ⁿ)` for `i` from 0 to the smaller count.

    The interval of the share is that of Clopper and Pearson, which covers the true share in at least 95 % of cases.
    Example: 18 wins, 6 losses → p 0.0226558, share .75, interval .5328872 to .9022696.

    Raises `StatisticsError` for a negative count.
    """
    if min(wins, losses, ties) < 0:
        raise StatisticsError(f"Counts cannot be negative: {wins} wins, {losses} losses, {ties} ties.")
    n = wins + losses
    if not n:
        return SignTest(wins, losses, ties, None, None, None, None)
    p = min(1.0, 2.0 * float(bdtr(min(wins, losses), n, 0.5)))
    low = float(betaincinv(wins, losses + 1, TAIL)) if wins else 0.0
    high = float(betaincinv(wins + 1, losses, 1 - TAIL)) if losses else 1.0
    return SignTest(wins, losses, ties, p, wins / n, low, high)
