"""A chunk: what a worker searches of a part of a run, and stores, before it releases the part."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from relevancy import engines
from relevancy.endpoints import connect
from relevancy.engines.transport.concurrency import in_parallel
from relevancy.models import CaseQuery, Endpoint, Ranking, Run, RunPart, ScorerVersion
from relevancy.models.write_queue import PAUSE_SECONDS, write_pause
from relevancy.scores import compute_scores, lock_queries, store

from .access import why_not_continued
from .claims import release
from .endings import end_without_parts, fail
from .parts import is_searched, unsearched_of_part
from .requests import RequestBuilder, endpoint_mapping, query_options

WRITE_AFTER = 100  # responses on SQLite, where others wait for a write, once `PAUSE_SECONDS` have passed since the last
MAX_UNWRITTEN = 500  # responses
WRITE_SECONDS = 2.0
HEARTBEAT_SECONDS = 10.0  # between heartbeats, however slow the engine is
CANCEL_CHECK_SECONDS = 1.0  # between checks whether the run was stopped
MAX_CONSECUTIVE_FAILURES = 16  # searches in a row that could not reach the engine; then the run fails


@dataclass(frozen=True)
class ChunkResult:
    """The result of a chunk.

    unfinished: whether the run has a part that a worker may search now.
    unblocked_runs: ids of other runs that could use the endpoint now, the one first that has been waiting the longest.
    """

    unfinished: bool
    unblocked_runs: list[int] = field(default_factory=list)


def endpoint_changed(run: Run) -> str:
    """Returns why nothing can be added to a run whose endpoint has changed since its start; an empty string if it has not.

    A run never contains the results of two engines.
    """
    return describe_endpoint_change(run.attempt.endpoint, run.config, "run", run.number)


def describe_endpoint_change(endpoint: Endpoint, config: Mapping[str, Any], noun: str, number: int) -> str:
    """Returns why nothing can be added to what has searched with a `config`, such as a run; an empty string if nothing has changed."""
    if (endpoint.engine, endpoint.url) == (config["engine"], config["url"]):
        if config.get("mapping") in (None, endpoint_mapping(endpoint)):  # None: of an engine or a run without one
            return ""
        change = f"Endpoint {endpoint.name} reads responses in another way than when {noun} {number} started"
    else:
        change = f"The address of endpoint {endpoint.name} was {config['url']} when {noun} {number} started and is now {endpoint.url}"
    return f"{change}, so no results can be added to the {noun}. Start a new {noun}."


def build_ranking(run: Run, case_query: CaseQuery, response: engines.Page | engines.EngineError) -> Ranking:
    """Returns an unsaved ranking with the hits or the error of a search."""
    query = case_query.query
    options = query_options(run.config["template"], case_query)
    row = Ranking(run=run, query=query, former_text=query.text, options=options)
    if isinstance(response, engines.EngineError):
        row.error_kind, row.error = response.kind, str(response)
        return row
    row.hits = [
        [hit.id, hit.score, dict(hit.fields), *([dict(hit.highlights)] if hit.highlights else [])]
        for hit in response.hits
    ]
    row.total, row.took_ms = response.total, response.took_ms
    return row


class _ClaimLost(Exception):
    """Another worker has taken over the part, because this one sent no heartbeat for too long."""


class Chunk:
    """Searches some queries of a claimed part of a run and stores their rankings and scores."""

    def __init__(
        self, run: Run, part: RunPart, seconds: float, limit: int, progress: Callable[[int, int, int], None]
    ) -> None:
        self.run = run
        self.claimed = RunPart.objects.filter(pk=part.pk, claimed_by=part.claimed_by)
        self.part = part
        self.limit = limit
        self.progress = progress
        self.deadline = time.monotonic() + seconds
        self.versions = list(ScorerVersion.objects.used_by(run.case_id))
        self.stop = Event()
        self.cancelled = False
        self.consecutive_failures = part.connection_failures
        self.written_at = self.heartbeat_at = self.cancel_checked_at = time.monotonic()
        self.engine: engines.Engine | None = None

    def work(self) -> None:
        """Searches and stores; then releases the part for the next chunk, or ends it."""
        try:
            if self.run.cancel_requested:
                self._end_part()
                return
            if reason := endpoint_changed(self.run) or why_not_continued(self.run):
                self._fail(reason)
                return
            if case_queries := unsearched_of_part(self.run, self.part)[: self.limit]:
                with connect(self.run.attempt.endpoint, parallel=self.part.slots) as engine:
                    self.engine = engine
                    self._store_version(engine)
                    self._search(engine, case_queries)
        except _ClaimLost:
            return
        except engines.EngineError as error:
            self._fail(str(error))
            return
        if self.cancelled or is_searched(self.run, self.part):
            self._end_part()
        else:
            release(self.part, connection_failures=self.consecutive_failures)

    def _store_version(self, engine: engines.Engine) -> None:
        """Stores the engine's version once per run. An engine that does not reveal its version can still be searched."""
        if self.run.version:
            return
        try:
            # In a thread of its own, so that a run can be stopped while the engine hangs.
            versions = list(in_parallel([engine], type(engine).version, parallel=1, stop=self._should_stop))
        except engines.EndpointUnreachable:
            raise
        except engines.EngineError:
            return
        if not versions:
            return
        self.run.version = versions[0][:120]
        Run.objects.filter(pk=self.run.pk).update(version=self.run.version)

    def _search(self, engine: engines.Engine, case_queries: Sequence[CaseQuery]) -> None:
        requests = RequestBuilder(self.run.config, self.run.rows).requests(case_queries)
        unwritten: list[tuple[CaseQuery, engines.Page | engines.EngineError]] = []
        for index, response in engine.search_many(requests, stop=self._should_stop):
            if isinstance(response, engines.RequestAborted):
                continue  # the run was stopped, and this query was not searched
            unwritten.append((case_queries[index], response))
            self._count_failures(response)
            if self._should_write(len(unwritten)):
                self._write(unwritten)
                unwritten = []
        self._write(unwritten)
        if self.consecutive_failures >= MAX_CONSECUTIVE_FAILURES:
            raise engines.EndpointUnreachable(
                f"{MAX_CONSECUTIVE_FAILURES} searches in a row failed. Error of the last one: {response}"
            )

    def _should_write(self, unwritten: int) -> bool:
        """Returns whether to write this many responses now. Searching goes on while a write would have to wait."""
        since = time.monotonic() - self.written_at
        is_short = connection.vendor == "sqlite" and unwritten >= WRITE_AFTER and since >= PAUSE_SECONDS
        return is_short or unwritten >= MAX_UNWRITTEN or since > WRITE_SECONDS

    def _count_failures(self, response: engines.Page | engines.EngineError) -> None:
        self.consecutive_failures = (
            self.consecutive_failures + 1 if isinstance(response, engines.CONNECTION_ERRORS) else 0
        )
        if self.consecutive_failures >= MAX_CONSECUTIVE_FAILURES:
            self.stop.set()

    def _should_stop(self) -> bool:
        """Returns whether no further request may be sent. Also sends heartbeats while a slow engine responds."""
        if time.monotonic() > self.deadline:
            self.stop.set()
        if time.monotonic() - self.heartbeat_at > HEARTBEAT_SECONDS:
            self._send_heartbeat()
        if time.monotonic() - self.cancel_checked_at > CANCEL_CHECK_SECONDS:
            self._check_cancelled()
        return self.stop.is_set()

    def _send_heartbeat(self) -> None:
        """Raises `_ClaimLost` if another worker has taken over the part."""
        self.heartbeat_at = time.monotonic()
        if not self.claimed.update(heartbeat_at=timezone.now()):
            self._abort_requests()
            raise _ClaimLost

    def _check_cancelled(self) -> None:
        self.cancel_checked_at = time.monotonic()
        if not self.cancelled and Run.objects.filter(pk=self.run.pk, cancel_requested=True).exists():
            self.cancelled = True
            self.stop.set()
            self._abort_requests()

    def _abort_requests(self) -> None:
        """Ends the requests in progress: the engine may hang, and their results are not needed."""
        if self.engine is not None:
            self.engine.abort()

    def _write(self, responses: Sequence[tuple[CaseQuery, engines.Page | engines.EngineError]]) -> None:
        """Stores rankings, their scores and the run's counters in one short transaction; then checks whether to cancel the run."""
        rows = [build_ranking(self.run, case_query, response) for case_query, response in responses]
        # Before the transaction, because a script may take its time.
        scores = compute_scores(self.run, rows, self.versions, before_each=self._send_heartbeat)
        write_pause(since=self.written_at)
        with transaction.atomic():
            # Every transaction locks queries, then parts, then runs; a different order would lead to deadlocks.
            lock_queries([row.query_id for row in rows])
            self._send_heartbeat()
            Ranking.objects.store(rows, endpoint=self.run.attempt.endpoint_id)
            store(scores)
            failed = sum(bool(row.error_kind) for row in rows)
            counted = Run.objects.filter(pk=self.run.pk)
            counted.update(done=F("done") + len(rows), failed=F("failed") + failed)
        self.written_at = time.monotonic()
        self._check_cancelled()
        self.progress(*counted.values_list("done", "failed", "queries").get())

    def _fail(self, reason: str) -> None:
        fail(self.run.pk, reason)
        self._end_part()

    def _end_part(self) -> None:
        with transaction.atomic():
            if self.claimed.delete()[0]:
                end_without_parts(self.run.pk)
