"""Annotations: what somebody wrote on a case's history, such as “new synonyms since here”."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from django.utils import timezone

from relevancy.models import Annotation, Case, CaseScore, Run

from .errors import Refused

LONGEST = 500
MOST = 200  # of one case, so that a page that lists them stays one


@dataclass(frozen=True)
class Mark:
    """An annotation as the history shows it. `at`: index of its run among the chart's points; None, and no letter, where its
    run has no point there."""

    annotation: Annotation
    at: int | None
    letter: str


def add(*, case: Case, run: Run, text: str, by: Any) -> Annotation:
    """Write something on the history at one run of the case. Raises `Refused`."""
    if run.case_id != case.pk:
        raise Refused(f"Run {run.number} is not of this case.", field="run")
    text = check(text)
    if case.annotations.filter(removed_at=None).count() >= MOST:
        raise Refused(f"The case has {MOST} annotations. Remove old ones first.", field="text")
    return Annotation.objects.create(case=case, run=run, text=text, created_by=by)


def change(*, annotation: Annotation, text: str) -> None:
    """Other words at the same place. Raises `Refused`."""
    annotation.text = check(text)
    annotation.save(update_fields=["text"])


def remove(*, annotation: Annotation) -> None:
    """Off the history; `restore` undoes it."""
    annotation.removed_at = timezone.now()
    annotation.save(update_fields=["removed_at"])


def restore(*, annotation: Annotation) -> None:
    """Undo `remove`."""
    annotation.removed_at = None
    annotation.save(update_fields=["removed_at"])


def check(text: str) -> str:
    """The text as it is kept: NFC, on one line, trimmed. Raises `Refused` where it is empty or too long."""
    text = " ".join(unicodedata.normalize("NFC", text).split())
    if not text:
        raise Refused("Write a few words about what happened.", field="text")
    if len(text) > LONGEST:
        raise Refused(f"The annotation has {len(text):,} characters; {LONGEST} are possible.", field="text")
    if control := next((char for char in text if unicodedata.category(char) in {"Cc", "Cs"}), None):
        raise Refused(f"The annotation has the character U+{ord(control):04X}. Take it out.", field="text")
    return text


def marks(case: Case, points: Sequence[CaseScore] = ()) -> list[Mark]:
    """The case's annotations by run, oldest first; those at a point of the chart have letters A, B, C …. One statement."""
    places = {point.run_id: index for index, point in enumerate(points)}
    rows = case.annotations.filter(removed_at=None).select_related("run", "created_by").defer("run__asked")
    found: list[Mark] = []
    shown = 0
    for annotation in rows.order_by("run__number", "id"):
        at = places.get(annotation.run_id)
        found.append(Mark(annotation, at, "" if at is None else letter(shown)))
        shown += at is not None
    return found


def letter(place: int) -> str:
    """The letter of the annotation at a place from 0: A … Z, AA, AB … as the columns of a spreadsheet."""
    word = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        word = ascii_uppercase[rest] + word
    return word
