"""What to rate next, so that the difference of two runs is known best: the unrated documents that can change it most."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from relevancy import scores
from relevancy.models import Run, ScorerVersion

from .bounds import score_ranges
from .result_lists import ResultList, read_lists, unique
from .run_scorer import RunScorer
from .score_tables import Floats

type ReadLists = Callable[[Sequence[int]], Sequence[Mapping[int, ResultList]]]
"""Returns `{query id: result list}` of the baseline and of what is compared with it."""

MAX_LISTED = 10
BATCH = 50  # queries whose documents are tried together
NOISE = 1e-9  # points: what is left of a change of 0 in binary fractions
MAX_TRIED = 500  # queries: those whose difference is least known


@dataclass(frozen=True)
class DocumentToRate:
    """An unrated document of a query.

    rank_a, rank_b: in the baseline and in the other run; None if the run does not have it.
    change: by how many points the difference of the case can change at most, whatever grade the document gets.
    """

    query_id: int
    doc_id: str
    rank_a: int | None
    rank_b: int | None
    change: float


@dataclass(frozen=True)
class RatingPlan:
    """The documents to rate next, those first that can change the difference most.

    width: of the bounds of the difference now, in points. width_after: once the documents are rated: the widest that results if all of
    them get the lowest grade or all the top grade.
    """

    documents: list[DocumentToRate]
    width: float
    width_after: float


class RatingPlanner:
    """Tries grades for single documents of a pair of rankings, beginning with the queries whose difference is least known.

    The change that a document can make lies within the bounds of its query, so the rest is not tried once the documents that have
    been found can change more than the bounds of the next query allow.
    """

    def __init__(self, read: ReadLists, scorer: RunScorer, weights: Mapping[int, float]) -> None:
        """read: the rankings of the baseline and of what is compared with it. weights: of the compared queries, by id."""
        self._read = read
        self._scorer = scorer
        self.weights = weights
        self._total = sum(weights.values())

    def plan(self, widths: Mapping[int, float]) -> RatingPlan:
        """Returns the documents to rate. widths: of the bounds of the difference of each compared query, in points."""
        order = sorted(
            (query_id for query_id in widths if widths[query_id] > 0),
            key=lambda query_id: -widths[query_id] * self.weights[query_id],
        )[:MAX_TRIED]
        documents: list[DocumentToRate] = []
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            largest = widths[batch[0]] * self.weights[batch[0]] / self._total
            if len(documents) == MAX_LISTED and documents[-1].change >= largest:
                break
            documents = sorted([*documents, *self.try_documents(batch)], key=lambda document: -document.change)[
                :MAX_LISTED
            ]
        width = sum(width * self.weights[query_id] for query_id, width in widths.items()) / self._total
        return RatingPlan(documents, width, width - self._narrowing(documents, widths))

    def try_documents(self, query_ids: Sequence[int]) -> list[DocumentToRate]:
        """Returns the unrated documents of these queries that can change the difference, in no order. Four SQL statements."""
        lists = self._read(query_ids)
        grades = scores.known_grades(self._scorer.book, query_ids)
        documents: list[tuple[int, str, int | None, int | None]] = []
        for query_id in query_ids:
            ranks = [
                {doc_id: rank for rank, doc_id in reversed(list(enumerate(results[query_id].doc_ids, 1)))}
                if query_id in results
                else {}
                for results in lists
            ]
            first = [
                unique(results[query_id].doc_ids[:k]) if query_id in results else []
                for results, k in zip(lists, self._scorer.considered, strict=True)
            ]
            documents += [
                (query_id, doc_id, ranks[0].get(doc_id), ranks[1].get(doc_id))
                for doc_id in dict.fromkeys([*first[1], *first[0]])
                if doc_id not in grades[query_id]
            ]
        if not documents:
            return []
        now = self._differences([(query_id, {}) for query_id in query_ids], lists, grades)
        before = np.array([now[query_ids.index(query_id)] for query_id, *_ in documents])
        changes = np.zeros(len(documents))
        for grade in (self._scorer.scale.lowest, self._scorer.scale.top):
            tried = self._differences(
                [(query_id, {doc_id: grade}) for query_id, doc_id, *_ in documents], lists, grades
            )
            changes = np.fmax(changes, np.abs(tried - before))
        return [
            DocumentToRate(query_id, doc_id, rank_a, rank_b, float(change) * self.weights[query_id] / self._total)
            for (query_id, doc_id, rank_a, rank_b), change in zip(documents, changes, strict=True)
            if change > NOISE
        ]

    def _differences(
        self,
        assumed_grades: Sequence[tuple[int, Mapping[str, float]]],
        lists: Sequence[Mapping[int, ResultList]],
        grades: Mapping[int, Mapping[str, float]],
    ) -> Floats:
        """Returns [n] the differences of queries in points, each with further grades. NaN where a run has no score."""
        known_grades = [{**grades[query_id], **further} for query_id, further in assumed_grades]
        before, after = (
            self._scorer.score(
                run,
                [results[query_id].doc_ids if query_id in results else [] for query_id, _ in assumed_grades],
                known_grades,
            ).score
            for run, results in enumerate(lists)
        )
        return after - before

    def _narrowing(self, documents: Sequence[DocumentToRate], widths: Mapping[int, float]) -> float:
        """Returns by how many points the bounds get narrower once the documents are rated."""
        query_ids = list(dict.fromkeys(document.query_id for document in documents))
        if not query_ids:
            return 0.0
        read = self._read(query_ids)
        lists = [
            [results[query_id].doc_ids if query_id in results else None for query_id in query_ids] for results in read
        ]
        grades = scores.known_grades(self._scorer.book, query_ids)
        after = np.zeros(len(query_ids))
        for grade in (self._scorer.scale.lowest, self._scorer.scale.top):
            known_grades = [
                {
                    **grades[query_id],
                    **{document.doc_id: grade for document in documents if document.query_id == query_id},
                }
                for query_id in query_ids
            ]
            low, high = score_ranges(self._scorer, lists, known_grades)
            after = np.fmax(after, (high[:, 1] - low[:, 0]) - (low[:, 1] - high[:, 0]))
        return sum(
            max(0.0, widths[query_id] - width) * self.weights[query_id] / self._total
            for query_id, width in zip(query_ids, after.tolist(), strict=True)
        )


def build_planner(runs: Sequence[Run], version: ScorerVersion) -> RatingPlanner | None:
    """Returns a planner for the queries that the cases of the baseline and of another run both have, with the weights of the former.

    None if the scorer gives no bounds. Two SQL statements.
    """
    scorer = RunScorer.build(runs, version)
    if not scorer.has_exact_range:
        return None
    first, second = (
        dict(run.case.case_queries.present().order_by("query_id").values_list("query_id", "weight")) for run in runs
    )
    weights = {query_id: weight for query_id, weight in first.items() if query_id in second and weight > 0}
    return RatingPlanner(partial(_read_runs, runs), scorer, weights)


def plan_ratings(
    runs: Sequence[Run], version: ScorerVersion, widths: Mapping[int, float], weights: Mapping[int, float]
) -> RatingPlan | None:
    """Returns what to rate next for the baseline and another run; None if the scorer gives no bounds, or nothing is unrated.

    widths: of the bounds of the difference of each compared query, by id, in points; 0 if both runs returned the same.
    weights: of these queries.
    """
    scorer = RunScorer.build(runs, version)
    if not scorer.has_exact_range or not any(width > 0 for width in widths.values()):
        return None
    return RatingPlanner(partial(_read_runs, runs), scorer, weights).plan(widths)


def _read_runs(runs: Sequence[Run], query_ids: Sequence[int]) -> list[Mapping[int, ResultList]]:
    return [read_lists(run, query_ids) for run in runs]
