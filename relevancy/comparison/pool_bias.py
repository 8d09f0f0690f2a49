"""Which ratings favour which run: what a run would score without the ratings of documents that only it returned.

See docs/decisions/0081.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from relevancy.models import Ranking, Run, read_doc_ids

from .run_scorer import Grades, Lists, RunScorer
from .score_tables import Floats

MAX_POOL_RUNS = 20  # kept runs whose results are read besides those that are compared


@dataclass(frozen=True)
class PoolBias:
    """What the ratings that were made for one run do for its score.

    documents: rated documents among the first k of the run that no kept run of another attempt has among its first k.
    queries: compared queries that have a score without these ratings as well. The means are those of these queries.
    score, score_without: weighted means in points, with and without the ratings; None without queries, and for scripts.
    """

    documents: int
    queries: int
    score: float | None
    score_without: float | None

    @classmethod
    def build(cls, own_rated: Floats, scores_with: Floats, scores_without: Floats, weights: Floats) -> PoolBias:
        """Returns the bias of a run.

        own_rated: [n] how many documents are rated and only in this run. scores_with: [n]. scores_without: [n] NaN where there is no
        score without the ratings. weights: [n] above 0.
        """
        documents = int(np.nansum(own_rated))
        is_scored = np.isfinite(scores_without)
        if not is_scored.any():
            return cls(documents, 0, None, None)
        score = float(np.average(scores_with[is_scored], weights=weights[is_scored]))
        score_without = float(np.average(scores_without[is_scored], weights=weights[is_scored]))
        return cls(documents, int(is_scored.sum()), score, score_without)

    @cached_property
    def gain(self) -> float:
        """How many points the ratings of its own documents add to the score; 0 if that is not known."""
        return 0.0 if self.score is None or self.score_without is None else self.score - self.score_without


class PoolCalculator:
    """Finds the rated documents that only one of the compared runs returned, and scores the run without them."""

    def __init__(self, runs: Sequence[Run], scorer: RunScorer) -> None:
        """One SQL statement."""
        self._runs = runs
        self._scorer = scorer
        kept = Run.objects.finished().filter(case__in={run.case_id for run in runs})
        others = kept.exclude(pk__in=[run.pk for run in runs]).order_by("-created_at", "-pk")
        # `{run id: attempt id}` of the newest other kept runs of the cases.
        self._attempts = dict(others.values_list("pk", "attempt_id")[:MAX_POOL_RUNS])

    def score(self, query_ids: Sequence[int], lists: Lists, known_grades: Grades) -> tuple[Floats, Floats]:
        """Returns [n × runs] how many rated documents only the run has, and its score without their ratings.

        Both are NaN without a list. The score is NaN as well where the run has no such document, and for scripts. Two SQL statements.
        """
        own = self._find_own(query_ids, lists, known_grades)
        counts, without = (np.full((len(known_grades), len(lists)), np.nan) for _ in range(2))
        for run, lists_of_run in enumerate(lists):
            for row, doc_ids in enumerate(lists_of_run):
                if doc_ids is not None:
                    counts[row, run] = len(own[run][row])
            rows = [row for row, doc_ids in enumerate(lists_of_run) if doc_ids is not None and own[run][row]]
            if rows and self._scorer.measure is not None:
                grades = [
                    {doc_id: grade for doc_id, grade in known_grades[row].items() if doc_id not in own[run][row]}
                    for row in rows
                ]
                without[rows, run] = self._scorer.score(run, [lists_of_run[row] or [] for row in rows], grades).score
        return counts, without

    def _find_own(self, query_ids: Sequence[int], lists: Lists, known_grades: Grades) -> list[list[set[str]]]:
        """Returns [runs][n] the rated documents among the first k that no run of another attempt has among its first k."""
        first = [
            [set((doc_ids or [])[:k]) for doc_ids in lists_of_run]
            for lists_of_run, k in zip(lists, self._scorer.considered, strict=True)
        ]
        own = [
            [documents & known_grades[row].keys() for row, documents in enumerate(first_of_run)]
            for first_of_run in first
        ]
        for run, compared in enumerate(self._runs):
            for other, other_run in enumerate(self._runs):
                if other_run.attempt_id != compared.attempt_id:
                    for row, documents in enumerate(first[other]):
                        own[run][row] -= documents
        rows = {query_id: row for row, query_id in enumerate(query_ids) if any(results[row] for results in own)}
        if rows and self._attempts:
            stored = Ranking.objects.filter(run__in=self._attempts, query__in=rows, error_kind="")
            for ranking in read_doc_ids(list(stored.only("query_id", "run_id", "returned", "documents"))):
                for run, compared in enumerate(self._runs):
                    if self._attempts[ranking.run_id] != compared.attempt_id:
                        first_ids = ranking.doc_ids[: self._scorer.considered[run]]
                        own[run][rows[ranking.query_id]].difference_update(first_ids)
        return own
