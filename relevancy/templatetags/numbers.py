"""Numbers as the pages print them: half up, "–" for what is missing, U+2212 for minus.

`intcomma` of `django.contrib.humanize` neither rounds nor marks what is missing: it prints 1204.25 as "1,204.25" and None as "None".
"""

import math
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from relevancy.scoring.rounding import MINUS, format_p

MISSING = "–"
NO_GRADE = "·"
NINTH = Decimal("1e-9")

Number = int | float | Decimal


def known(value: object) -> Decimal | None:
    """The value as a decimal number, or None for None, NaN, infinities, booleans and anything that is not a number.

    Binary noise is taken off at the ninth decimal, so that 0.1425 · 100 = 14.249999999999998 still rounds as 14.25.
    """
    if value is None or isinstance(value, bool) or value == "":
        return None
    try:
        number = Decimal(repr(float(value))) if not isinstance(value, Decimal) else value  # type: ignore[arg-type]
    except (TypeError, ValueError, InvalidOperation, OverflowError):
        return None
    if not number.is_finite():
        return None
    return number if abs(number) >= 10**15 else number.quantize(NINTH)


def rounded(value: object, places: int) -> Decimal | None:
    """The value rounded half up (away from zero) to so many decimals; zero is never negative."""
    number = known(value)
    if number is None:
        return None
    number = number.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    return number or abs(number)


def score(value: object) -> str:
    """A score 0–100 with one decimal: 61.0; "–" if there is none."""
    number = rounded(value, 1)
    return MISSING if number is None else f"{number:,}".replace("-", MINUS)


def difference(value: object) -> str:
    """A difference of scores with its sign: +6.2, −2.9; 0.0 without one."""
    number = rounded(value, 1)
    return MISSING if number is None else f"{number:{'+' if number else ''},}".replace("-", MINUS)


def effect(value: object) -> str:
    """An effect size with its sign and two decimals: +0.51, −0.20; "–" if there is none."""
    number = rounded(value, 2)
    return MISSING if number is None else f"{number:{'+' if number else ''},}".replace("-", MINUS)


def trend(value: object) -> str:
    """ "up", "down" or "same", judged by what `difference` prints; "same" if there is nothing to compare."""
    number = rounded(value, 1)
    if number is None or number == 0:
        return "same"
    return "up" if number > 0 else "down"


def whole(value: object) -> str:
    """A whole number with separators, for milliseconds and ranges: 34, 1,204."""
    number = rounded(value, 0)
    return MISSING if number is None else f"{number:,}".replace("-", MINUS)


def span(low: object, high: object) -> str:
    """A range in whole numbers with an en dash, 57–84; empty if narrower than 0.5 or not known."""
    if low is None or high is None:
        return ""
    least, most = known(low), known(high)
    if least is None or most is None or most - least < Decimal("0.5"):
        return ""
    first, last = whole(least), whole(most)
    return "" if first == last else f"{first}–{last}"


def engine_score(value: object) -> str:
    """An engine's score with two decimals; below 0.01 with two significant digits, so that 0.0042 is not 0.00."""
    number = known(value)
    if number is None:
        return MISSING
    small = rounded(number, 1 - number.adjusted()) if number else None
    if small is not None and abs(small) < Decimal("0.01"):
        return f"{small:f}".replace("-", MINUS)
    two = rounded(number, 2)
    return MISSING if two is None else f"{two:,}".replace("-", MINUS)


def engine_difference(value: object) -> str:
    """A difference of engine scores with its sign, in the decimals of `engine_score`: +3.20, −0.40."""
    number = known(value)
    text = engine_score(value)
    return f"+{text}" if number is not None and number > 0 else text


def pvalue(value: object) -> str:
    """A probability of chance without its leading zero: .005, below .001 as "< .001"."""
    number = known(value)
    return MISSING if number is None else format_p(number)


def coefficient(value: object) -> str:
    """An agreement or overlap between −1 and 1 with two decimals and no leading zero: .74, −.20, 1.00."""
    number = rounded(value, 2)
    if number is None:
        return MISSING
    text = f"{abs(number):f}".removeprefix("0")
    return MINUS + text if number < 0 else text


def grade_text(value: object) -> str:
    """A grade as short as it is: 3.0 → "3", 2.5 → "2.5", thirds with two decimals; "·" if unrated."""
    number = rounded(value, 2)
    return NO_GRADE if number is None else f"{number.normalize():f}".replace("-", MINUS)


def grade_class(grade: object, lowest: object, top: object) -> str:
    """The colour class g0 … g10 of a grade, stop = round(10 · (grade − lowest) / (top − lowest)); "unrated" if it has none.

    Grades outside the scale take the end's colour. A scale of a single grade has the top colour.
    """
    value, low, high = known(grade), known(lowest), known(top)
    if value is None or low is None or high is None:
        return "unrated"
    if high <= low:
        return "g10"
    stop = rounded(10 * (value - low) / (high - low), 0)
    return f"g{min(10, max(0, int(stop or 0)))}"


def score_class(value: object) -> str:
    """The colour class score-1 … score-5, fifths of 0–100; empty if there is no score."""
    number = known(value)
    if number is None:
        return ""
    return f"score-{min(5, max(1, math.floor(number / 20) + 1))}"
