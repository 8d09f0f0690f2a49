"""Numbers in sentences: half up, small ones in words."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

MINUS = "−"
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def half_up(number: float, places: int) -> str:
    """The number rounded half up to so many decimals, as it is printed: 14.25 → "14.3", −2 → "−2".

    Binary noise is taken off at the twelfth significant digit or the ninth decimal, so that 14.249999999999998 rounds
    as 14.25.
    """
    exact = Decimal(f"{number:.12g}") if abs(number) >= 1000 else Decimal(f"{number:.9f}")
    rounded = exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    return f"{MINUS if rounded < 0 else ''}{abs(rounded):f}"


def plain(number: float, places: int = 3) -> str:
    """A grade or a count as it is written: 3, 0.5, 2.333; at most so many decimals."""
    text = half_up(number, places)
    return text.rstrip("0").rstrip(".") if "." in text else text


def in_words(count: int) -> str:
    """ "no" to "ten" in words, larger counts in digits."""
    return _WORDS[count] if 0 <= count < len(_WORDS) else str(count)


def joined(parts: Sequence[str]) -> str:
    """Nothing, "a", "a and b", "a, b and c"."""
    head = ", ".join(parts[:-1])
    return " and ".join(part for part in (head, *parts[-1:]) if part)


def sentence(text: str) -> str:
    """The same beginning with a capital letter and ending in a full stop."""
    return f"{text[:1].upper()}{text[1:]}."
