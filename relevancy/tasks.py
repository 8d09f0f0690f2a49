"""Door to the background: ids in, one call. The rows are the truth, a task only wakes; any of them may run twice."""

import logging
from datetime import timedelta

from django.db.models import Q
from django.tasks import Task, task
from django.utils import timezone

from relevancy import evaluation
from relevancy.models import Book, Case, Run

LOWEST, LOW, HIGH = -20, -10, 10
SWEEP_SECONDS = 60
RESCORED_RUNS = 30
log = logging.getLogger("relevancy.tasks")


def send(what: Task[[int], None], pk: int) -> None:
    """Wake the background for one row. A queue that cannot be reached is logged and no more: what the user did is stored, the
    sweep finds runs that nobody works on, and a page finds scores that are stale."""
    try:
        what.enqueue(pk)
    except Exception:
        log.exception("The task %s of %s could not be sent. Is the queue up?", what.name, pk)


@task(priority=LOW)
def run_chunk(run_id: int) -> None:
    """One chunk of a run, then the next one."""
    step = evaluation.continue_run(run_id)
    for pk in [run_id] * step.more + step.wake:
        send(run_chunk, pk)
    case_id = Run.objects.filter(pk=run_id).values_list("case_id", flat=True).first()
    if case_id and not step.more and evaluation.forgettable(case_id):
        send(forget_fields, case_id)


@task(priority=LOWEST)
def forget_fields(case_id: int) -> None:
    """Displayed fields of a case's old runs, which are most of what they store, are let go."""
    evaluation.forget_fields(Case.objects.get(pk=case_id))


@task(priority=HIGH)
def rescore_book(book_id: int) -> None:
    """Scores of the newest run of every case on a book, after ratings changed."""
    Book.objects.filter(pk=book_id).update(rescore_queued_at=None)
    for case in Case.objects.live().filter(book=book_id):
        run = case.runs.select_related("case__book").filter(pinned_at=None).first()
        if run and run.done:
            evaluation.rescore_run(run)


@task(priority=HIGH)
def rescore_run(run_id: int) -> None:
    """Scores of one run that are stale or missing."""
    evaluation.rescore_run(Run.objects.select_related("case__book").get(pk=run_id))


@task(priority=HIGH)
def rescore_failed(run_id: int) -> None:
    """Scores of one run that a script failed to give, and those that are stale or missing."""
    evaluation.rescore_run(Run.objects.select_related("case__book").get(pk=run_id), failed_too=True)


@task(priority=HIGH)
def rescore_case(case_id: int) -> None:
    """Scores of a case's last runs, newest first, after another scorer was chosen; pinned runs keep theirs."""
    runs = Run.objects.filter(case=case_id, pinned_at=None, done__gt=0).select_related("case__book")
    for run in runs.order_by("-number")[:RESCORED_RUNS]:
        evaluation.rescore_run(run)


def wake(run: Run) -> None:
    """Let a worker begin with a run."""
    send(run_chunk, run.pk)


def ratings_changed(book: Book, *, seen: Case | None = None) -> None:
    """Rescore the book's cases in the background, once however often it is asked for; `seen` was rescored already."""
    others = book.cases.live()
    if seen is not None:
        others = others.exclude(pk=seen.pk)
    if not others.exists():
        return
    now = timezone.now()
    free = Q(rescore_queued_at=None) | Q(rescore_queued_at__lt=now - timedelta(seconds=SWEEP_SECONDS))
    if Book.objects.filter(free, pk=book.pk).update(rescore_queued_at=now):
        send(rescore_book, book.pk)


def sweep() -> int:
    """Wake every run that should be worked on and is not. Returns how many."""
    runs = evaluation.sweep()
    for pk in runs:
        send(run_chunk, pk)
    return len(runs)
