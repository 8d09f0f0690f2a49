"""Differences between the scale a scorer was made for and the scale of a book."""

from __future__ import annotations

from relevancy.models import Book, ScorerDefinition, ScorerVersion

type Range = tuple[float, float]
"""Lowest and top grade of a scale."""


def mapped_scales(definition: ScorerDefinition | ScorerVersion, book: Book) -> tuple[Range, Range] | None:
    """Returns `(range of the book, range of the script)` if grades are mapped linearly for the script, else None.

    Measures use the scale of the book unmapped (docs/scorers.md).
    """
    scorer_range, book_range = _range(definition), (float(book.lowest), float(book.top))
    return (book_range, scorer_range) if definition.script and book_range != scorer_range else None


def scales_differ(definition: ScorerDefinition | ScorerVersion, book: Book) -> bool:
    """Returns whether a scorer was made for another scale than the book's."""
    return _range(definition) != (float(book.lowest), float(book.top))


def _range(definition: ScorerDefinition | ScorerVersion) -> Range:
    return (float(definition.scale[0][0]), float(definition.scale[-1][0]))
