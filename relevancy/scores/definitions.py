"""What follows from the definition of a scorer: how many results it considers, how its scale differs from that of a book, and whether
its measure is installed."""

from __future__ import annotations

from collections.abc import Iterable

from relevancy import scoring
from relevancy.models import Book, ScorerDefinition, ScorerVersion

type Range = tuple[float, float]
"""Lowest and top grade of a scale."""


def cutoff_of(definition: ScorerDefinition | ScorerVersion) -> int | None:
    """Returns the number of results a scorer considers; None if it considers as many as are displayed.

    Also None for a measure that cannot be read, such as one whose package has been uninstalled.
    """
    if definition.script:
        return definition.cutoff
    try:
        return scoring.parse_measure(definition.measure).cutoff
    except scoring.MeasureError:
        return None


def considered_depth(definition: ScorerDefinition | ScorerVersion, displayed: int) -> int:
    """Returns the number of results a scorer considers if `displayed` of them are shown."""
    return cutoff_of(definition) or displayed


def missing_measures(versions: Iterable[ScorerVersion]) -> list[ScorerVersion]:
    """Returns the versions whose measure cannot be computed, because the package that provides it is not installed."""
    missing = []
    for version in versions:
        try:
            if version.measure:
                scoring.parse_measure(version.measure)
        except scoring.MeasureError:
            missing.append(version)
    return missing


def differing_scales(definition: ScorerDefinition | ScorerVersion, book: Book) -> tuple[Range, Range] | None:
    """Returns `(range of the book, range of the scorer)` if the scorer was made for another scale than the book's, else None."""
    book_range = float(book.lowest), float(book.top)
    scorer_range = float(definition.scale[0][0]), float(definition.scale[-1][0])
    return None if book_range == scorer_range else (book_range, scorer_range)


def mapped_scales(definition: ScorerDefinition | ScorerVersion, book: Book) -> tuple[Range, Range] | None:
    """Returns `(range of the book, range of the script)` if grades are mapped linearly for the script, else None.

    Measures use the scale of the book unmapped (docs/scorers.md).
    """
    return differing_scales(definition, book) if definition.script else None
