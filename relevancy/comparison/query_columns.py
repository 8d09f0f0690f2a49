"""What is known of the result lists of several runs, query by query: overlap with the baseline, ratings, search times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from relevancy import scores
from relevancy.models import Run, ScorerVersion

from .bounds import RangeCalculator
from .pool_bias import PoolCalculator
from .result_lists import BATCH, ListChange, ListOverlap, ResultList, compare_lists, compared_depth, read_lists, unique

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Coverage:
    """How many documents of the first k are rated, over all queries of a run. k: what the scorer considers."""

    k: int
    rated: int
    documents: int

    @cached_property
    def share(self) -> float | None:
        """0 to 1; None without documents."""
        return self.rated / self.documents if self.documents else None


@dataclass(frozen=True)
class QueryColumns:
    """Columns with one row for each present query; missing values are NaN.

    jaccard, rbo: [n × runs − 1] overlap of each other run with the baseline.
    changes: [n × runs − 1] 0: the first k are the same, 1: in another order, 2: other documents.
    same_as: [n × runs] the number of the first run that returned exactly the same documents in the same order, beyond k as well, and
        displays as many of them: whatever grades these get, both have one score. The run itself where there is none.
    unrated: [n × runs] unrated documents among those that the scorer considers.
    took_ms: [n × runs] of the search.
    low, high: [n × runs] range of the score over all grades that the unrated documents of all runs could get; see `RangeCalculator`.
    own_rated, score_without_own: [n × runs] rated documents that only this run has, and the score without them; see `PoolCalculator`.
    coverage: of each run.
    overlaps: of all pairs of runs, those with the baseline first.
    """

    jaccard: Floats
    rbo: Floats
    changes: Floats
    same_as: NDArray[np.int64]
    unrated: Floats
    took_ms: Floats
    low: Floats
    high: Floats
    own_rated: Floats
    score_without_own: Floats
    coverage: list[Coverage]
    overlaps: list[ListOverlap]

    def are_same(self, first: int, second: int) -> NDArray[np.bool_]:
        """[n] whether two runs, given by their positions, cannot differ in the score of a query."""
        return np.asarray(self.same_as[:, first] == self.same_as[:, second], dtype=np.bool_)


COLUMNS_OF_RUNS = ("unrated", "took_ms", "low", "high", "own_rated", "score_without_own")


class _Collector:
    """Fills the columns, a batch of queries at a time."""

    def __init__(self, runs: Sequence[Run], version: ScorerVersion, count: int) -> None:
        self.runs = runs
        self.depths = [int(run.config["depth"]) for run in runs]
        self.considered = [scores.considered_depth(version, depth) for depth in self.depths]
        self.pairs = list(combinations(range(len(runs)), 2))  # those with the baseline first
        self.compared = [compared_depth(runs[first], runs[second]) for first, second in self.pairs]
        self.calculator = RangeCalculator(version, runs[0].case.book, self.depths, self.considered)
        self.pool = PoolCalculator(runs, version, self.depths, self.considered)
        self.per_run = {name: np.full((count, len(runs)), np.nan) for name in COLUMNS_OF_RUNS}
        self.per_pair = {name: np.full((count, len(runs) - 1), np.nan) for name in ("jaccard", "rbo", "changes")}
        self.same_as = np.tile(np.arange(len(runs)), (count, 1))
        self.rated, self.documents = [0] * len(runs), [0] * len(runs)
        self.list_changes: list[list[ListChange]] = [[] for _ in self.pairs]

    def add_run(self, row: int, column: int, result_list: ResultList, grades: dict[str, float]) -> None:
        """Counts the ratings of the documents that the scorer considers."""
        documents = unique(result_list.doc_ids[: self.considered[column]])
        rated = sum(doc_id in grades for doc_id in documents)
        self.rated[column] += rated
        self.documents[column] += len(documents)
        self.per_run["unrated"][row, column] = len(documents) - rated
        self.per_run["took_ms"][row, column] = np.nan if result_list.took_ms is None else result_list.took_ms

    def add_pairs(self, row: int, result_lists: Sequence[ResultList | None]) -> None:
        """Compares the results of a query in all pairs of runs. found: of each run; None where it has none."""
        for pair, (first, second) in enumerate(self.pairs):
            before, after = result_lists[first], result_lists[second]
            if before is None or after is None:
                continue
            change = compare_lists(before.doc_ids, after.doc_ids, self.compared[pair])
            self.list_changes[pair].append(change)
            if before.doc_ids == after.doc_ids and self.depths[first] == self.depths[second]:
                self.same_as[row, second] = min(self.same_as[row, first], self.same_as[row, second])
            if not first:
                self.per_pair["jaccard"][row, pair] = change.jaccard
                self.per_pair["rbo"][row, pair] = change.rbo
                self.per_pair["changes"][row, pair] = 0 if change.is_same_order else 1 if change.is_same_set else 2

    def add_ranges(
        self, start: int, lists: Sequence[Sequence[Sequence[str] | None]], known_grades: Sequence[dict[str, float]]
    ) -> None:
        """Computes the ranges of the scores of a batch that begins at the row `start`."""
        low, high = self.calculator.ranges(lists, known_grades)
        self.per_run["low"][start : start + len(known_grades)] = low
        self.per_run["high"][start : start + len(known_grades)] = high

    def add_pool(
        self,
        start: int,
        query_ids: Sequence[int],
        lists: Sequence[Sequence[Sequence[str] | None]],
        known_grades: Sequence[dict[str, float]],
    ) -> None:
        """Scores a batch that begins at the row `start` without the ratings that were made for one run alone."""
        own_rated, without = self.pool.score(query_ids, lists, known_grades)
        self.per_run["own_rated"][start : start + len(known_grades)] = own_rated
        self.per_run["score_without_own"][start : start + len(known_grades)] = without

    def columns(self) -> QueryColumns:
        return QueryColumns(
            **self.per_pair,
            **self.per_run,
            same_as=self.same_as,
            coverage=[Coverage(*counts) for counts in zip(self.considered, self.rated, self.documents, strict=True)],
            overlaps=[
                ListOverlap.summarize(k, changes) for k, changes in zip(self.compared, self.list_changes, strict=True)
            ],
        )


def read_query_columns(runs: Sequence[Run], version: ScorerVersion, query_ids: Sequence[int]) -> QueryColumns:
    """Reads the result lists of runs of one book for the given queries. A few SQL statements for 500 queries."""
    collector = _Collector(runs, version, len(query_ids))
    book = runs[0].case.book
    for start in range(0, len(query_ids), BATCH):
        batch = query_ids[start : start + BATCH]
        lists = [read_lists(run, batch) for run in runs]
        grades = scores.known_grades(book, batch)
        for row, query_id in enumerate(batch, start):
            for column, lists_of_run in enumerate(lists):
                if query_id in lists_of_run:
                    collector.add_run(row, column, lists_of_run[query_id], grades[query_id])
            collector.add_pairs(row, [lists_of_run.get(query_id) for lists_of_run in lists])
        doc_ids = [
            [results[query_id].doc_ids if query_id in results else None for query_id in batch] for results in lists
        ]
        known_grades = [grades[query_id] for query_id in batch]
        collector.add_ranges(start, doc_ids, known_grades)
        collector.add_pool(start, batch, doc_ids, known_grades)
    return collector.columns()
