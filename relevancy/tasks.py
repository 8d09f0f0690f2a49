"""Background tasks. They take ids and make one call each.

State lives in the database; a task only triggers work. Every task is safe to run more than once.
"""

import logging
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from django.tasks import Task
from django.utils import timezone

from relevancy import accounts, comparison, hooks, judging, logs, ratings, runs, scores
from relevancy.background_task import background_task
from relevancy.formats import stored_exports
from relevancy.formats.ratings import ratings_import
from relevancy.models import Book, Case, JudgingQueue, RatingImport, Run, StoredComparison, StoredExport, User
from relevancy.models.statements import compiled

LOWEST_PRIORITY, LOW_PRIORITY, HIGH_PRIORITY = -20, -10, 10
REQUEUE_AFTER = timedelta(seconds=60)  # a task that has not begun by then may have been lost
SWEEP_SECONDS = 15
RESCORE_SECONDS = 5.0
RESCORE_PAUSE = timedelta(
    seconds=1
)  # after a rating: with 5,000 queries, 20 raters would keep a worker busy with sums otherwise
log = logging.getLogger("relevancy.tasks")


def is_queue_in_database() -> bool:
    """Returns whether tasks are rows of the database, which can be listed. What waits in Redis cannot."""
    return str(settings.TASKS["default"]["BACKEND"]).startswith("django_tasks_db.")


def send(
    task_to_send: Task[..., None], pk: int, *, pause: timedelta | None = None, priority: int | None = None
) -> None:
    """Enqueues a task for one row, to begin after a pause if one is given, with its own priority unless another is given. If the queue
    is unreachable, the error is logged and not raised: the user's changes are stored, `sweep` finds runs that no worker continues, and
    pages find stale scores."""
    try:
        if priority is not None:
            task_to_send = task_to_send.using(priority=priority)
        if pause and task_to_send.get_backend().supports_defer:
            task_to_send = task_to_send.using(run_after=timezone.now() + pause)
        task_to_send.enqueue(pk, reference=logs.request_id())
    except Exception:
        log.exception(
            "The task %s of %s could not be enqueued. Check that the queue is running.", task_to_send.name, pk
        )


@background_task(priority=LOW_PRIORITY)
def run_chunk(run_id: int) -> None:
    """Searches one chunk of a part of a run, then enqueues the next one, after the runs that waited for the endpoint.

    At most one task of a run is in the queue. The worker that takes it enqueues another one if there is work for another worker.
    """
    Run.objects.filter(pk=run_id).update(queued_at=None)
    result = runs.continue_run(run_id, has_more=lambda: enqueue_run(Run(pk=run_id)))
    for pk in result.unblocked_runs + [run_id] * result.unfinished:
        enqueue_run(Run(pk=pk))
    run = Run.objects.filter(pk=run_id).first()
    if run and not run.is_active:
        hooks.run_ended(run)
        if runs.has_prunable_runs(run.case_id):
            send(prune_display_fields, run.case_id)
        queue = JudgingQueue.objects.filter(book__cases=run.case_id).first()
        if queue is not None:  # a book has one as soon as a page or the API has asked what is to judge in it
            enqueue_judging_queue(queue)


@background_task(priority=HIGH_PRIORITY)
def send_password_link(email: str, site_url: str) -> None:
    """Sends a link for a new password, if the address has an account."""
    accounts.passwords.send_reset_link(email=email, site_url=site_url)


@background_task(priority=LOWEST_PRIORITY)
def prune_display_fields(case_id: int) -> None:
    """Removes the displayed fields of a case's old runs."""
    runs.prune_display_fields(Case.objects.get(pk=case_id))


@background_task(priority=LOW_PRIORITY)
def build_judging_queue(book_id: int) -> None:
    """Chooses the documents to judge in a book, after a run or a change of the settings."""
    book = Book.objects.get(pk=book_id)
    judging.build_judging_queue(book=book)
    hooks.judging_queue_built(book)


@background_task(priority=HIGH_PRIORITY)
def rescore_book(book_id: int) -> None:
    """Rescores the last runs of every case of a book after its ratings, or the scorers of a case, have changed, and puts what is judged
    next in order again.

    Works for a few seconds for each case. A book with more to do gets another task, which does not come before runs.
    """
    book = Book.objects.filter(pk=book_id)
    book.update(rescore_queued_at=None)
    cases = Case.objects.live().filter(book=book_id).select_related("book")
    have_finished = [scores.rescore_case(case, seconds=RESCORE_SECONDS) for case in cases]
    judging.refresh_judging_order(book_id)
    if not all(have_finished) and mark_queued(book, "rescore_queued_at"):
        send(rescore_book, book_id, priority=LOW_PRIORITY)


@background_task(priority=HIGH_PRIORITY)
def rescore_run(run_id: int) -> None:
    """Computes the stale and missing scores of one run for a few seconds. The rest is another task, which does not come before runs."""
    of_run = Run.objects.filter(pk=run_id)
    of_run.update(rescore_queued_at=None)
    run = of_run.select_related("case__book").get()
    if not scores.continue_rescore(run, seconds=RESCORE_SECONDS) and mark_queued(of_run, "rescore_queued_at"):
        send(rescore_run, run_id, priority=LOW_PRIORITY)


@background_task(priority=HIGH_PRIORITY)
def rescore_failed(run_id: int) -> None:
    """Removes, for a few seconds, the scores of one run that a scorer could not compute, so that they are missing. The rest is another
    task; then `rescore_run` computes them."""
    run = Run.objects.get(pk=run_id)
    if scores.forget_failed(run, seconds=RESCORE_SECONDS):
        enqueue_run_rescore(run)
    else:
        send(rescore_failed, run_id, priority=LOW_PRIORITY)


@background_task(priority=LOWEST_PRIORITY)
def rescore_history(case_id: int) -> None:
    """Rescores all runs of a case for a few seconds, and enqueues the rest, so that runs do not have to wait."""
    case = Case.objects.get(pk=case_id)
    has_finished = scores.rescore_history(case, seconds=RESCORE_SECONDS)
    Case.objects.filter(pk=case_id).update(history_queued_at=None if has_finished else timezone.now())
    if not has_finished:
        send(rescore_history, case_id)


@background_task(priority=HIGH_PRIORITY)
def compute_comparison(comparison_id: int) -> None:
    """Computes the figures of a comparison that is missing them, or whose ratings or results have changed."""
    comparison.stored.compute(comparison_id)


@background_task(priority=LOW_PRIORITY)
def import_ratings(import_id: int) -> None:
    """Stores the ratings of a large file that was uploaded."""
    ratings_import.continue_import(import_id)
    for book_id in RatingImport.objects.filter(pk=import_id).values_list("book_id", flat=True):
        enqueue_book_rescore(book_id)


@background_task(priority=LOW_PRIORITY)
def make_export(export_id: int) -> None:
    """Makes a large file that was asked for."""
    stored_exports.make(export_id)


def enqueue_comparison(stored: StoredComparison) -> None:
    """Enqueues the computation of a comparison, once however often it is called before the task has finished."""
    if comparison.stored.queue(stored):
        send(compute_comparison, stored.pk)


def enqueue_run(run: Run) -> None:
    """Enqueues a chunk of a run, once however often it is called before the task begins."""
    if mark_queued(Run.objects.filter(pk=run.pk), "queued_at"):
        send(run_chunk, run.pk)


def enqueue_run_rescore(run: Run) -> None:
    """Enqueues the rescoring of a run, once however often it is called before the task begins."""
    if mark_queued(Run.objects.filter(pk=run.pk), "rescore_queued_at"):
        send(rescore_run, run.pk)


def enqueue_history_rescore(case: Case) -> None:
    """Enqueues the rescoring of all runs of a case, once however often it is called before the task has finished."""
    if mark_queued(Case.objects.filter(pk=case.pk), "history_queued_at"):
        send(rescore_history, case.pk)


def enqueue_book_rescore(book_id: int) -> None:
    """Enqueues the rescoring of a book's cases, once however often it is called before the task begins a second later."""
    # What `mark_queued` asks, by a statement that is built once: every rating and every page asks, and while people rate there is one.
    now = timezone.now()
    times = [book.rescore_queued_at for book in _read_book(book_id)]
    if any(time is not None and abs(now - time) <= REQUEUE_AFTER for time in times):
        return
    if mark_queued(Book.objects.filter(pk=book_id), "rescore_queued_at"):
        send(rescore_book, book_id, pause=RESCORE_PAUSE)


@compiled
def _read_book(book_id: int) -> QuerySet[Book]:
    return Book.objects.filter(pk=book_id).only("rescore_queued_at")


def mark_queued(row: QuerySet[Any], field: str) -> bool:
    """Marks a row, in its field with a time, as having a task in the queue. Returns False if it has one that is not older than a
    minute. One SQL statement then, and no write: on SQLite, each write waits for all others. A time that is more than a minute ahead
    is of a clock that was wrong."""
    now = timezone.now()
    is_free = Q(**{field: None}) | ~Q(**{f"{field}__range": (now - REQUEUE_AFTER, now + REQUEUE_AFTER)})
    free = row.filter(is_free).order_by()
    return bool(free.exists() and free.update(**{field: now}))


def enqueue_export(*, row: Case | Run | Book, name: str, by: User, again: bool = False) -> StoredExport:
    """Returns the large file that `by` has asked for; enqueues the task that makes it if there is none. See `stored_exports.ask`."""
    stored, is_new = stored_exports.ask(row=row, name=name, by=by, again=again)
    if is_new:
        send(make_export, stored.pk)
    return stored


def enqueue_judging_queue(queue: JudgingQueue) -> None:
    """Enqueues the choice of the documents to judge if it is outdated, once however often it is called before the task begins."""
    if judging.is_outdated(queue) and judging.queue_build(queue):
        send(build_judging_queue, queue.book_id)


def sweep() -> int:
    """Enqueues every run that should be continued and is not. Returns how many.

    Also undoes imports whose process has died, enqueues those that wait for a worker, files that are still to be made, and the
    rescoring of books whose cases have outdated scores, and calls `hooks.sweep`.
    """
    for book_id in ratings.sweep_imports():
        enqueue_book_rescore(book_id)
    for import_id in ratings.waiting_imports():
        send(import_ratings, import_id)
    for export_id in stored_exports.sweep():
        send(make_export, export_id)
    for book_id in scores.find_outdated_books():
        enqueue_book_rescore(book_id)
    hooks.sweep()
    run_ids = runs.sweep()
    for run_id in run_ids:
        enqueue_run(Run(pk=run_id))
    return len(run_ids)
