"""The table of a comparison with one row for each tag."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from relevancy import comparison


@dataclass(frozen=True)
class TagRow:
    """The figures of a tag. url: of the list with its queries."""

    figures: comparison.TagFigures
    url: str


def build_tag_rows(tags: Sequence[comparison.TagFigures], list_url: Callable[..., str]) -> list[TagRow]:
    """Returns the tags with the smallest corrected p first, and among the same the largest difference first.

    list_url: returns the address of the list with some parameters changed.
    """
    return [
        TagRow(each, list_url(tag=each.tag, page=""))
        for each in sorted(tags, key=lambda each: (2.0 if each.p_holm is None else each.p_holm, -abs(each.difference)))
    ]
