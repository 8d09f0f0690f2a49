"""Annotations: notes on the history of a case, such as “new synonyms from here on”."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Protocol

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from relevancy import activity
from relevancy.models import Activity, Annotation, Case, Run, User, compiled
from relevancy.models.saving import clean_and_save

MAX_ANNOTATIONS = 200  # of one case, so that one page can list them


class Point(Protocol):
    """A point of a chart of the history."""

    @property
    def run_id(self) -> int: ...


@dataclass(frozen=True)
class Mark:
    """An annotation as the history shows it.

    point: index of the chart's point for the annotated run; None if the chart has none.
    letter: the letter at that point; empty if there is none.
    """

    annotation: Annotation
    point: int | None
    letter: str


def add(*, case: Case, run: Run, text: str, by: User) -> Annotation:
    """Annotates a run of the case. Raises `ValidationError`."""
    if run.case_id != case.pk:
        raise ValidationError({"run": f"Run {run.number} does not belong to this case."})
    if case.annotations.filter(removed_at=None).count() >= MAX_ANNOTATIONS:
        raise ValidationError({"text": f"The case has {MAX_ANNOTATIONS} annotations. Remove some of them first."})
    annotation = Annotation(case=case, run=run, text=text, created_by=by)
    with transaction.atomic():
        clean_and_save(annotation)
        _record(Activity.Verb.ANNOTATION_ADDED, annotation, by)
    return annotation


def change(*, annotation: Annotation, text: str, by: User | None = None) -> None:
    """Changes the text of an annotation. Raises `ValidationError`."""
    with transaction.atomic():
        clean_and_save(annotation, text=text)
        _record(Activity.Verb.ANNOTATION_CHANGED, annotation, by)


def remove(*, annotation: Annotation, by: User | None = None) -> None:
    """Removes an annotation from the history; `restore` brings it back."""
    annotation.removed_at = timezone.now()
    with transaction.atomic():
        annotation.save(update_fields=["removed_at"])
        _record(Activity.Verb.ANNOTATION_REMOVED, annotation, by)


def restore(*, annotation: Annotation, by: User | None = None) -> None:
    """Brings a removed annotation back."""
    annotation.removed_at = None
    with transaction.atomic():
        annotation.save(update_fields=["removed_at"])
        _record(Activity.Verb.ANNOTATION_RESTORED, annotation, by)


def _record(verb: Activity.Verb, annotation: Annotation, by: User | None) -> None:
    run = annotation.run.number
    activity.record(verb, case=annotation.case_id, by=by, subject=annotation.text, object_id=annotation.pk, run=run)


def marks(case: Case, points: Sequence[Point] = ()) -> list[Mark]:
    """Returns the case's annotations in the order of their runs, those at a point of the chart with letters. One statement."""
    point_by_run = {point.run_id: index for index, point in enumerate(points)}
    result: list[Mark] = []
    lettered = 0
    for annotation in _present(case.pk):
        annotation.case = case
        point = point_by_run.get(annotation.run_id)
        result.append(Mark(annotation, point, "" if point is None else letter(lettered)))
        lettered += point is not None
    return result


@compiled
def _present(case_id: int) -> QuerySet[Annotation]:
    present = Annotation.objects.filter(case=case_id, removed_at=None).order_by("run__number", "pk")
    columns = ("text", "created_at", "case", "run__number", "created_by__name", "created_by__email")
    return present.select_related("run", "created_by").only(*columns)


def letter(index: int) -> str:
    """Returns the letters for an index from 0, as spreadsheet columns have them: A … Z, AA, AB …"""
    letters = ""
    number = index + 1
    while number:
        number, remainder = divmod(number - 1, 26)
        letters = ascii_uppercase[remainder] + letters
    return letters
