"""Words for small counts, lists and sentences, and phrases that say how many of which results have a property."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

NONE_COUNTED = "no rated results were returned"
_NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class Verb(NamedTuple):
    """The forms of a verb: for one result, for several, and negated for one."""

    singular: str
    plural: str
    negated: str


BE = Verb("is", "are", "is not")
HAVE = Verb("has", "have", "does not have")


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


def describe_group(size: int, k: int, counted: str = "") -> str:
    """Returns the `size` results in the first k: "the first ten results", "the three results returned".

    `counted`: " counted" if unrated results were skipped, else "".
    """
    if size >= k:
        return f"the first {count_in_words(k)} results{counted}"
    return f"the {count_in_words(size)} results{counted or ' returned'}"


def describe_single(k: int, counted: str = "") -> str:
    """Returns the same for a single result: "the first result", "the only result returned"."""
    return f"the first result{counted}" if k == 1 else f"the only result{counted or ' returned'}"


def none_of(count: int) -> str:
    """Returns "neither of the two", "none of the three"."""
    return "neither of the two" if count == 2 else f"none of the {count_in_words(count)}"


def describe_count(
    count: int, size: int, k: int, quality: str, verb: Verb = BE, counted: str = "", exception: str = ""
) -> str:
    """Returns how many of the `size` results in the first k have a quality.

    "two of the first ten results are …", "none of the three results returned is …", "the first result is not …".
    `exception`: follows the group, such as ", not counting repeats,".
    """
    if size == 0:
        return NONE_COUNTED
    if size == 1:
        return f"{describe_single(k, counted)} {verb.singular if count else verb.negated} {quality}"
    group = describe_group(size, k, counted)
    if count == size:
        return f"{'both' if size == 2 else 'all'} of {group} {verb.plural} {quality}"
    if count == 0:
        return f"{'neither' if size == 2 else 'none'} of {group}{exception} {verb.singular} {quality}"
    return f"{count_in_words(count)} of {group}{exception} {verb.singular if count == 1 else verb.plural} {quality}"
