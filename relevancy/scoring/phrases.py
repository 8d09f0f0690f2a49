"""How many of which documents: the subjects of the sentences that explain a score."""

from __future__ import annotations

from .wording import in_words

NONE_LEFT = "no document was left to count"
Verbs = tuple[str, str, str]
"""For one, for several, and for one that is not."""
IS = ("is", "are", "is not")


def group(size: int, depth: int, counted: str = "") -> str:
    """The documents that count, to follow "of": "the first ten", "the three returned"; `counted`: " counted" where
    others were left out."""
    if size >= depth:
        return f"the first {in_words(depth)}{counted}"
    return f"the {in_words(size)}{counted or ' returned'}"


def no_one_of(count: int) -> str:
    """None, or neither, of so many."""
    return "neither of the two" if count == 2 else f"none of the {in_words(count)}"


def some(count: int, size: int, depth: int, quality: str, verbs: Verbs = IS, counted: str = "", aside: str = "") -> str:
    """How many of the first `depth` documents, of which there are `size`, are of some quality: "two of the first ten
    are …", "none of the three returned is …", "the first document is not …". `aside` follows the group."""
    one, many, not_one = verbs
    if size == 0:
        return NONE_LEFT
    if size == 1:
        subject = f"the first document{counted}" if depth == 1 else f"the only document{counted or ' returned'}"
        return f"{subject} {one if count else not_one} {quality}"
    of = group(size, depth, counted)
    if count == size:
        return f"{'both' if size == 2 else 'all'} of {of} {many} {quality}"
    if count == 0:
        return f"{'neither' if size == 2 else 'none'} of {of}{aside} {one} {quality}"
    return f"{in_words(count)} of {of}{aside} {one if count == 1 else many} {quality}"
