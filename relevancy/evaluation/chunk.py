"""One worker's turn on a run: search some of its queries, write what came back, leave it to the next."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from threading import Event
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q
from django.utils import timezone

from relevancy import engines
from relevancy.models import CaseQuery, Ranking, Run
from relevancy.scoring.errors import ScoringError

from .asking import Asker
from .claiming import waiting_behind
from .connecting import connect
from .figures import compute, ranked
from .scorers import versions_of
from .scores import PAUSE_SECONDS, lock_queries, score_case, store

WRITE_EVERY = 100
WRITE_MOST = 300  # where answers come so fast that two hundred more are there before the next write may begin
WRITE_SECONDS = 2.0
BEAT_SECONDS = 10.0  # a sign of life and a look at `cancel_requested`, however slow the engine is
HOPELESS = 16  # so many searches in a row that could not reach the engine end the run
_LOST = (engines.EndpointUnreachable, engines.EndpointRefused, engines.TooSlow)


@dataclass(frozen=True)
class Step:
    """What a chunk left behind: whether this run goes on, and which other runs may start now."""

    more: bool
    wake: list[int] = field(default_factory=list)


def to_search(run: Run) -> Any:
    """The case's present queries that have no ranking in the run, in their order."""
    there = Ranking.objects.filter(run=run, query=OuterRef("query"))
    return run.case.case_queries.present().filter(~Exists(there)).select_related("query").order_by("position", "id")


def moved_away(run: Run) -> str:
    """What to say when the run's endpoint is another engine by now, else "": answers of two must never stand in one run."""
    endpoint = run.attempt.endpoint
    if (endpoint.engine, endpoint.url) == (run.asked["engine"], run.asked["url"]):
        return ""
    return (
        f"Endpoint {endpoint.name} led to {run.asked['url']} when run {run.number} was made and leads to {endpoint.url} "
        "now, so nothing can join the run. Start a new one."
    )


def counts(run: Run) -> tuple[int, int]:
    """How many of the case's present queries were searched in the run, and how many of these searches failed."""
    counts = run.rankings.filter(query__case_queries__case=run.case_id, query__case_queries__removed_at=None).aggregate(
        done=Count("id"), failed=Count("id", filter=~Q(error_kind=""))
    )
    return counts["done"], counts["failed"]


def ranking_row(run: Run, entry: CaseQuery, answer: engines.Page | engines.EngineError) -> Ranking:
    """An answer, or an error, as it is remembered."""
    row = Ranking(run=run, query=entry.query, text=entry.query.text, options=entry.options, asked_at=timezone.now())
    if isinstance(answer, engines.EngineError):
        row.error_kind, row.error = answer.kind, str(answer)
        return row
    row.hits = [
        [hit.id, hit.score, dict(hit.fields), *([dict(hit.highlights)] if hit.highlights else [])]
        for hit in answer.hits
    ]
    row.returned, row.total, row.took_ms = len(row.hits), answer.total, answer.took_ms
    return row


class _ClaimLost(Exception):
    """Someone else took the run over, because this worker was silent for too long."""


class Chunk:
    """One worker's turn on a run."""

    def __init__(
        self, run: Run, token: str, seconds: float, limit: int, progress: Callable[[int, int, int], None]
    ) -> None:
        self.run = run
        self.token = token
        self.limit = limit
        self.progress = progress
        self.began = time.monotonic()
        self.until = self.began + seconds
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
            if moved := moved_away(self.run):
                return self._finish(Run.Status.FAILED, moved)
            with connect(self.run.attempt.endpoint) as engine:
                self._note_version(engine)
                self._search(engine, entries)
        except _ClaimLost:
            return Step(more=False)
        except (engines.EngineError, ScoringError) as error:
            return self._finish(Run.Status.FAILED, str(error))
        if not to_search(self.run).exists():
            return self._finish_searched()
        if self.cancelled:
            return self._finish(Run.Status.CANCELLED, "Stopped.")
        Run.objects.filter(pk=self.run.pk, claimed_by=self.token).update(
            claimed_by="", tries=0, seconds=self._seconds()
        )
        return Step(more=True)

    def _seconds(self) -> Any:
        return F("seconds") + (time.monotonic() - self.began)

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
            if self._due(len(waiting)):
                self._write(waiting)
                waiting = []
        self._write(waiting)
        if self.hopeless >= HOPELESS:
            raise engines.EndpointUnreachable(f"{HOPELESS} searches in a row failed. The last one said: {answer}")

    def _due(self, waiting: int) -> bool:
        """Whether so many answers are to be written now. Rather than wait for its turn to write, a run searches on."""
        since = time.monotonic() - self.wrote_at
        return waiting >= WRITE_MOST or since > WRITE_SECONDS or (waiting >= WRITE_EVERY and since >= PAUSE_SECONDS)

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
        rows = [ranking_row(self.run, entry, answer) for entry, answer in answers]
        # Before the transaction: a script may take its time, and nobody shall wait for it.
        scores = compute(self.run, ranked(rows), self.versions, between=self._beat)
        time.sleep(max(0.0, PAUSE_SECONDS - (time.monotonic() - self.wrote_at)))
        with transaction.atomic():
            # Queries before the run, as everywhere: two that lock in another order would wait for each other for ever.
            lock_queries([row.query_id for row in rows])
            self._beat()
            Ranking.objects.bulk_create(rows, ignore_conflicts=True)
            stored = dict(
                self.run.rankings.filter(query_id__in=[row.query_id for row in rows]).values_list("query_id", "pk")
            )
            for score in scores:
                score.ranking_id = stored[score.query_id]
            store(scores)
            self.run.done += len(rows)
            self.run.failed += sum(bool(row.error_kind) for row in rows)
            Run.objects.filter(pk=self.run.pk).update(done=self.run.done, failed=self.run.failed)
        self.wrote_at = time.monotonic()
        self._look_for_cancel()
        self.progress(self.run.done, self.run.failed, self.run.queries)

    def _finish_searched(self) -> Step:
        self.run.done, self.run.failed = counts(self.run)
        if not self.run.failed:
            return self._finish(Run.Status.COMPLETE, "")
        first = self.run.rankings.exclude(error_kind="").order_by("id").values_list("error", flat=True)[0]
        return self._finish(
            Run.Status.INCOMPLETE, f"{self.run.failed} of {self.run.queries} searches failed. The first one: {first}"
        )

    def _finish(self, status: Run.Status, reason: str) -> Step:
        with transaction.atomic():
            self.run.done, self.run.failed = counts(self.run)
            ended = Run.objects.filter(pk=self.run.pk, claimed_by=self.token).update(
                status=status,
                reason=reason,
                claimed_by="",
                done=self.run.done,
                failed=self.run.failed,
                seconds=self._seconds(),
                finished_at=timezone.now(),
            )
            if ended and self.run.done:
                score_case(self.run, self.versions)
        return Step(more=False, wake=waiting_behind(self.run))
