"""A run, from the first request to the last: started, claimed chunk by chunk, cancelled, taken up again after a killed worker.

The run's row is the truth. Whoever holds the claim works on it; the next chunk is always "queries without a ranking", so
anything may be repeated and nothing doubles.
"""

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Event
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from relevancy import engines
from relevancy.models import Attempt, Case, CaseQuery, Ranking, Run

from .asking import Asker, asked
from .connecting import connect
from .scores import depth_of, ranked, rescore_run, score_case, score_rankings, versions_of

CHUNK_QUERIES = 500
CHUNK_SECONDS = 10.0
WRITE_EVERY = 100
WRITE_SECONDS = 2.0
PAUSE_SECONDS = 0.05  # between bulk writes: SQLite's waiting is unfair, and a rating must get its turn
STALE_AFTER = timedelta(seconds=60)
MAX_TRIES = 3
HOPELESS = 16  # so many searches in a row that could not reach the engine end the run


class CannotRun(Exception):
    """Why a run cannot be started, for the person who asked for it."""


@dataclass(frozen=True)
class Step:
    """What a chunk left behind: whether this run goes on, and which other runs may start now."""

    more: bool
    wake: list[int] = field(default_factory=list)


def start(*, attempt: Attempt, by: Any) -> Run:
    """A new run of every query of the attempt's case. Raises `CannotRun`, or `TemplateError` for a template that cannot be used."""
    case = attempt.case
    _check(attempt)
    with transaction.atomic():
        Case.objects.select_for_update().get(pk=case.pk)
        if busy := case.runs.under_way().first():
            raise CannotRun(f"Run {busy.number} is still {busy.status}. Wait for it, or stop it first.")
        queries = case.case_queries.present().count()
        if not queries:
            raise CannotRun("The case has no queries yet. Add some, one per line.")
        last = case.runs.aggregate(last=Max("number"))["last"] or 0
        run: Run = Run.objects.create(
            case=case,
            attempt=attempt,
            number=last + 1,
            asked=asked(attempt),
            rows=depth_of(case, attempt.depth),
            queries=queries,
            created_by=by,
        )
    return run


def _check(attempt: Attempt) -> None:
    if attempt.endpoint.archived_at:
        raise CannotRun(f"Endpoint {attempt.endpoint.name} is archived. Choose another one in the settings.")
    Asker(asked(attempt), attempt.depth)


def complete(*, run: Run, by: Any) -> Run:
    """Search the new, edited and failed queries of the newest unpinned run again; the other rankings stay as they are."""
    with transaction.atomic():
        case = Case.objects.select_for_update().get(pk=run.case_id)
        newest = case.runs.first()
        if newest is None or newest.pk != run.pk or newest.pinned_at:
            raise CannotRun(f"Run {run.number} is pinned or not the newest, so nothing can join it. Start a new run.")
        if newest.under_way:
            raise CannotRun(f"Run {run.number} is still {newest.status}.")
        _check(newest.attempt)
        newest.rankings.filter(Q(~Q(error_kind="")) | ~Q(text=F("query__text"))).delete()
        newest.status = Run.Status.WAITING
        newest.queries = case.case_queries.present().count()
        newest.done = newest.rankings.count()
        newest.failed = 0
        newest.tries = 0
        newest.cancel_requested = False
        newest.reason = ""
        newest.finished_at = None
        newest.save()
    return newest


def cancel(*, run: Run) -> None:
    """Stop a run between two requests. What was searched stays; one that nobody holds ends at once."""
    now = timezone.now()
    Run.objects.filter(pk=run.pk).under_way().update(cancel_requested=True)
    ended = Run.objects.filter(pk=run.pk, claimed_by="").under_way()
    if ended.update(status=Run.Status.CANCELLED, reason="Stopped before it began.", finished_at=now) and run.done:
        rescore_run(Run.objects.select_related("case__book").get(pk=run.pk))


def claim(run_id: int) -> str:
    """Take the run for one chunk; the token, or "" when someone else works on it or on its endpoint."""
    now = timezone.now()
    token = uuid.uuid4().hex
    neighbours = Run.objects.filter(
        status=Run.Status.RUNNING, heartbeat_at__gte=now - STALE_AFTER, attempt__endpoint=OuterRef("attempt__endpoint")
    ).exclude(pk=OuterRef("pk"))
    free = Q(claimed_by="") | Q(heartbeat_at=None) | Q(heartbeat_at__lt=now - STALE_AFTER)
    taken = (
        Run.objects.filter(free, ~Exists(neighbours), pk=run_id)
        .under_way()
        .update(
            claimed_by=token, heartbeat_at=now, status=Run.Status.RUNNING, started_at=Coalesce(F("started_at"), now)
        )
    )
    return token if taken else ""


def continue_run(
    run_id: int,
    *,
    seconds: float = CHUNK_SECONDS,
    limit: int = CHUNK_QUERIES,
    progress: Callable[[int, int, int], None] = lambda done, failed, queries: None,
) -> Step:
    """Work on a run for one chunk: at most `limit` queries or `seconds`. Harmless when the run is over or held by someone else."""
    token = claim(run_id)
    if not token:
        return Step(more=False)
    run = Run.objects.select_related("case__book", "attempt__endpoint", "attempt__case").get(pk=run_id)
    return _Chunk(run, token, seconds, limit, progress).work()


def to_search(run: Run) -> Any:
    """The case's present queries that have no ranking in the run, in their order."""
    there = Ranking.objects.filter(run=run, query=OuterRef("query"))
    return run.case.case_queries.present().filter(~Exists(there)).select_related("query").order_by("position", "id")


class _ClaimLost(Exception):
    """Someone else took the run over, because this worker was silent for too long."""


class _Chunk:
    """One worker's turn on a run."""

    def __init__(
        self, run: Run, token: str, seconds: float, limit: int, progress: Callable[[int, int, int], None]
    ) -> None:
        self.run = run
        self.token = token
        self.limit = limit
        self.progress = progress
        self.until = time.monotonic() + seconds
        self.versions = versions_of(run.case)
        self.stop = Event()
        self.cancelled = False
        self.hopeless = 0
        self.wrote_at = time.monotonic()

    def work(self) -> Step:
        """Search, write, and leave the run either free for the next chunk or finished."""
        entries = list(to_search(self.run)[: self.limit])
        try:
            if self.run.cancel_requested:
                return self._finish(Run.Status.CANCELLED, "Stopped.")
            with connect(self.run.attempt.endpoint) as engine:
                self._note_version(engine)
                self._search(engine, entries)
        except _ClaimLost:
            return Step(more=False)
        except engines.EngineError as error:
            return self._finish(Run.Status.FAILED, str(error))
        if self.cancelled:
            return self._finish(Run.Status.CANCELLED, "Stopped.")
        if to_search(self.run).exists():
            Run.objects.filter(pk=self.run.pk, claimed_by=self.token).update(claimed_by="", tries=0)
            return Step(more=True)
        return self._finish_searched()

    def _note_version(self, engine: engines.Engine) -> None:
        """Once per run: which product answered. An engine that hides its version may still be searched."""
        if self.run.version:
            return
        try:
            self.run.version = engine.version()[:120]
        except engines.EndpointUnreachable:
            raise
        except engines.EngineError:
            return
        Run.objects.filter(pk=self.run.pk).update(version=self.run.version)

    def _search(self, engine: engines.Engine, entries: Sequence[CaseQuery]) -> None:
        requests = Asker(self.run.asked, self.run.rows).requests(entries)
        waiting: list[tuple[CaseQuery, engines.Page | engines.EngineError]] = []
        for index, answer in engine.search_many(requests, stop=self.stop.is_set):
            waiting.append((entries[index], answer))
            self._watch(answer)
            if len(waiting) >= WRITE_EVERY or time.monotonic() - self.wrote_at > WRITE_SECONDS:
                self._write(waiting)
                waiting = []
        self._write(waiting)
        if self.hopeless >= HOPELESS:
            raise engines.EndpointUnreachable(f"{HOPELESS} searches in a row failed. The last one said: {answer}")

    def _watch(self, answer: engines.Page | engines.EngineError) -> None:
        lost = isinstance(answer, engines.EndpointUnreachable | engines.EndpointRefused | engines.TooSlow)
        self.hopeless = self.hopeless + 1 if lost else 0
        if self.hopeless >= HOPELESS or time.monotonic() > self.until:
            self.stop.set()

    def _write(self, answers: Sequence[tuple[CaseQuery, engines.Page | engines.EngineError]]) -> None:
        """One short transaction: rankings, their scores, the run's counters. Also looks whether someone wants the run stopped."""
        pause = PAUSE_SECONDS - (time.monotonic() - self.wrote_at)
        if pause > 0:
            time.sleep(pause)
        rows = [ranking_row(self.run, entry, answer) for entry, answer in answers]
        with transaction.atomic():
            Ranking.objects.bulk_create(rows, ignore_conflicts=True)
            stored = dict(
                self.run.rankings.filter(query_id__in=[row.query_id for row in rows]).values_list("query_id", "pk")
            )
            for row in rows:
                row.pk = stored[row.query_id]
            score_rankings(self.run, ranked(rows), self.versions)
            self.run.done = self.run.rankings.count()
            self.run.failed = self.run.rankings.exclude(error_kind="").count()
            held = Run.objects.filter(pk=self.run.pk, claimed_by=self.token).update(
                done=self.run.done, failed=self.run.failed, heartbeat_at=timezone.now()
            )
        if not held:
            raise _ClaimLost
        self.wrote_at = time.monotonic()
        if Run.objects.filter(pk=self.run.pk, cancel_requested=True).exists():
            self.cancelled = True
            self.stop.set()
        self.progress(self.run.done, self.run.failed, self.run.queries)

    def _finish_searched(self) -> Step:
        failed = self.run.rankings.exclude(error_kind="").count()
        if not failed:
            return self._finish(Run.Status.COMPLETE, "")
        first = self.run.rankings.exclude(error_kind="").order_by("id").values_list("error", flat=True)[0]
        return self._finish(
            Run.Status.INCOMPLETE, f"{failed} of {self.run.queries} searches failed. The first one: {first}"
        )

    def _finish(self, status: Run.Status, reason: str) -> Step:
        ended = Run.objects.filter(pk=self.run.pk, claimed_by=self.token).update(
            status=status, reason=reason, claimed_by="", finished_at=timezone.now()
        )
        if ended and self.run.done:
            with transaction.atomic():
                score_case(self.run, self.versions)
        return Step(more=False, wake=waiting_behind(self.run))


def ranking_row(run: Run, entry: CaseQuery, answer: engines.Page | engines.EngineError) -> Ranking:
    """An answer, or an error, as it is remembered."""
    row = Ranking(run=run, query=entry.query, text=entry.query.text, options=entry.options, asked_at=timezone.now())
    if isinstance(answer, engines.EngineError):
        row.error_kind, row.error = answer.kind, str(answer)
        return row
    row.hits = [[hit.id, hit.score, dict(hit.fields)] for hit in answer.hits]
    row.returned, row.total, row.took_ms = len(row.hits), answer.total, answer.took_ms
    return row


def waiting_behind(run: Run) -> list[int]:
    """Runs that wait for the endpoint this run used."""
    others = Run.objects.filter(status=Run.Status.WAITING, attempt__endpoint=run.attempt.endpoint_id)
    return list(others.exclude(pk=run.pk).order_by("id").values_list("pk", flat=True))


def sweep() -> list[int]:
    """Runs that nobody works on although they should be: counted, failed after three tries, the others returned to be woken."""
    now = timezone.now()
    stale = Run.objects.under_way().filter(
        Q(heartbeat_at__lt=now - STALE_AFTER) | Q(heartbeat_at=None, created_at__lt=now - STALE_AFTER)
    )
    stale.exclude(claimed_by="").update(tries=F("tries") + 1, claimed_by="", heartbeat_at=now - STALE_AFTER * 2)
    for run in stale.filter(tries__gte=MAX_TRIES):
        Run.objects.filter(pk=run.pk).update(
            status=Run.Status.FAILED,
            finished_at=now,
            reason=f"{MAX_TRIES} workers in a row died while working on this run. Look at the worker's log, then complete the run.",
        )
    return list(stale.order_by("id").values_list("pk", flat=True))


def finish_here(run: Run, *, progress: Callable[[int, int, int], None] = lambda done, failed, queries: None) -> Run:
    """Work on a run in this process until it is over; waits while another run holds the endpoint."""
    while True:
        step = continue_run(run.pk, progress=progress)
        run.refresh_from_db()
        if not run.under_way:
            return run
        if not step.more:
            time.sleep(0.5)


def search_again(*, run: Run, entry: CaseQuery) -> Ranking:
    """Ask one query of the newest unpinned run again, now. On an error the ranking that was there stays, and the error is raised."""
    if run.pinned_at or run.under_way:
        raise CannotRun(
            f"Run {run.number} is {'pinned' if run.pinned_at else run.status}: its queries cannot be searched again."
        )
    asker = Asker(run.asked, run.rows)
    with connect(run.attempt.endpoint) as engine:
        page = engine.search(asker.request(entry.query.text, entry.options))
    row = ranking_row(run, entry, page)
    with transaction.atomic():
        Run.objects.select_for_update().get(pk=run.pk)
        run.rankings.filter(query=entry.query).delete()
        row.save()
        versions = versions_of(run.case)
        score_rankings(run, ranked([row]), versions)
        _count(run)
        score_case(run, versions)
    return row


def _count(run: Run) -> None:
    run.done = run.rankings.count()
    run.failed = run.rankings.exclude(error_kind="").count()
    if run.status == Run.Status.INCOMPLETE and not run.failed and not to_search(run).exists():
        run.status, run.reason = Run.Status.COMPLETE, ""
    run.save(update_fields=("done", "failed", "status", "reason"))
