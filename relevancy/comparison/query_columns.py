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

from .bounds import score_ranges
from .pool_bias import PoolCalculator
from .result_lists import BATCH, ListChange, ListOverlap, compare_lists, read_lists, unique
from .run_scorer import RunScorer
from .score_tables import Floats


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
    low, high: [n × runs] range of the score over all grades that the unrated documents of all runs could get; see `score_ranges`.
    own_rated, score_without_own: [n × runs] rated documents that only this run has, and the score without them; see `PoolCalculator`.
    coverage: of each run.
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

    def are_same(self, first: int, second: int) -> NDArray[np.bool_]:
        """[n] whether two runs, given by their positions, cannot differ in the score of a query."""
        return np.asarray(self.same_as[:, first] == self.same_as[:, second], dtype=np.bool_)


COLUMNS_OF_RUNS = ("unrated", "took_ms", "low", "high", "own_rated", "score_without_own")
COLUMNS_OF_PAIRS = ("jaccard", "rbo", "changes")


def read_query_columns(
    runs: Sequence[Run], version: ScorerVersion, query_ids: Sequence[int]
) -> tuple[QueryColumns, list[ListOverlap]]:
    """Reads the result lists of runs of one book for the given queries. A few SQL statements for 500 queries.

    Returns the columns, and the overlaps of all pairs of runs, those with the baseline first.
    """
    scorer = RunScorer.build(runs, version)
    pool = PoolCalculator(runs, scorer)
    per_run = {name: np.full((len(query_ids), len(runs)), np.nan) for name in COLUMNS_OF_RUNS}
    per_pair = {name: np.full((len(query_ids), len(runs) - 1), np.nan) for name in COLUMNS_OF_PAIRS}
    same_as = np.tile(np.arange(len(runs)), (len(query_ids), 1))
    rated, documents = [0] * len(runs), [0] * len(runs)
    depths = {(a, b): min(scorer.depths[a], scorer.depths[b]) for a, b in combinations(range(len(runs)), 2)}
    list_changes: dict[tuple[int, int], list[ListChange]] = {pair: [] for pair in depths}
    for start in range(0, len(query_ids), BATCH):
        batch = query_ids[start : start + BATCH]
        lists = [read_lists(run, batch) for run in runs]
        grades = scores.known_grades(runs[0].case.book, batch)
        for row, query_id in enumerate(batch, start):
            returned = {
                run: lists_of_run[query_id] for run, lists_of_run in enumerate(lists) if query_id in lists_of_run
            }
            for run, result_list in returned.items():
                considered = unique(result_list.doc_ids[: scorer.considered[run]])
                unrated = sum(doc_id not in grades[query_id] for doc_id in considered)
                rated[run] += len(considered) - unrated
                documents[run] += len(considered)
                per_run["unrated"][row, run] = unrated
                per_run["took_ms"][row, run] = np.nan if result_list.took_ms is None else result_list.took_ms
            for first, second in combinations(returned, 2):
                before, after = returned[first].doc_ids, returned[second].doc_ids
                change = compare_lists(before, after, depths[first, second])
                list_changes[first, second].append(change)
                if before == after and scorer.depths[first] == scorer.depths[second]:
                    same_as[row, second] = min(same_as[row, first], same_as[row, second])
                if not first:
                    per_pair["jaccard"][row, second - 1] = change.jaccard
                    per_pair["rbo"][row, second - 1] = change.rbo
                    per_pair["changes"][row, second - 1] = change.kind
        doc_ids = [
            [lists_of_run[query_id].doc_ids if query_id in lists_of_run else None for query_id in batch]
            for lists_of_run in lists
        ]
        known_grades = [grades[query_id] for query_id in batch]
        rows = slice(start, start + len(batch))
        per_run["low"][rows], per_run["high"][rows] = score_ranges(scorer, doc_ids, known_grades)
        per_run["own_rated"][rows], per_run["score_without_own"][rows] = pool.score(batch, doc_ids, known_grades)
    coverage = [Coverage(*counts) for counts in zip(scorer.considered, rated, documents, strict=True)]
    overlaps = [ListOverlap.summarize(depths[pair], changes) for pair, changes in list_changes.items()]
    return QueryColumns(**per_pair, **per_run, same_as=same_as, coverage=coverage), overlaps
