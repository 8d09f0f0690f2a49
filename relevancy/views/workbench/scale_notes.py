"""What a page says about scorers that were made for another scale than that of the case's book."""

from dataclasses import dataclass

from relevancy import scores
from relevancy.models import Book, ScorerVersion
from relevancy.templatetags import numbers


@dataclass(frozen=True)
class ScaleNote:
    """A scorer was made for another scale.

    short: a few words for a list.
    long: the whole sentence, without a full stop.
    is_mapped: whether grades are mapped to the scorer's scale, as they are for scripts.
    """

    short: str
    long: str
    is_mapped: bool


def scale_note(version: ScorerVersion, book: Book) -> ScaleNote | None:
    """Returns the note about a scorer version in cases of this book; None if both have the same scale."""
    if scores.differing_scales(version, book) is None:
        return None
    book_scale, scorer_scale = _scale_range(book.lowest, book.top), _scale_range(version.lowest, version.top)
    if scores.mapped_scales(version, book):
        text = f"Made for {scorer_scale}: grades of the book, {book_scale}, are mapped linearly to {scorer_scale}"
        return ScaleNote(f"maps to {scorer_scale}", text, is_mapped=True)
    text = f"Made for {scorer_scale}: here it uses the scale of the book, {book_scale}; grades are not mapped"
    return ScaleNote(f"scale {scorer_scale}", text, is_mapped=False)


def _scale_range(lowest: float, top: float) -> str:
    return f"{numbers.grade_text(lowest)}–{numbers.grade_text(top)}"
