"""The settings of a book: its rating scale, the rule that combines the ratings of several raters, and the guidelines."""

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from relevancy import scores, scoring
from relevancy.models import Book, ImportedRating, Rating
from relevancy.models.saving import clean_and_save

from .write_queue import write_turn


def set_rule(*, book: Book, rule: str) -> None:
    """Changes the rule that combines ratings. All scores of the book's cases are stale after that. Raises `ValidationError`."""
    _change(book, rule=rule)


def set_guidelines(*, book: Book, guidelines: str) -> None:
    """Changes what raters read about the grades, in Markdown. Raises `ValidationError` for a text that is too long."""
    clean_and_save(book, guidelines=guidelines)


def set_scale(*, book: Book, scale: Sequence[Sequence[Any]], relevant_from: float | None = None) -> None:
    """Changes the rating scale: `[[grade, label], …]`, ascending. All scores of the book's cases are stale after that.

    relevant_from: the lowest grade that counts as relevant; None for the default of the scale.
    Raises `ValidationError` if a rating is not on the scale; ratings are never changed. Raises `ScaleError` for grades that do not
    form a scale.
    """
    grades = tuple(float(grade) for grade, _ in scale)
    checked = scoring.Scale(grades) if relevant_from is None else scoring.Scale(grades, relevant_from)
    ratings = Rating.objects.filter(query__book=book, value__isnull=False).order_by().values_list("value")
    imported = ImportedRating.objects.filter(query__book=book, rating_import__applied_at__isnull=False).order_by()
    values = sorted(value for (value,) in ratings.union(imported.values_list("value")).order_by() if value is not None)
    off = [value for value in values if not checked.contains(value)]
    if off:
        raise ValidationError(
            {
                "scale": f"Documents are rated {off[0]:g}, which is not on the scale {grades[0]:g} to {grades[-1]:g}. Keep this grade."
            }
        )
    _change(book, scale=[list(step) for step in scale], relevant_from=checked.relevant_from)


def _change(book: Book, **changes: Any) -> None:
    with write_turn(), transaction.atomic():
        clean_and_save(book, **changes)
        scores.lock_queries(book.queries.values_list("pk", flat=True))
        scores.book_changed(book)
