"""Pinned runs: kept as they are, with their displayed fields, to be compared with later ones."""

from django.db import transaction
from django.utils import timezone

from relevancy import activity
from relevancy.models import Activity, Run, User

from .access import RunNotAllowed


def pin(*, run: Run, by: User | None = None) -> None:
    """Pins a run: its results are not changed any more, and keep their displayed fields. A pinned run stays as it is.

    Raises `RunNotAllowed` while the run is active.
    """
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.is_active:
            raise RunNotAllowed(f"Run {run.number} is still {locked.status}. Pin it when it is finished.")
        run.pinned_at = locked.pinned_at or timezone.now()
        if Run.objects.filter(pk=run.pk, pinned_at=None).update(pinned_at=run.pinned_at):
            _record(Activity.Verb.RUN_PINNED, run, by)


def unpin(*, run: Run, by: User | None = None) -> None:
    """Undoes `pin`. Displayed fields are removed when the run is no longer one of the newest of its case."""
    with transaction.atomic():
        if Run.objects.filter(pk=run.pk, pinned_at__isnull=False).update(pinned_at=None):
            _record(Activity.Verb.RUN_UNPINNED, run, by)
    run.pinned_at = None


def _record(verb: Activity.Verb, run: Run, by: User | None) -> None:
    activity.record(verb, case=run.case_id, by=by, subject=f"run {run.number}", object_id=run.pk)


def describe(*, run: Run, name: str, note: str, by: User | None = None) -> None:
    """Changes the name and the note of a run. Raises `ValidationError` for the field."""
    run.name, run.note = name, note
    run.clean_fields(exclude={field.name for field in Run._meta.fields} - {"name", "note"})
    with transaction.atomic():
        Run.objects.filter(pk=run.pk).update(name=run.name, note=run.note)
        _record(Activity.Verb.RUN_DESCRIBED, run, by)
