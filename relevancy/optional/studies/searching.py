"""Goes on with a study: asks the engine for the trials that come next, and scores them.

What the engine has answered is stored after each fifth of the queries. A worker that dies leaves a trial unfinished, whose answers the
next one finds.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from threading import Event
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from relevancy import endpoints, engines, runs
from relevancy.models import CaseQuery
from relevancy.models.ranking import pack_doc_ids
from relevancy.scoring.arrays import BoolArray, IntArray

from .choice import Evidence
from .findings import store_findings
from .models import DIGEST_LENGTH, SealedOpening, Study, StudyAnswer, StudyTrial
from .pools import UNREACHED, Explainer, estimate, read_documents
from .samplers import Origin, Proposal, Samplers, count_trials, plan_trial
from .sealed_queries import finish_opening
from .space import Settings
from .trial_scores import SCORE, TrialScorer, build_evidence, positions_by_tag, read_scored, used_queries

CHUNK_SECONDS = 10.0
FINDINGS_SECONDS = 3.0  # between findings that a page shows meanwhile
FINDINGS_GROWTH = 1.2  # and so many times more trials: those of hundreds of trials take seconds
HEARTBEAT_SECONDS = 10.0
CHECK_SECONDS = 1.0  # between checks whether the study is to be stopped
BLOCKS = 5  # of the queries of a trial: after each, a trial that cannot win any more is given up
MIN_QUERIES = 20  # scored and independent: fewer cannot tell settings apart
MAX_FAILURES = 16  # searches in a row that could not reach the engine; then the study fails
TURNS = 3  # how often a search is sent that did not reach the engine
PAUSE_SECONDS = 1.0  # before it is sent again
BATCH = 1_000


class StudyEnded(Exception):
    """Ends a study. status, reason: as they are stored."""

    def __init__(self, status: Study.Status, reason: str = "") -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


class LeaseLost(Exception):
    """Another worker has taken the study over, because this one sent no heartbeat for too long."""


class _TimeOver(Exception):
    """The time of this worker is over, or the study is to be stopped."""


class StudyWork:
    """Works on a study that this worker has claimed, with `study.slots` requests at a time."""

    def __init__(self, study: Study, *, seconds: float = CHUNK_SECONDS) -> None:
        self.study = study
        self.claimed = Study.objects.filter(pk=study.pk, claimed_by=study.claimed_by)
        self.counted_at = self.heartbeat_at = self.checked_at = time.monotonic()
        self.deadline = self.counted_at + seconds
        self.findings_due = self.counted_at + FINDINGS_SECONDS
        self.stop = Event()
        self.is_stopped = False
        # Whether something was stored: without that, a short time would never be enough, and an engine that hangs would hold up the
        # study for ever, because the failures of each worker would be too few.
        self.has_progress = False
        self.failures = 0  # searches in a row that could not reach the engine
        self.failing_since = 0  # the trial in which they began
        self.first_failure = ""
        self.trials: list[StudyTrial] = []
        self.evidence: Evidence | None = None  # of `comparable`, see `_compare`
        self.comparable: list[StudyTrial] = []
        # Of the answers that this worker has got or found: ids by position and digest, and search times by id.
        self.answers: dict[tuple[int, bytes], int] = {}
        self.took_ms: dict[int, int | None] = {}
        self.engine: engines.Engine | None = None

    def work(self) -> None:
        """Searches and scores until the time is over. Raises `StudyEnded` if the study has ended, and `LeaseLost`."""
        self._check_possible()
        try:
            if opening := SealedOpening.objects.filter(study=self.study, finished_at=None).first():
                self._search_sealed(opening)
            self._search_trials()
        except _TimeOver:
            if self.is_stopped:
                raise StudyEnded(Study.Status.STOPPED) from None
            return
        except engines.EngineError as error:
            raise StudyEnded(Study.Status.FAILED, str(error)) from error
        raise StudyEnded(Study.Status.COMPLETE)

    def _search_trials(self) -> None:
        study = self.study
        self.case_queries = read_case_queries(study, study.query_ids)
        self.scorer, self.trials = read_scored(study)
        self.tags = positions_by_tag(study)
        samplers = Samplers(study.knobs, study.seed, study.parent_settings)
        self.failures = 0  # of sealed queries
        try:
            with endpoints.connect(study.parent.endpoint, parallel=study.slots) as self.engine:
                self._search_given_up()
                while len(self.trials) < count_trials(study.knobs, study.trials_wanted):
                    self._check_budget()
                    self._try_next(samplers)
        except engines.EngineError:
            if self.failures:
                # That these trials failed says nothing of their settings: they are tried again when the study goes on.
                StudyTrial.objects.filter(study=study, number__gte=self.failing_since).delete()
            raise

    def _search_given_up(self) -> None:
        """Searches trials that were given up and could win with the ratings of now for their other queries."""
        given_up = [trial for trial in self.trials if trial.stopped]
        if not given_up:
            return
        is_used = used_queries(self.trials, self.scorer)
        for trial in given_up:
            evidence = self._compare()
            if evidence.can_still_win(trial.values[SCORE][is_used], self.scorer.ceilings[is_used]):
                self._check_budget()
                trial.stopped = False
                self._search(trial, evidence)
                self._write([], trial)
                self.evidence = None

    def _compare(self) -> Evidence:
        """Returns the scores of the trials that have one of every query. Others can never be chosen, so that a trial which was given up
        changes nothing, and nothing is computed again after it."""
        if self.evidence is None:
            is_used = used_queries(self.trials, self.scorer)
            self.comparable = [trial for trial in self.trials if np.isfinite(trial.values[SCORE][is_used]).all()]
            self.evidence = build_evidence(self.study, self.comparable, self.scorer, self.tags)
        return self.evidence

    def _search_sealed(self, opening: SealedOpening) -> None:
        """Searches the sealed queries with the settings of the parent and of the trial, and stores the result."""
        study = self.study
        opening.study = study
        self.case_queries = read_case_queries(study, study.all_query_ids)
        self.scorer = TrialScorer.read(study, study.all_query_ids)
        positions = np.arange(len(study.query_ids), len(self.case_queries))
        found = np.zeros((2, len(self.case_queries)), np.int64)
        with endpoints.connect(study.parent.endpoint, parallel=study.slots) as self.engine:
            for answers, settings in zip(found, (study.parent_settings, opening.settings), strict=True):
                builder = self._build_requests(settings)
                for block in np.array_split(positions, BLOCKS):
                    self._ask(builder, block, answers)
        finish_opening(opening, found[:, positions])

    def _build_requests(self, settings: Settings) -> runs.RequestBuilder:
        return runs.RequestBuilder(self.study.config_with(settings), self.study.rows)

    def _check_possible(self) -> None:
        study = self.study
        if study.stop_requested:
            raise StudyEnded(Study.Status.STOPPED)
        endpoint = study.parent.endpoint
        if changed := runs.describe_endpoint_change(endpoint, study.config, "study", study.number):
            raise StudyEnded(Study.Status.FAILED, changed)
        if reason := runs.why_not_usable(case=study.case, endpoint=endpoint, by=study.created_by):
            raise StudyEnded(Study.Status.FAILED, reason)

    def _check_budget(self) -> None:
        study = self.study
        if time.monotonic() > self.deadline and self.has_progress:
            raise _TimeOver
        if study.used_budget and len(self.trials) > 1:
            raise StudyEnded(Study.Status.COMPLETE, study.used_budget)

    def _try_next(self, samplers: Samplers) -> None:
        study, number = self.study, len(self.trials)
        proposal = self._plan(number)
        evidence = self._compare() if number else None
        settings = self._estimated(number) if proposal.origin == Origin.ESTIMATED else None
        if proposal.origin == Origin.ESTIMATED and settings is None:
            proposal = replace(proposal, origin=Origin.LOCAL)
        if settings is None:
            is_led = evidence is not None and proposal.origin in (Origin.TPE, Origin.LOCAL)
            tried = evidence.seen_without(proposal.fold_left_out) if is_led and evidence is not None else []
            settings = samplers.propose(
                proposal,
                number,
                [(self.comparable[place].number, self.comparable[place].settings, mean) for place, mean in tried],
            )
        trial = StudyTrial(
            study=study,
            number=number,
            settings=settings,
            origin=proposal.origin,
            fold_left_out=proposal.fold_left_out,
        )
        self._search(trial, evidence)
        self._write([], trial)
        self.trials.append(trial)
        if number == 0:
            self._check_parent(trial)
        if not trial.stopped:
            self.evidence = None
        is_due = time.monotonic() > self.findings_due
        if is_due and len(self.trials) >= FINDINGS_GROWTH * study.findings.get("trials", 0):
            store_findings(study, self.scorer, self.trials)
            self.findings_due = time.monotonic() + FINDINGS_SECONDS

    def _plan(self, number: int) -> Proposal:
        study = self.study
        return plan_trial(study.knobs, study.trials_wanted, number, estimates=study.estimates)

    def _check_parent(self, trial: StudyTrial) -> None:
        """Ends the study if the parent has too few scores to be compared with."""
        units = self.study.units or range(len(self.study.query_ids))
        independent = len(set(np.array(units)[used_queries([trial], self.scorer)].tolist()))
        if independent < MIN_QUERIES:
            cause = f"First error: {trial.error}" if trial.error else "Rate more documents first."
            trial.delete()  # what has been answered stays: it is tried again when the study goes on
            raise StudyEnded(
                Study.Status.FAILED,
                f"Attempt {self.study.parent.number} has scores of {independent} independent queries; {MIN_QUERIES} are needed. "
                + cause,
            )

    def _search(self, trial: StudyTrial, evidence: Evidence | None) -> None:
        """Searches a trial block by block, and sets its answers and scores. Raises `_TimeOver`."""
        builder = self._build_requests(trial.settings)
        order = np.random.Generator(np.random.PCG64(self.study.seed)).permutation(len(self.case_queries))
        is_used = used_queries(self.trials, self.scorer) if self.trials else None
        answers = np.zeros(len(self.case_queries), np.int64)
        for block in np.array_split(order, BLOCKS):
            error = self._ask(builder, block, answers)
            trial.error = trial.error or error
            if evidence is None or is_used is None:
                continue
            if (answers == 0)[block][is_used[block]].any():
                break  # a trial that lacks a query can never be chosen
            if not self._can_still_win(evidence, is_used, answers):
                trial.stopped = bool((answers == 0)[is_used].any())
                break
        trial.answers = answers.astype("<i8").tobytes()
        trial.columns = self.scorer.columns(answers).astype("<f8").tobytes()
        took = [ms for pk in answers.tolist() if (ms := self.took_ms.get(pk)) is not None]
        trial.took_ms = float(np.mean(took)) if took else None

    def _can_still_win(self, evidence: Evidence, is_used: BoolArray, answers: IntArray) -> bool:
        points = self.scorer.columns(answers)[SCORE]
        return evidence.can_still_win(points[is_used], self.scorer.ceilings[is_used])

    def _ask(self, builder: runs.RequestBuilder, block: IntArray, answers: IntArray) -> str:
        """Sets the answers of some queries; those that an equal request has got already are not asked again. Returns the first error
        of a search; empty if there is none."""
        waiting = self._find_unanswered(builder, block, answers)
        errors: dict[int, engines.EngineError] = {}
        for turn in range(TURNS):
            if turn:
                self.stop.wait(PAUSE_SECONDS)
            errors |= self._send(waiting, answers)
            waiting = [item for item in waiting if isinstance(errors.get(item[0]), UNREACHED) and not answers[item[0]]]
            if not waiting or self.stop.is_set():
                break
        if self.failures >= MAX_FAILURES:
            raise engines.EndpointUnreachable(
                f"{MAX_FAILURES} searches in a row failed. Error of the first one: {self.first_failure}"
            )
        if self.stop.is_set() or self._should_stop():
            raise _TimeOver
        failed = [position for position in block.tolist() if position in errors and not answers[position]]
        return f"“{self.case_queries[failed[0]]}”: {errors[failed[0]]}" if failed else ""

    def _find_unanswered(
        self, builder: runs.RequestBuilder, block: IntArray, answers: IntArray
    ) -> list[tuple[int, bytes, engines.Request]]:
        """Sets the answers that are there. Returns position, digest and request of the others."""
        assert self.engine is not None
        searches = []
        of_parent = self.trials[0].answer_ids if self.trials else None
        for position in block.tolist():
            case_query = self.case_queries[position]
            if case_query is None or (of_parent is not None and not of_parent[position]):
                continue  # what the parent has no answer to is part of no comparison
            request = builder.requests([case_query])[0]
            searches.append((position, digest_of(self.engine, request), request))
        self._read_answers([digest for position, digest, _ in searches if (position, digest) not in self.answers])
        for position, digest, _ in searches:
            answers[position] = self.answers.get((position, digest), 0)
        return [search for search in searches if not answers[search[0]]]

    def _read_answers(self, digests: Sequence[bytes]) -> None:
        """Reads and scores stored answers: only those to these requests, because a large study has millions."""
        if not digests:
            return
        stored = StudyAnswer.objects.filter(study=self.study, position__lt=len(self.case_queries))
        self._keep([(answer, answer.doc_ids) for answer in stored.filter(digest__in=digests)])

    def _keep(self, answered: Sequence[tuple[StudyAnswer, Sequence[str]]]) -> None:
        """Scores stored answers and keeps them for equal requests."""
        self.scorer.add([(answer.pk, answer.position, doc_ids) for answer, doc_ids in answered])
        for answer, _ in answered:
            self.answers[answer.position, bytes(answer.digest)] = answer.pk
            self.took_ms[answer.pk] = answer.took_ms

    def _send(
        self, searches: Sequence[tuple[int, bytes, engines.Request]], answers: IntArray
    ) -> dict[int, engines.EngineError]:
        """Sends searches, stores and sets their answers. Returns the errors by position."""
        if not searches:
            return {}
        assert self.engine is not None
        new: list[tuple[StudyAnswer, list[str]]] = []
        errors: dict[int, engines.EngineError] = {}
        sent = 0
        requests = [request for *_, request in searches]
        for index, response in self.engine.search_many(requests, stop=self._should_stop):
            if isinstance(response, engines.RequestAborted):
                continue
            sent += 1
            position, digest, _ = searches[index]
            self._count_failures(position, response)
            if isinstance(response, engines.EngineError):
                errors[position] = response
                continue
            doc_ids = [hit.id for hit in response.hits]
            answer = StudyAnswer(
                study=self.study,
                position=position,
                digest=digest,
                packed=pack_doc_ids(doc_ids),
                took_ms=response.took_ms,
            )
            new.append((answer, doc_ids))
        self._write(new, requests=sent)
        for answer, _ in new:
            answers[answer.position] = answer.pk
        return errors

    def _count_failures(self, position: int, response: engines.Page | engines.EngineError) -> None:
        if not isinstance(response, engines.CONNECTION_ERRORS):
            self.failures = 0
            self.has_progress = True
            return
        self.failures += 1
        if self.failures == 1:
            self.failing_since = len(self.trials)
            self.first_failure = f"“{self.case_queries[position]}”: {response}"
        if self.failures >= MAX_FAILURES:
            self.stop.set()

    def _estimated(self, number: int) -> dict[str, engines.KnobValue] | None:
        """Returns the settings that were estimated for a trial; None where none could be. Raises `_TimeOver` and `EngineError`."""
        estimated = self.study.estimated
        if not estimated or not 0 <= number - estimated["first"] < len(estimated["proposals"]):
            estimated = self._estimate(number)
        proposal = estimated["proposals"][number - estimated["first"]]
        return proposal and dict(proposal["settings"])

    def _estimate(self, first: int) -> dict[str, Any]:
        """Estimates settings for the trials from `first` on. Stores what came of it and returns it."""
        study = self.study
        assert self.engine is not None
        is_used = used_queries(self.trials, self.scorer)
        documents = read_documents(study, self.trials)
        explainer = Explainer(study, self.engine, self.case_queries)
        for pool in explainer.read(documents, stop=self._should_stop):
            with transaction.atomic():
                self._send_heartbeat(requests=F("requests") + explainer.requests_of_pool)
                pool.save()
            study.requests += explainer.requests_of_pool
            self.has_progress = True
        if self.stop.is_set():
            raise _TimeOver
        proposals = [self._plan(number) for number in range(first, count_trials(study.knobs, study.trials_wanted))]
        estimated = estimate(study, self.trials, self.scorer, is_used, self.tags, proposals, self._beat)
        study.estimated = {"first": first, **estimated}
        self._send_heartbeat(estimated=study.estimated)
        self.has_progress = True
        return study.estimated

    def _beat(self) -> None:
        """Sends heartbeats, and ends the work if the study is to be stopped. Raises `_TimeOver`."""
        if self._should_stop() and self.is_stopped:
            raise _TimeOver

    def _write(
        self, new: Sequence[tuple[StudyAnswer, list[str]]], trial: StudyTrial | None = None, *, requests: int = 0
    ) -> None:
        """Stores answers or a trial, with the requests and the time that they have taken, which is a heartbeat."""
        if not (new or trial or requests):
            return
        now = time.monotonic()
        with transaction.atomic():
            self._send_heartbeat(requests=F("requests") + requests, seconds=F("seconds") + (now - self.counted_at))
            StudyAnswer.objects.bulk_create([answer for answer, _ in new], batch_size=BATCH)
            if trial is not None:
                trial.save()
        if not self.failures:
            self.has_progress = True
        self.study.requests += requests
        self.study.seconds += now - self.counted_at
        self.counted_at = now
        self._keep(new)

    def _should_stop(self) -> bool:
        now = time.monotonic()
        if now > self.deadline and self.has_progress:
            self.stop.set()
        if now - self.heartbeat_at > HEARTBEAT_SECONDS:
            self._send_heartbeat()
        if now - self.checked_at > CHECK_SECONDS:
            self.checked_at = now
            if Study.objects.filter(pk=self.study.pk, stop_requested=True).exists():
                self.is_stopped = True
                self.stop.set()
                self._abort()
        return self.stop.is_set()

    def _send_heartbeat(self, **changes: Any) -> None:
        self.heartbeat_at = time.monotonic()
        if not self.claimed.update(heartbeat_at=timezone.now(), **changes):
            self._abort()
            raise LeaseLost

    def _abort(self) -> None:
        """Ends the requests in progress: the engine may hang, and their results are not needed."""
        if self.engine is not None:
            self.engine.abort()


def read_case_queries(study: Study, query_ids: Sequence[int]) -> list[CaseQuery | None]:
    """Returns queries of a study; None for one that has been removed from the case since."""
    present = study.case.case_queries.present().filter(query__in=query_ids).select_related("query")
    by_query = {case_query.query_id: case_query for case_query in present}
    return [by_query.get(query_id) for query_id in query_ids]


def digest_of(engine: engines.Engine, request: engines.Request) -> bytes:
    """Returns what tells the requests of a study apart."""
    rendered = json.dumps(engine.render(request), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(rendered.encode()).digest()[:DIGEST_LENGTH]
