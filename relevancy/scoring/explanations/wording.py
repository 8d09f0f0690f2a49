"""Small counts in words, lists, and sentences."""

from __future__ import annotations

from collections.abc import Sequence

_NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def count_in_words(count: int) -> str:
    """Returns "no", "one" … "ten" in words, larger counts in digits."""
    return _NUMBER_WORDS[count] if 0 <= count < len(_NUMBER_WORDS) else str(count)


def join_clauses(clauses: Sequence[str]) -> str:
    """Returns "", "a", "a and b", "a, b, and c"."""
    if len(clauses) < 3:
        return " and ".join(clauses)
    return f"{', '.join(clauses[:-1])}, and {clauses[-1]}"


def as_sentence(clause: str) -> str:
    """Returns the clause with a capital letter and a full stop."""
    return f"{clause[:1].upper()}{clause[1:]}."
