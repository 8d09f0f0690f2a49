"""The table of a comparison with one row for each tag."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from relevancy import comparison


@dataclass(frozen=True)
class TagRow:
    """The figures of a tag. url: of the list with its queries."""

    figures: comparison.TagFigures | comparison.IdealTag
    url: str


def build_tag_rows(tags: Sequence[comparison.TagFigures], list_url: Callable[..., str]) -> list[TagRow]:
    """Returns the tags with the smallest corrected p first, and among the same the largest difference first.

    list_url: returns the address of the list with some parameters changed.
    """
    return [
        TagRow(tag, list_url(tag=tag.tag, page=""))
        for tag in sorted(tags, key=lambda tag: (2.0 if tag.p_holm is None else tag.p_holm, -abs(tag.difference)))
    ]
