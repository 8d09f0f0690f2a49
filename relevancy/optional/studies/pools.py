"""The documents that settings are estimated with, and what comes of that; see `estimates`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from relevancy import engines, runs, scores
from relevancy.models import CaseQuery
from relevancy.models.ranking import pack_doc_ids
from relevancy.scoring.arrays import BoolArray

from .choice import UNSEEN
from .estimates import MAX_DOCUMENTS, Estimator, Pool, build_pool, list_probes, propose, read_pool, refusal
from .models import Study, StudyAnswer, StudyPool, StudyTrial
from .samplers import Proposal
from .trial_scores import SCORE, TrialScorer, evidence_of

UNREACHED = (engines.EndpointUnreachable, engines.EndpointRefused)
ROWS_AT_ONCE = 10_000


def read_documents(study: Study, trials: Sequence[StudyTrial]) -> dict[int, list[str]]:
    """Returns the ids of the documents that trials have returned, by the position of the query: those of the parent first."""
    answered = _read_doc_ids(study)
    documents: dict[int, dict[str, None]] = {}
    for trial in trials:
        for position, pk in enumerate(trial.answer_ids.tolist()):
            documents.setdefault(position, {}).update(dict.fromkeys(answered.get(pk, ())))
    return {position: list(of_query)[:MAX_DOCUMENTS] for position, of_query in documents.items() if of_query}


class Explainer:
    """Asks the engine for the pools of a study. requests_of_pool: that it sends for each of them."""

    def __init__(self, study: Study, engine: engines.Engine, case_queries: Sequence[CaseQuery | None]) -> None:
        self._study, self._engine, self._case_queries = study, engine, case_queries
        probes = list_probes(study.knobs, study.parent_settings, study.seed)
        self._values = np.array([[probe[knob.name] for knob in study.knobs.knobs] for probe in probes])
        self._builders = [runs.RequestBuilder(study.config_with(probe), study.rows) for probe in probes]
        self.requests_of_pool = len(probes)

    def read(self, documents: Mapping[int, Sequence[str]], *, stop: Callable[[], bool]) -> Iterator[StudyPool]:
        """Yields the pools that are not stored yet, unsaved, and again those of queries for which later trials have returned further
        documents: one request explains them all. Raises `EngineError` at the end if the engine could not be reached."""
        rows = StudyPool.objects.filter(study=self._study).values_list("position", "pk", "documents")
        stored = {position: (pk, count) for position, pk, count in rows}
        nothing = (None, 0)
        missing = [position for position in documents if stored.get(position, nothing)[1] < len(documents[position])]

        def ask(position: int) -> StudyPool | engines.EngineError | None:
            case_query = self._case_queries[position]
            if case_query is None:
                return None
            requests = [builder.requests([case_query])[0] for builder in self._builders]
            try:
                pool = read_pool(self._engine, requests, self._values, documents[position])
            except (*UNREACHED, engines.RequestAborted) as error:
                return error
            except engines.EngineError:
                pool = build_pool(self._values, {})  # the engine does not explain this query
            return StudyPool(
                pk=stored.get(position, nothing)[0],
                study=self._study,
                position=position,
                documents=len(documents[position]),
                packed=pack_doc_ids(pool.doc_ids),
                parts=pool.to_bytes(),
            )

        unreached: engines.EngineError | None = None
        outcomes: Iterator[StudyPool | engines.EngineError] = engines.in_parallel(
            missing, ask, parallel=self._study.slots, stop=stop
        )
        for outcome in outcomes:
            if isinstance(outcome, StudyPool):
                yield outcome
            elif unreached is None and not isinstance(outcome, engines.RequestAborted):
                unreached = outcome
        if unreached is not None:
            raise unreached


def estimate(
    study: Study,
    trials: Sequence[StudyTrial],
    scorer: TrialScorer,
    is_used: BoolArray,
    tags: Mapping[str, Sequence[int]],
    proposals: Sequence[Proposal],
    beat: Callable[[], object],
) -> dict[str, Any]:
    """Estimates settings with the stored pools, if that repeats what the engine has returned.

    is_used: [queries] those that count. tags: as for `build_evidence`. proposals: that settings are wanted for. beat: is called now and
    then. Returns, as JSON:

    proposals: `{settings, gain}`, or null where no settings are left. best: the same of the best settings over all queries, which are
        part of no result. settings: how many were estimated.
    sums: the part of the documents whose scores are made of sums. repeated: the part of the `rankings` that re-ranking repeats.
    refusal: why nothing was estimated; empty if something was.
    """
    pools: list[Pool | None] = [None] * len(is_used)
    explained = sums = 0
    for row in StudyPool.objects.filter(study=study):
        pool = Pool.from_bytes(row.doc_ids, bytes(row.parts))
        explained, sums = explained + row.documents, sums + len(pool.doc_ids)
        if pool.doc_ids and is_used[row.position]:
            pools[row.position] = pool
    depth = min(study.rows, scores.considered_depth(study.version, int(study.config["depth"])))
    estimator = Estimator(study.knobs, scorer, pools, depth)
    answered = _read_doc_ids(study)
    repeated = rankings = 0
    for trial in trials:
        of_trial = {
            position: doc_ids
            for position, pk in enumerate(trial.answer_ids.tolist())
            if is_used[position] and (doc_ids := answered.get(pk))
        }
        rankings += len(of_trial)
        repeated += estimator.count_repeated(trial.settings, of_trial)
        beat()
    estimated: dict[str, Any] = {
        "proposals": [None] * len(proposals),
        "best": [],
        "settings": 0,
        "sums": sums / max(1, explained),
        "repeated": repeated / max(1, rankings),
        "rankings": rankings,
    }
    estimated["refusal"] = refusal(estimated["sums"], estimated["repeated"])
    if not estimated["refusal"]:
        of_parent = trials[0].values[SCORE]
        estimated["proposals"], estimated["best"], estimated["settings"] = propose(
            estimator,
            lambda points: evidence_of(study, np.where(np.isfinite(points), points, of_parent), is_used, tags),
            trials[0].settings,
            [trial.settings for trial in trials if trial.fold_left_out == UNSEEN],
            proposals,
            study.seed,
            beat,
        )
    return estimated


def _read_doc_ids(study: Study) -> dict[int, list[str]]:
    """Returns the ids of the documents of each answer, by its id."""
    answers = StudyAnswer.objects.filter(study=study).only("pk", "packed")
    return {answer.pk: answer.doc_ids for answer in answers.iterator(chunk_size=ROWS_AT_ONCE)}
