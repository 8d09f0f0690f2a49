"""Logs of feature sets: started, stopped, gone on with by workers.

What a worker has logged is stored query by query, so that a log that was interrupted goes on where it was.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import batched
from threading import Event

import numpy as np
from django.core.exceptions import ValidationError
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, QuerySet
from django.db.models.expressions import Combinable
from django.utils import timezone

from relevancy import activity, endpoints, engines, runs, scores
from relevancy.engines.fields.values import as_number
from relevancy.models import CaseQuery, Endpoint, Ranking, Run, UnreadableSecret, User
from relevancy.models.ranking import pack_doc_ids, read_doc_ids
from relevancy.models.write_queue import write_pause

from .feature_text import Feature
from .models import FeatureLog, FeatureSet, FeatureValues

STARTED, STOPPED, CONTINUED = "feature_set.logging", "feature_set.stopped", "feature_set.continued"
LOGGED, FAILED = "feature_set.logged", "feature_set.failed"
CHUNK_SECONDS = 10.0
HEARTBEAT_SECONDS = 10.0
WRITE_SECONDS = 2.0
BATCH = 100  # queries that are read together
DOCUMENTS_AT_ONCE = 200  # of a query, in one request
MAX_FAILURES = 16  # queries in a row that could not reach the engine; then the log fails
KEPT = "What was logged is kept; “Go on with what is missing” tries again from there."
logger = logging.getLogger("relevancy.features")


def start(*, feature_set: FeatureSet, by: User, run: Run | None = None) -> FeatureLog:
    """Stores a log, which waits for a worker: of the rated documents, and of the results of a run. Enqueue `tasks.log_chunk` then.

    Raises `ValidationError` if `by` may not use the endpoint, while the feature set is being logged, and without queries.
    """
    attempt = feature_set.attempt
    if reason := runs.why_not_usable(case=feature_set.case, endpoint=attempt.endpoint, by=by):
        raise ValidationError(reason)
    with transaction.atomic():
        FeatureSet.objects.select_for_update().get(pk=feature_set.pk)
        if feature_set.logs.active().exists():
            raise ValidationError(f"{feature_set} is being logged already. Wait until that is finished, or stop it.")
        queries = feature_set.case.case_queries.present().count()
        if not queries:
            raise ValidationError("The case has no queries. Add some first.")
        log = FeatureLog.objects.create(
            feature_set=feature_set,
            run=run,
            depth=run.rows if run else 0,
            config=runs.snapshot_config(attempt),
            queries=queries,
            created_by=by,
        )
        _record(log, STARTED, by)
    return log


def stop(*, log: FeatureLog, by: User) -> None:
    """Lets a log end; what has been logged stays. A worker ends it within seconds."""
    if FeatureLog.objects.active().filter(pk=log.pk, stop_requested=False).update(stop_requested=True):
        _record(log, STOPPED, by)


def go_on(*, log: FeatureLog, by: User) -> None:
    """Lets a log that has ended go on: with queries that are missing, and those that failed. Enqueue `tasks.log_chunk` then.

    Raises `ValidationError`.
    """
    attempt = log.feature_set.attempt
    if reason := runs.why_not_usable(case=log.feature_set.case, endpoint=attempt.endpoint, by=by):
        raise ValidationError(reason)
    with transaction.atomic():
        FeatureSet.objects.select_for_update().get(pk=log.feature_set_id)
        if log.feature_set.logs.active().exists():
            raise ValidationError(f"{log.feature_set} is being logged already.")
        log.values.exclude(error="").delete()
        done = log.values.count()
        missing = _unlogged(log).count()
        FeatureLog.objects.filter(pk=log.pk).update(
            status=FeatureLog.Status.WAITING,
            reason="",
            stop_requested=False,
            worker_restarts=0,
            finished_at=None,
            created_by=by,
            done=done,
            failed=0,
            queries=done + missing,
        )
        _record(log, CONTINUED, by)


# --- workers ---


def continue_log(log_id: int, *, seconds: float = CHUNK_SECONDS) -> bool:
    """Logs for some seconds. Returns whether it is to be gone on with at once.

    Does nothing if it has ended, if another worker works on it, or while all requests of the endpoint are in use. An error of the
    database is raised, and another worker tries again, until `runs.MAX_WORKER_RESTARTS` in a row have had one. With any other
    unexpected error the log fails at once: it would only happen again.
    """
    log = _claim(log_id)
    if log is None:
        return False
    restarts: int | Combinable = 0
    try:
        outcome = _Worker(log, seconds).work()
    except LeaseLost:
        return False
    except UnreadableSecret as error:
        outcome = FeatureLog.Status.FAILED, str(error)
    except (OperationalError, InterfaceError):
        restarts = F("worker_restarts") + 1
        raise
    except Exception as error:
        logger.exception("Feature log %s ended with an unexpected error.", log_id)
        outcome = (
            FeatureLog.Status.FAILED,
            (
                f"An unexpected error ({type(error).__name__}) has ended the log; the log of the worker has the details. {KEPT}"
            ),
        )
    finally:
        leased = FeatureLog.objects.filter(pk=log.pk, claimed_by=log.claimed_by)
        leased.update(claimed_by="", slots=0, worker_restarts=restarts)
    if outcome is None:
        return True
    _end(log, *outcome)
    return False


def release_dead() -> None:
    """Takes logs from workers that have sent no heartbeat for too long. One at which too many workers in a row have died, or have lost
    the database, fails."""
    for log in runs.release_dead(FeatureLog.objects.active(), slots=0):
        reason = (
            f"{runs.MAX_WORKER_RESTARTS} workers in a row stopped unexpectedly, or could not reach the database. {KEPT}"
        )
        _end(log, FeatureLog.Status.FAILED, reason)


def _end(log: FeatureLog, status: FeatureLog.Status, reason: str) -> None:
    ended = FeatureLog.objects.active().filter(pk=log.pk)
    if ended.update(status=status, reason=reason, finished_at=timezone.now(), stop_requested=False):
        _record(log, FAILED if status == FeatureLog.Status.FAILED else LOGGED, None, reason)


def _claim(log_id: int) -> FeatureLog | None:
    endpoint = Endpoint.objects.filter(attempts__feature_sets__logs=log_id).only("engine", "parallel")
    active = FeatureLog.objects.active().filter(pk=log_id)
    if not runs.take_lease(active, endpoint, holder(log_id), status=FeatureLog.Status.RUNNING):
        return None
    related = ("feature_set__case__book", "feature_set__case__owner", "feature_set__attempt__endpoint__owner")
    log: FeatureLog = FeatureLog.objects.select_related(*related, "run", "created_by").get(pk=log_id)
    return log


def holder(log_id: int) -> str:
    """Returns the name under which a log holds requests of an endpoint."""
    return f"feature log {log_id}"


def held_requests(endpoint: Endpoint) -> Mapping[str, int]:
    """Returns how many requests at a time logs send to an endpoint."""
    at_work = FeatureLog.objects.filter(feature_set__attempt__endpoint=endpoint).exclude(runs.is_idle())
    return {holder(pk): slots for pk, slots in at_work.values_list("pk", "slots")}


def waiting_logs() -> list[int]:
    """Returns the ids of the logs that a worker should go on with."""
    return list(FeatureLog.objects.active().filter(runs.is_idle()).order_by("pk").values_list("pk", flat=True))


def _unlogged(log: FeatureLog) -> QuerySet[CaseQuery]:
    logged = FeatureValues.objects.filter(log=log).values("query")
    present = log.feature_set.case.case_queries.present().exclude(query__in=logged)
    return present.select_related("query").order_by("position", "pk")  # type: ignore[no-any-return]


class LeaseLost(Exception):
    """Another worker has taken the log over, because this one sent no heartbeat for too long."""


@dataclass(frozen=True)
class _Job:
    case_query: CaseQuery
    doc_ids: Sequence[str]


class _Worker:
    """Works on a log that this worker has claimed, with `log.slots` requests at a time."""

    def __init__(self, log: FeatureLog, seconds: float) -> None:
        self.log = log
        self.claimed = FeatureLog.objects.filter(pk=log.pk, claimed_by=log.claimed_by)
        self.features = log.feature_set.items
        self.deadline = time.monotonic() + seconds
        self.heartbeat_at = self.written_at = time.monotonic()
        self.failures = 0  # queries in a row that could not reach the engine
        self.first_error = ""
        self.stop = Event()
        self.is_stopped = False

    def work(self) -> tuple[FeatureLog.Status, str] | None:
        """Logs until the time is over. Returns how the log has ended, None if it has not. Raises `LeaseLost`."""
        log = self.log
        case, attempt = log.feature_set.case, log.feature_set.attempt
        if log.stop_requested:
            return FeatureLog.Status.STOPPED, ""
        if reason := runs.why_not_usable(case=case, endpoint=attempt.endpoint, by=log.created_by):
            return FeatureLog.Status.FAILED, reason
        if (attempt.endpoint.engine, attempt.endpoint.url) != (log.config["engine"], log.config["url"]):
            return FeatureLog.Status.FAILED, (
                f"The address of endpoint {attempt.endpoint.name} was {log.config['url']} when the log was started and is now "
                f"{attempt.endpoint.url}. Start a new log: values of two indexes cannot be mixed."
            )
        try:
            with endpoints.connect(attempt.endpoint, parallel=log.slots) as engine:
                requester = FeatureRequester(engine, self.features, log.config)
                while case_queries := list(_unlogged(log)[:BATCH]):
                    self._log_batch(engine, requester, case_queries)
                    if self.is_stopped:
                        return FeatureLog.Status.STOPPED, ""
                    if self.failures >= MAX_FAILURES:
                        return FeatureLog.Status.FAILED, f"{MAX_FAILURES} queries in a row failed. {self.first_error}"
                    if self.stop.is_set():
                        return None
        except engines.EngineError as error:
            return FeatureLog.Status.FAILED, str(error)
        return FeatureLog.Status.COMPLETE, ""

    def _log_batch(
        self, engine: engines.Engine, requester: FeatureRequester, case_queries: Sequence[CaseQuery]
    ) -> None:
        documents = read_documents(self.log, [case_query.query_id for case_query in case_queries])
        jobs = [_Job(case_query, documents[case_query.query_id]) for case_query in case_queries]
        rows: list[FeatureValues] = []
        sent = 0

        def ask(job: _Job) -> FeatureValues | engines.EngineError:
            try:
                return requester.ask(job.case_query, job.doc_ids)
            except engines.EngineError as error:
                return error

        outcomes = engines.in_parallel(
            jobs, lambda job: (job, ask(job)), parallel=self.log.slots, stop=self._should_stop
        )
        for job, outcome in outcomes:
            sent += requester.count(len(job.doc_ids))
            self._count_failures(outcome)
            if isinstance(outcome, engines.EngineError):
                outcome = FeatureValues(query_id=job.case_query.query_id, doc_ids=pack_doc_ids([]), error=str(outcome))
            outcome.log = self.log
            rows.append(outcome)
            if time.monotonic() - self.written_at > WRITE_SECONDS:
                self._write(rows, sent)
                rows, sent = [], 0
        self._write(rows, sent)

    def _count_failures(self, outcome: FeatureValues | engines.EngineError) -> None:
        if not isinstance(outcome, engines.CONNECTION_ERRORS):
            self.failures = 0
            return
        self.failures += 1
        if self.failures == 1:
            self.first_error = str(outcome)
        if self.failures >= MAX_FAILURES:
            self.stop.set()

    def _write(self, rows: Sequence[FeatureValues], requests: int) -> None:
        write_pause(since=self.written_at)
        failed = sum(bool(row.error) for row in rows)
        with transaction.atomic():
            self._send_heartbeat(
                done=F("done") + len(rows), failed=F("failed") + failed, requests=F("requests") + requests
            )
            FeatureValues.objects.bulk_create(rows)
        self.written_at = time.monotonic()

    def _should_stop(self) -> bool:
        now = time.monotonic()
        if now > self.deadline:
            self.stop.set()
        elif now - self.heartbeat_at > HEARTBEAT_SECONDS:
            self._send_heartbeat()
        return self.stop.is_set()

    def _send_heartbeat(self, **changes: object) -> None:
        self.heartbeat_at = time.monotonic()
        if not self.claimed.update(heartbeat_at=timezone.now(), **changes):
            raise LeaseLost
        if FeatureLog.objects.filter(pk=self.log.pk, stop_requested=True).exists():
            self.is_stopped = True
            self.stop.set()


class FeatureRequester:
    """Asks an engine for the values of features. Thread-safe. Raises `EngineError`."""

    def __init__(self, engine: engines.Engine, features: Sequence[Feature], config: Mapping[str, object]) -> None:
        self._engine = engine
        self._features = features
        adapter = type(engine)
        self._config = config
        self._templates = {
            feature.name: adapter.parse_clause(feature.text) for feature in features if feature.kind == "query"
        }
        self._builder = runs.RequestBuilder({**config, "template": adapter.example_template, "knobs": {}}, 0)
        numbers = [feature.text for feature in features if feature.kind == "number"]
        id_field = self._builder.fields.id
        self._number_fields = (
            engines.parse_fields(" ".join([f"id:{id_field}", *numbers]), id_field) if numbers else None
        )

    def count(self, documents: int) -> int:
        """Returns how many requests it sends for so many documents of a query."""
        batches = -(-documents // DOCUMENTS_AT_ONCE)
        return batches * (bool(self._templates) + (self._number_fields is not None))

    def ask(self, case_query: CaseQuery, doc_ids: Sequence[str]) -> FeatureValues:
        """Returns the values for documents of a query, not stored. Those that the engine does not have are left out."""
        text = case_query.query.text
        clauses = {
            name: replace(self._builder.request(text, runs.query_options(template.text, case_query)), template=template)
            for name, template in self._templates.items()
        }
        found: list[str] = []
        rows: list[list[float]] = []
        for batch in batched(doc_ids, DOCUMENTS_AT_ONCE):
            values = self._values(clauses, batch)
            present = [doc_id for doc_id in batch if doc_id in values]
            found += present
            rows += [[values[doc_id].get(feature.name, np.nan) for feature in self._features] for doc_id in present]
        with np.errstate(over="ignore"):  # what four bytes cannot hold is infinite
            matrix = np.array(rows, "<f8").reshape(-1, len(self._features)).astype("<f4")
        matrix[~np.isfinite(matrix)] = np.nan
        return FeatureValues(
            query_id=case_query.query_id,
            doc_ids=pack_doc_ids(found),
            packed=matrix.tobytes(),
            gone=len(doc_ids) - len(found),
        )

    def _values(self, clauses: Mapping[str, engines.Request], doc_ids: Sequence[str]) -> dict[str, dict[str, float]]:
        values: dict[str, dict[str, float]] = {}
        if clauses:
            scored = self._engine.clause_scores(clauses, doc_ids)
            values = {doc_id: dict(scored[doc_id]) for doc_id in doc_ids if doc_id in scored}
        if self._number_fields is not None:
            for hit in self._engine.lookup(doc_ids, self._number_fields):
                of_document = values.setdefault(hit.id, {})
                of_document.update(self._numbers(hit.fields))
        return values

    def _numbers(self, fields: Mapping[str, object]) -> Iterator[tuple[str, float]]:
        for feature in self._features:
            if feature.kind == "number":
                value = fields.get(feature.text)
                first = value[0] if isinstance(value, list) and value else value
                if (number := as_number(first if not isinstance(first, bool) else int(first))) is not None:
                    yield feature.name, number


def read_documents(log: FeatureLog, query_ids: Sequence[int]) -> dict[int, list[str]]:
    """Returns the ids of the documents to log by query: the rated ones, then those that only the run has returned."""
    grades = scores.known_grades(log.feature_set.case.book, query_ids)
    documents = {query_id: dict.fromkeys(grades[query_id]) for query_id in query_ids}
    if log.run_id is not None:
        rankings = list(Ranking.objects.filter(run=log.run_id, query__in=query_ids))
        read_doc_ids(rankings)
        for ranking in rankings:
            documents[ranking.query_id].update(dict.fromkeys(ranking.doc_ids[: log.depth]))
    return {query_id: list(of_query) for query_id, of_query in documents.items()}


def _record(log: FeatureLog, verb: str, by: User | None, reason: str = "") -> None:
    feature_set = log.feature_set
    activity.record(
        verb,
        case=feature_set.case_id,
        by=by,
        subject=f"feature set {feature_set.version}",
        object_id=feature_set.pk,
        reason=reason,
    )
