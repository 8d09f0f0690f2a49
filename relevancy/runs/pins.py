"""Pinned runs: kept as they are, with their displayed fields, to be compared with later ones."""

from django.db import transaction
from django.utils import timezone

from relevancy.models import Run

from .errors import RunNotAllowed


def pin(*, run: Run) -> None:
    """Pins a run: its results are not changed any more, and keep their displayed fields. A pinned run stays as it is.

    Raises `RunNotAllowed` while the run is active.
    """
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.is_active:
            raise RunNotAllowed(f"Run {run.number} is still {locked.status}. Pin it when it is finished.")
        run.pinned_at = locked.pinned_at or timezone.now()
        Run.objects.filter(pk=run.pk, pinned_at=None).update(pinned_at=run.pinned_at)


def unpin(*, run: Run) -> None:
    """Undoes `pin`. Displayed fields are removed when the run is no longer one of the newest of its case."""
    Run.objects.filter(pk=run.pk).update(pinned_at=None)
    run.pinned_at = None


def describe(*, run: Run, name: str, note: str) -> None:
    """Changes the name and the note of a run. Raises `ValidationError` for the field."""
    run.name, run.note = name, note
    run.clean_fields(exclude={field.name for field in Run._meta.fields} - {"name", "note"})
    Run.objects.filter(pk=run.pk).update(name=run.name, note=run.note)
