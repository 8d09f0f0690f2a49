"""A run, from the first request to the last: started, claimed chunk by chunk, cancelled, taken up again after a killed worker.

The run's row is the truth. Whoever holds the claim works on it; the next chunk is always "queries without a ranking", so
anything may be repeated and nothing doubles.
"""

import logging
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import takewhile
from threading import Event
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from relevancy import engines, scoring
from relevancy.models import Attempt, Case, CaseQuery, Endpoint, Ranking, Run, UnreadableSecret

from .asking import Asker, asked
from .connecting import connect
from .scores import PAUSE_SECONDS, depth_of, lock_queries, ranked, score_case, score_rankings, versions_of

log = logging.getLogger("relevancy.runs")
CHUNK_QUERIES = 500
CHUNK_SECONDS = 10.0
WRITE_EVERY = 100
WRITE_SECONDS = 2.0
STALE_AFTER = timedelta(seconds=60)
MAX_TRIES = 3
BEAT_SECONDS = 10.0  # a sign of life and a look at `cancel_requested`, however slow the engine is
HOPELESS = 16  # so many searches in a row that could not reach the engine end the run
_LOST = (engines.EndpointUnreachable, engines.EndpointRefused, engines.TooSlow)


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
        _check_same_engine(newest)
        _outdated(newest).delete()
        newest.status = Run.Status.WAITING
        newest.queries = case.case_queries.present().count()
        newest.done, newest.failed = _counts(newest)
        newest.tries = 0
        newest.cancel_requested = False
        newest.reason = ""
        newest.finished_at = None
        newest.save()
    return newest


def _outdated(run: Run) -> Any:
    """Rankings that `complete` makes anew: failed ones, and those whose text or options are not what would be asked now."""
    now = CaseQuery.objects.filter(case=run.case_id, query=OuterRef("query"), options=OuterRef("options"))
    return run.rankings.filter(~Q(error_kind="") | ~Q(text=F("query__text")) | ~Exists(now))


def _check_same_engine(run: Run) -> None:
    """Rankings of two engines must never stand in one run."""
    endpoint = run.attempt.endpoint
    if (endpoint.engine, endpoint.url) != (run.asked["engine"], run.asked["url"]):
        raise CannotRun(
            f"Endpoint {endpoint.name} led to {run.asked['url']} when run {run.number} was made and leads to {endpoint.url} "
            "now, so nothing can join the run. Start a new one."
        )


def _counts(run: Run) -> tuple[int, int]:
    """How many of the case's present queries were searched in the run, and how many of these searches failed."""
    counts = run.rankings.filter(
        query__case_queries__case=run.case_id, query__case_queries__removed_at=None
    ).aggregate(done=Count("id"), failed=Count("id", filter=~Q(error_kind="")))
    return counts["done"], counts["failed"]


def cancel(*, run: Run) -> None:
    """Stop a run between two requests. What was searched stays; one that nobody holds ends at once."""
    with transaction.atomic():
        Run.objects.filter(pk=run.pk).under_way().update(cancel_requested=True)
        idle = Run.objects.select_related("case").filter(pk=run.pk, claimed_by="").under_way().first()
        if idle is None:
            return
        reason = "Stopped." if idle.done else "Stopped before it began."
        ended = Run.objects.filter(pk=run.pk, claimed_by="").under_way()
        if ended.update(status=Run.Status.CANCELLED, reason=reason, finished_at=timezone.now()) and idle.done:
            score_case(idle, versions_of(idle.case))


def claim(run_id: int) -> str:
    """Take the run for one chunk; the token, or "" when someone else works on it or on its endpoint."""
    now = timezone.now()
    token = uuid.uuid4().hex
    neighbours = Run.objects.filter(
        status=Run.Status.RUNNING, heartbeat_at__gte=now - STALE_AFTER, attempt__endpoint=OuterRef("attempt__endpoint")
    ).exclude(pk=OuterRef("pk"))
    free = Q(claimed_by="") | Q(heartbeat_at=None) | Q(heartbeat_at__lt=now - STALE_AFTER)
    wanted = Run.objects.filter(free, ~Exists(neighbours), pk=run_id).under_way()
    with transaction.atomic():
        # Two workers that claim two runs at one moment would not see each other: the endpoint's row lets one in at a time.
        list(Endpoint.objects.filter(attempts__runs=run_id).select_for_update(of=("self",), no_key=True).values_list("pk"))
        taken = wanted.update(
            claimed_by=token, heartbeat_at=now, status=Run.Status.RUNNING, started_at=Coalesce(F("started_at"), now)
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
        # A run that was stopped between two chunks has nobody else to wake those that wait behind it.
        over = Run.objects.select_related("attempt").exclude(status__in=Run.UNDER_WAY).filter(pk=run_id).first()
        return Step(more=False, wake=waiting_behind(over) if over else [])
    held = Run.objects.filter(pk=run_id, claimed_by=token)
    try:
        run = Run.objects.select_related("case__book", "attempt__endpoint", "attempt__case").get(pk=run_id)
        return _Chunk(run, token, seconds, limit, progress).work()
    except UnreadableSecret as error:
        held.update(status=Run.Status.FAILED, reason=str(error), claimed_by="", finished_at=timezone.now())
        return Step(more=False)
    except Exception:
        log.exception("Run %s stopped at something unforeseen.", run_id)
        held.update(claimed_by="", tries=F("tries") + 1)
        raise
    except BaseException:
        held.update(claimed_by="")
        raise


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
        self.hopeless = self._lost_at_the_end()
        self.wrote_at = self.beat_at = time.monotonic()

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
        except (engines.EngineError, scoring.ScoringError) as error:
            return self._finish(Run.Status.FAILED, str(error))
        if not to_search(self.run).exists():
            return self._finish_searched()
        if self.cancelled:
            return self._finish(Run.Status.CANCELLED, "Stopped.")
        Run.objects.filter(pk=self.run.pk, claimed_by=self.token).update(claimed_by="", tries=0)
        return Step(more=True)

    def _lost_at_the_end(self) -> int:
        """With how many searches in a row that could not reach the engine the chunks before this one ended."""
        kinds = self.run.rankings.order_by("-id").values_list("error_kind", flat=True)[:HOPELESS]
        lost = {error.kind for error in _LOST}
        return len(list(takewhile(lost.__contains__, kinds)))

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
        for index, answer in engine.search_many(requests, stop=self._stopped):
            waiting.append((entries[index], answer))
            self._watch(answer)
            if len(waiting) >= WRITE_EVERY or time.monotonic() - self.wrote_at > WRITE_SECONDS:
                self._write(waiting)
                waiting = []
        self._write(waiting)
        if self.hopeless >= HOPELESS:
            raise engines.EndpointUnreachable(f"{HOPELESS} searches in a row failed. The last one said: {answer}")

    def _watch(self, answer: engines.Page | engines.EngineError) -> None:
        self.hopeless = self.hopeless + 1 if isinstance(answer, _LOST) else 0
        if self.hopeless >= HOPELESS:
            self.stop.set()

    def _stopped(self) -> bool:
        """Whether no further request may be sent. Also shows that this worker lives while the engine lets it wait."""
        if time.monotonic() > self.until:
            self.stop.set()
        if time.monotonic() - self.beat_at > BEAT_SECONDS:
            self._beat()
            self._look_for_cancel()
        return self.stop.is_set()

    def _beat(self) -> None:
        """Raises `_ClaimLost` when someone else took the run over."""
        self.beat_at = time.monotonic()
        if not Run.objects.filter(pk=self.run.pk, claimed_by=self.token).update(heartbeat_at=timezone.now()):
            raise _ClaimLost

    def _look_for_cancel(self) -> None:
        if Run.objects.filter(pk=self.run.pk, cancel_requested=True).exists():
            self.cancelled = True
            self.stop.set()

    def _write(self, answers: Sequence[tuple[CaseQuery, engines.Page | engines.EngineError]]) -> None:
        """One short transaction: rankings, their scores, the run's counters. Also looks whether someone wants the run stopped."""
        pause = PAUSE_SECONDS - (time.monotonic() - self.wrote_at)
        if pause > 0:
            time.sleep(pause)
        rows = [ranking_row(self.run, entry, answer) for entry, answer in answers]
        with transaction.atomic():
            # Queries before the run, as everywhere: two that lock in another order would wait for each other for ever.
            lock_queries([row.query_id for row in rows])
            self._beat()
            Ranking.objects.bulk_create(rows, ignore_conflicts=True)
            stored = dict(
                self.run.rankings.filter(query_id__in=[row.query_id for row in rows]).values_list("query_id", "pk")
            )
            for row in rows:
                row.pk = stored[row.query_id]
            score_rankings(self.run, ranked(rows), self.versions)
            self.run.done, self.run.failed = _counts(self.run)
            Run.objects.filter(pk=self.run.pk).update(done=self.run.done, failed=self.run.failed)
        self.wrote_at = time.monotonic()
        self._look_for_cancel()
        self.progress(self.run.done, self.run.failed, self.run.queries)

    def _finish_searched(self) -> Step:
        if not self.run.failed:
            return self._finish(Run.Status.COMPLETE, "")
        first = self.run.rankings.exclude(error_kind="").order_by("id").values_list("error", flat=True)[0]
        return self._finish(
            Run.Status.INCOMPLETE, f"{self.run.failed} of {self.run.queries} searches failed. The first one: {first}"
        )

    def _finish(self, status: Run.Status, reason: str) -> Step:
        with transaction.atomic():
            self.run.done, self.run.failed = _counts(self.run)
            ended = Run.objects.filter(pk=self.run.pk, claimed_by=self.token).update(
                status=status,
                reason=reason,
                claimed_by="",
                done=self.run.done,
                failed=self.run.failed,
                finished_at=timezone.now(),
            )
            if ended and self.run.done:
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
    for run in stale.filter(tries__gte=MAX_TRIES).select_related("case"):
        with transaction.atomic():
            Run.objects.filter(pk=run.pk).update(
                status=Run.Status.FAILED,
                finished_at=now,
                reason=f"{MAX_TRIES} workers in a row died while working on this run. "
                "Look at the worker's log, then complete the run.",
            )
            if run.done:
                score_case(run, versions_of(run.case))
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
    _check_open(run)
    _check_same_engine(run)
    asker = Asker(run.asked, run.rows)
    with connect(run.attempt.endpoint) as engine:
        page = engine.search(asker.request(entry.query.text, entry.options))
    row = ranking_row(run, entry, page)
    with transaction.atomic():
        lock_queries([entry.query_id])
        now = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        _check_open(now)
        run.rankings.filter(query=entry.query).delete()
        row.save()
        versions = versions_of(run.case)
        score_rankings(run, ranked([row]), versions)
        _count(now)
        score_case(run, versions)
    run.refresh_from_db(fields=("done", "failed", "status", "reason"))
    return row


def _check_open(run: Run) -> None:
    if run.pinned_at or run.under_way:
        raise CannotRun(
            f"Run {run.number} is {'pinned' if run.pinned_at else run.status}: its queries cannot be searched again."
        )
    if Run.objects.filter(case=run.case_id, number__gt=run.number).exists():
        raise CannotRun(f"Run {run.number} is not the newest: its queries cannot be searched again.")


def _count(run: Run) -> None:
    run.done, run.failed = _counts(run)
    if run.status == Run.Status.INCOMPLETE and not run.failed and not to_search(run).exists():
        run.status, run.reason = Run.Status.COMPLETE, ""
    run.save(update_fields=("done", "failed", "status", "reason"))
