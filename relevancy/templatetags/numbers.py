"""Numbers as the pages print them: half up, "–" for what is missing, U+2212 for minus.

`intcomma` of `django.contrib.humanize` neither rounds nor marks what is missing: it prints 1204.25 as "1,204.25" and None as "None".
"""

import math
from decimal import Decimal
from functools import partial
from typing import Any

from relevancy.scoring.rounding import MINUS, NINTH, format_coefficient, format_p, format_signed, round_half_up

MISSING = "–"
NO_GRADE = "·"


def known(value: Any) -> Decimal | None:
    """The value as a decimal number without binary noise; None for NaN, infinities, booleans and whatever is not a number."""
    try:
        number = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
    except (TypeError, ValueError, OverflowError):
        return None
    if isinstance(value, bool) or not number.is_finite():
        return None
    return number if abs(number) >= 10**15 else number.quantize(NINTH)


def fixed(value: object, places: int) -> str:
    """A number with so many decimals and with separators: 14.25, 1,204.0; "–" if there is none."""
    number = known(value)
    return MISSING if number is None else f"{round_half_up(number, places):,f}".replace("-", MINUS)


score = partial(fixed, places=1)
"""A score 0–100: 61.0."""

whole = partial(fixed, places=0)
"""A whole number, for milliseconds and ranges: 34, 1,204."""


def difference(value: object) -> str:
    """A difference of scores with its sign: +6.2, −2.9; 0.0 without one."""
    number = known(value)
    return MISSING if number is None else format_signed(number, 1)


def effect(value: object) -> str:
    """An effect size with its sign and two decimals: +0.51, −0.20; "–" if there is none."""
    number = known(value)
    return MISSING if number is None else format_signed(number, 2)


def trend(value: object) -> str:
    """ "up", "down" or "same", judged by what `difference` prints; "same" if there is nothing to compare."""
    return {"+": "up", MINUS: "down"}.get(difference(value)[0], "same")


def bounds(low: object, high: object) -> tuple[Decimal, Decimal] | None:
    """Both ends of a range; None if it is narrower than 0.5 or not known."""
    least, most = known(low), known(high)
    return None if least is None or most is None or most - least < Decimal("0.5") else (least, most)


def span(low: object, high: object) -> str:
    """A range in whole numbers with an en dash, 57–84; empty if narrower than 0.5 or not known."""
    first, last = map(whole, bounds(low, high) or (None, None))
    return "" if first == last else f"{first}–{last}"


def engine_score(value: object) -> str:
    """An engine's score with two decimals; below 0.01 with two significant digits, so that 0.0042 is not 0.00, and from 10¹² on
    with a power of ten."""
    number = known(value)
    if number and number.adjusted() >= 12:
        return f"{number:.2e}".replace("-", MINUS)
    if number:
        small = round_half_up(number, 1 - number.adjusted())
        if abs(small) < Decimal("0.01"):
            return f"{small:f}".replace("-", MINUS)
    return fixed(number, 2)


def engine_difference(value: object) -> str:
    """A difference of engine scores with its sign, in the decimals of `engine_score`: +3.20, −0.40."""
    number = known(value)
    return f"{'+' if number and number > 0 else ''}{engine_score(number)}"


def pvalue(value: object) -> str:
    """A probability of chance without its leading zero: .005, below .001 as "< .001"."""
    number = known(value)
    return MISSING if number is None else format_p(number)


def coefficient(value: object) -> str:
    """An agreement or overlap between −1 and 1 with two decimals and no leading zero: .74, −.20, 1.00."""
    number = known(value)
    return MISSING if number is None else format_coefficient(number)


def grade_text(value: object) -> str:
    """A grade as short as it is: 3.0 → "3", 2.5 → "2.5", thirds with two decimals; "·" if unrated."""
    number = known(value)
    return NO_GRADE if number is None else f"{round_half_up(number, 2).normalize():f}".replace("-", MINUS)


def grade_class(grade: object, lowest: object, top: object) -> str:
    """The colour class g0 … g10 of a grade, stop = round(10 · (grade − lowest) / (top − lowest)); "unrated" if it has none.

    Grades outside the scale take the end's colour. A scale of a single grade has the top colour.
    """
    value, low, high = known(grade), known(lowest), known(top)
    if value is None or low is None or high is None:
        return "unrated"
    if high <= low:
        return "g10"
    return f"g{min(10, max(0, int(round_half_up(10 * (value - low) / (high - low), 0))))}"


def score_class(value: Decimal) -> str:
    """The colour class score-1 … score-5, fifths of 0–100."""
    return f"score-{min(5, max(1, math.floor(value / 20) + 1))}"
