"""Annotations: notes on the history of a case, such as “new synonyms from here on”."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from django.core.exceptions import ValidationError
from django.utils import timezone

from relevancy.models import Annotation, Case, CaseScore, Run, User
from relevancy.models.saving import clean_and_save

MAX_ANNOTATIONS = 200  # of one case, so that one page can list them


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
    clean_and_save(annotation)
    return annotation


def change(*, annotation: Annotation, text: str) -> None:
    """Changes the text of an annotation. Raises `ValidationError`."""
    clean_and_save(annotation, text=text)


def remove(*, annotation: Annotation) -> None:
    """Removes an annotation from the history; `restore` brings it back."""
    annotation.removed_at = timezone.now()
    annotation.save(update_fields=["removed_at"])


def restore(*, annotation: Annotation) -> None:
    """Brings a removed annotation back."""
    annotation.removed_at = None
    annotation.save(update_fields=["removed_at"])


def marks(case: Case, points: Sequence[CaseScore] = ()) -> list[Mark]:
    """Returns the case's annotations in the order of their runs, those at a point of the chart with letters. One statement."""
    point_by_run = {point.run_id: index for index, point in enumerate(points)}
    annotations = case.annotations.filter(removed_at=None).select_related("run", "created_by")
    annotations = annotations.only("text", "case", "created_at", "run__number", "created_by__name", "created_by__email")
    result: list[Mark] = []
    lettered = 0
    for annotation in annotations.order_by("run__number", "id"):
        point = point_by_run.get(annotation.run_id)
        result.append(Mark(annotation, point, "" if point is None else letter(lettered)))
        lettered += point is not None
    return result


def letter(index: int) -> str:
    """Returns the letters for an index from 0, as spreadsheet columns have them: A … Z, AA, AB …"""
    letters = ""
    number = index + 1
    while number:
        number, remainder = divmod(number - 1, 26)
        letters = ascii_uppercase[remainder] + letters
    return letters
