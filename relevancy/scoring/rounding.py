"""Rounding for display. Stored numbers are never rounded, and never before a mean is taken."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

MINUS = "−"
NINTH = Decimal("1e-9")  # binary noise is removed there
_HALF_UP = Context(prec=400, rounding=ROUND_HALF_UP)  # the largest floating-point number has 309 digits
_FAST_PLACES = 3
_FAST_LIMIT = 1e9
_NEAR_HALF = 1e-5  # of the last decimal; more than binary noise and the ninth decimal can matter


def round_half_up(number: float | Decimal, places: int) -> Decimal:
    """Returns a finite number rounded half up (away from zero) to so many decimals; zero is never negative.

    Binary noise is removed first, at the ninth decimal: 14.249999999999998 is 14.25.
    """
    exact = number if isinstance(number, Decimal) else Decimal(repr(float(number)))
    exact = exact if abs(exact) >= 10**15 else exact.quantize(NINTH)
    rounded = exact.quantize(Decimal(1).scaleb(-places), context=_HALF_UP)
    return rounded or abs(rounded)


def format_rounded(number: float | Decimal, places: int) -> str:
    """Returns the number rounded half up, with so many decimals: 14.25 → "14.3", −2 → "−2"."""
    rounded = _round_for_format(number, places)
    return f"{MINUS if rounded < 0 else ''}{abs(rounded):.{places}f}"


def format_signed(number: float | Decimal, places: int) -> str:
    """Returns the number like `format_rounded`, with its sign and separators: 6.24 → "+6.2", −2.9 → "−2.9", 0.04 → "0.0"."""
    rounded = _round_for_format(number, places)
    return f"{MINUS if rounded < 0 else '+' if rounded > 0 else ''}{abs(rounded):,.{places}f}"


def _round_for_format(number: float | Decimal, places: int) -> float | Decimal:
    """Returns what `round_half_up` returns, but a float where that has the same digits, which is three times as fast.

    Both differ only close to a half of the last decimal, which binary numbers seldom represent.
    """
    if type(number) is float and places <= _FAST_PLACES and -_FAST_LIMIT < number < _FAST_LIMIT:
        above_half = (number * 10**places + 0.5) % 1.0
        if _NEAR_HALF < above_half < 1 - _NEAR_HALF:
            return round(number, places)
    return round_half_up(number, places)


def format_p(p: float | Decimal) -> str:
    """Returns a probability of chance without its leading zero: 0.0371 → ".037"; below 0.001 "< .001"."""
    return "< .001" if round_half_up(p, 9) < Decimal("0.001") else f"{round_half_up(p, 3):f}".removeprefix("0")


def format_coefficient(number: float | Decimal) -> str:
    """Returns an agreement or overlap between −1 and 1 without its leading zero: 0.74 → ".74", −0.2 → "−.20", 1 → "1.00"."""
    rounded = round_half_up(number, 2)
    return f"{MINUS if rounded < 0 else ''}{f'{abs(rounded):f}'.removeprefix('0')}"


def format_short(number: float, max_places: int = 3) -> str:
    """Returns the number without trailing zeros, at most so many decimals: 3.0 → "3", 0.5 → "0.5", 7/3 → "2.333"."""
    text = format_rounded(number, max_places)
    return text.rstrip("0").rstrip(".") if "." in text else text
