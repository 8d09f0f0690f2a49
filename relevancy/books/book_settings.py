"""The settings of a book: its rating scale, the rule that combines the ratings of several raters, and the guidelines."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Any, TypedDict, Unpack

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Case as CaseExpression
from django.db.models import F, FloatField, QuerySet, Value, When
from django.utils import timezone

from relevancy import activity, hooks, scores, scoring
from relevancy.hooks import GradeField
from relevancy.models import (
    Activity,
    Book,
    Rating,
    RatingChange,
    RatingSpread,
    RepeatedPair,
    User,
    Verdict,
)
from relevancy.models.saving import clean_and_save
from relevancy.models.write_queue import write_turn

from .book_locks import check_unused, lock_book
from .previews import find_cases

BATCH = 500
REMAP_SOURCE = "remap"
IMPORT_SOURCES = ("import", "command")


class SettingsChanged(ValidationError):
    """The settings of a book are not those that the user has seen."""


@dataclass(frozen=True)
class BookSettings:
    """The settings of a book that grades depend on.

    scale: `[[grade, label], …]`, ascending. relevant_from: the lowest grade that counts as relevant.
    """

    rule: str
    scale: Sequence[Sequence[Any]]
    relevant_from: float

    @classmethod
    def of(cls, book: Book) -> BookSettings:
        """Returns the present settings of a book."""
        return cls(book.rule, [list(step) for step in book.scale], book.relevant_from)

    @property
    def grades(self) -> tuple[float, ...]:
        """The values of the scale, ascending."""
        return tuple(float(grade) for grade, _ in self.scale)


@dataclass(frozen=True)
class BookPreview:
    """What a change of the settings would do.

    changed, documents: how many documents would have another grade, and how many have one; each counted once per query.
    merged_text: which grades of ratings would become one, in a sentence; empty if none would.
    case_scores: of the cases that the user can see. hidden_cases: the number of further cases of the book.
    """

    changed: int
    documents: int
    merged_text: str
    case_scores: Sequence[scores.CaseScorePreview]
    hidden_cases: int


class BookChanges(TypedDict, total=False):
    """What `change_book` changes; what is left out stays. guidelines: what raters read about the grades, in Markdown."""

    name: str
    guidelines: str
    raters_are_blind: bool


def change_book(*, book: Book, by: User | None = None, **changes: Unpack[BookChanges]) -> None:
    """Changes the name of a book, which its cases do not take over, its guidelines, or whether its raters see the grades of others.

    Raises `ValidationError`.
    """
    former = copy.copy(book)
    with transaction.atomic():
        clean_and_save(book, **changes)
        if book.name != former.name:
            activity.record_for_book(Activity.Verb.BOOK_RENAMED, book=book, by=by, former=former.name)
        if book.guidelines != former.guidelines:
            activity.record_for_book(Activity.Verb.BOOK_GUIDELINES, book=book, by=by)
        if book.raters_are_blind != former.raters_are_blind:
            changed = "raters judge blind" if book.raters_are_blind else "raters see the grades of others"
            activity.record_for_book(Activity.Verb.BOOK_CHANGED, book=book, by=by, changed=changed)


def book_settings(*, rule: str, scale: Sequence[Sequence[Any]], relevant_from: float | None = None) -> BookSettings:
    """Returns settings. relevant_from: None for the default of the scale.

    Raises `ScaleError` for grades that do not form a scale, and `ValidationError` for a `relevant_from` that is not on it.
    """
    grades = tuple(float(grade) for grade, _ in scale)
    checked = scoring.Scale(grades) if relevant_from is None else scoring.Scale(grades, relevant_from)
    if not grades[0] <= checked.relevant_from <= grades[-1]:
        raise ValidationError({"relevant_from": f"Choose a grade from {grades[0]:g} to {grades[-1]:g}."})
    return BookSettings(rule, [list(step) for step in scale], checked.relevant_from)


def rated_values(book: Book) -> list[float]:
    """Returns the distinct grades that raters gave in a book, and others that have to be on its scale, ascending."""
    return _distinct_values(book, [field for field in _grade_fields() if field.must_fit])


def has_rated_values(book: Book) -> bool:
    """Returns whether `rated_values` has any, without reading all ratings. At most one SQL statement for each kind of grade."""
    return any(_grade_rows(book, field).exists() for field in _grade_fields() if field.must_fit)


def given_values(book: Book) -> list[float]:
    """Returns the distinct grades of a book that get new ones with the ratings, ascending."""
    return _distinct_values(book, _grade_fields())


def _grade_fields() -> Sequence[GradeField]:
    stored = (
        GradeField(Rating, must_fit=True),
        GradeField(RepeatedPair),
        GradeField(RepeatedPair, "first_value"),
    )
    return (*stored, *hooks.grade_fields)


def _distinct_values(book: Book, fields: Sequence[GradeField]) -> list[float]:
    values: set[float] = set()
    for field in fields:
        values.update(_grade_rows(book, field).values_list(field.name, flat=True).distinct())
    return sorted(values)


def _grade_rows(book: Book, field: GradeField) -> QuerySet[Any]:
    return field.model._base_manager.filter(**{field.book: book, f"{field.name}__isnull": False}).order_by()


def offered_rules(book: Book) -> list[str]:
    """Returns the rules that can be chosen for a book.

    That of Quepid only for books with imported ratings, since one more rating can change a grade by the whole scale; and those
    that are no longer offered only for books that have them.
    """
    rules = [Book.Rule.LATEST, Book.Rule.MEAN, Book.Rule.MEDIAN, Book.Rule.MAJORITY]
    imported = RatingChange.objects.filter(query__book=book, source__in=IMPORT_SOURCES)
    if book.rule == Book.Rule.QUEPID or imported.exists():
        rules.append(Book.Rule.QUEPID)
    if book.rule == Book.Rule.LOWEST_OF_THREE:
        rules.append(Book.Rule.LOWEST_OF_THREE)
    return [str(rule) for rule in rules]


def suggest_grades(book: Book, settings: BookSettings) -> dict[float, float]:
    """Returns `{grade of a rating: grade of the new scale}`: mapped linearly, then the nearest grade, of two the lower one."""
    from_scale, to_scale = scores.scale_of(book), scoring.Scale(settings.grades)
    mapped = {value: scoring.map_grades(value, from_scale, to_scale) for value in given_values(book)}
    return {
        value: min(settings.grades, key=lambda grade: (abs(grade - new_value), grade))
        for value, new_value in mapped.items()
    }


def preview_settings(
    *, book: Book, settings: BookSettings, new_grades: Mapping[float, float] | None = None, by: User
) -> BookPreview:
    """Returns what `change_settings` would do. Takes about a second for 5,000 queries.

    Raises `ValidationError` as `change_settings` does, except for grades that become one.
    """
    check_new_grades(book, settings, new_grades, can_merge_grades=True)
    after = copy.copy(book)
    after.rule, after.scale, after.relevant_from = settings.rule, settings.scale, settings.relevant_from  # type: ignore[assignment]
    changed, documents = scores.count_changed_grades(book, after, new_grades or {})
    cases, hidden = find_cases(book, by=by)
    return BookPreview(
        changed=changed,
        documents=documents,
        merged_text=_merged_text(new_grades),
        case_scores=scores.preview_case_scores(cases, book, after, new_grades or {}),
        hidden_cases=hidden,
    )


def change_settings(
    *,
    book: Book,
    settings: BookSettings,
    new_grades: Mapping[float, float] | None = None,
    can_merge_grades: bool = False,
    expected: BookSettings | None = None,
    by: User,
) -> int:
    """Changes rule and scale at once, and the ratings with them. All scores of the book's cases are stale after that.

    new_grades: `{grade of a rating: its grade on the new scale}` for all of `given_values`; None keeps the ratings.
    can_merge_grades: whether several grades may become one, which cannot be undone.
    expected: the settings that the user has seen.

    Every rating keeps its rater, time and note; the log has the old and the new grade. Returns the number of ratings that changed.
    Raises `ValidationError` if a rating would not be on the scale, if `new_grades` lacks one, if the settings have changed since, and
    with `new_grades` while grades of the former scale are being written, such as by an import; nothing is changed then.
    """
    with write_turn(), transaction.atomic():
        lock_book(book)
        if new_grades is not None:
            check_unused(book)
        if expected is not None and BookSettings.of(book) != expected:
            raise SettingsChanged("Rule or scale of the book have been changed meanwhile. Look at the preview again.")
        check_new_grades(book, settings, new_grades, can_merge_grades=can_merge_grades)
        changed = 0 if new_grades is None else _remap(book, new_grades, by)
        _save(book, settings, by, **({} if new_grades is None else {"remapped_at": timezone.now()}))
    return changed


def _merged_text(new_grades: Mapping[float, float] | None) -> str:
    """Returns a sentence that names the grades that become one; empty if there are none."""
    values: dict[float, list[str]] = {}
    for old, new in sorted((new_grades or {}).items()):
        values.setdefault(new, []).append(f"{old:g}")
    groups = [f"{', '.join(olds)} all become {new:g}" for new, olds in sorted(values.items()) if len(olds) > 1]
    return f"The ratings {'; '.join(groups)}: they can no longer be told apart." if groups else ""


def check_new_grades(
    book: Book, settings: BookSettings, new_grades: Mapping[float, float] | None, *, can_merge_grades: bool
) -> None:
    """Raises `ValidationError` if the new grades of the ratings of a book do not fit the settings; see `change_settings`."""
    if new_grades is None:
        _check_on_scale(rated_values(book), settings)
        return
    values = given_values(book)
    if missing := [value for value in values if value not in new_grades]:
        raise ValidationError(
            f"Documents have been rated {missing[0]:g} meanwhile, which has no new grade. Look at the preview again."
        )
    _check_on_scale([new_grades[value] for value in values], settings)
    if not can_merge_grades and (text := _merged_text(new_grades)):
        raise ValidationError({"can_merge_grades": f"{text} Confirm that, or choose other grades."})


def _check_on_scale(values: Sequence[float], settings: BookSettings) -> None:
    grades = settings.grades
    off = [value for value in values if not grades[0] <= value <= grades[-1]]
    if off:
        raise ValidationError(
            {
                "scale": f"Documents are rated {off[0]:g}, which is not on the scale {grades[0]:g} to {grades[-1]:g}. "
                "Keep this grade, or give the ratings new grades."
            }
        )


def _save(book: Book, settings: BookSettings, by: User | None, **changes: Any) -> None:
    former = BookSettings.of(book)
    clean_and_save(book, rule=settings.rule, scale=settings.scale, relevant_from=settings.relevant_from, **changes)
    scores.book_changed(book)
    present = BookSettings.of(book)
    changed = [
        label
        for label, is_changed in (
            (f"rule {former.rule} → {present.rule}", former.rule != present.rule),
            ("scale", former.scale != present.scale),
            (f"relevant from {present.relevant_from:g}", former.relevant_from != present.relevant_from),
            ("grades of the ratings", "remapped_at" in changes),
        )
        if is_changed
    ]
    if changed:
        activity.record_for_book(Activity.Verb.BOOK_CHANGED, book=book, by=by, changed=", ".join(changed))


def _remap(book: Book, new_grades: Mapping[float, float], by: User) -> int:
    """Gives all ratings and other grades of a book their new grades. Logs the ratings and returns their number."""
    now = timezone.now()
    moved = {old: new for old, new in new_grades.items() if old != new}
    changed = Rating.objects.filter(query__book=book, value__in=list(moved)).order_by("pk")
    count = 0
    for batch in batched(changed.iterator(BATCH), BATCH):
        RatingChange.objects.bulk_create(
            RatingChange.of(
                old,
                by=by,
                source=REMAP_SOURCE,
                new_verdict=Verdict.RATED,
                new_value=new_grades[old.value],
                new_is_adjudication=old.is_adjudication,
                at=now,
            )
            for old in batch
            if old.value is not None  # the database refuses a verdict "rated" without a grade
        )
        count += len(batch)
    for field in _grade_fields():
        given = field.model._base_manager.filter(**{field.book: book, f"{field.name}__in": list(moved)})
        whens = [When(**{field.name: old}, then=Value(new)) for old, new in moved.items()]
        expression = CaseExpression(*whens, default=F(field.name), output_field=FloatField())
        for ids in batched(given.order_by().values_list("pk", flat=True), BATCH):
            field.model._base_manager.filter(pk__in=ids).update(**{field.name: expression})
    spreads = RatingSpread.objects.filter(query__book=book).order_by().values_list("query_id", flat=True).distinct()
    for query_ids in batched(spreads, BATCH):
        RatingSpread.objects.refresh(query_ids, has_only_new_ratings=True)
    return count
