"""How many queries, and how many ratings, a difference needs before it can be seen."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from relevancy import scores
from relevancy.comparison import TIE, ScoreTable, read_lists, read_score_table, unique
from relevancy.models import Run, ScorerVersion
from relevancy.statistics import Differences, detectable_difference, required_queries

DEFAULT_DIFFERENCES = (1.0, 2.0, 3.0, 5.0, 10.0)  # points
MAX_SAMPLED = 500  # queries whose result lists are read; of more, so many at equal distances
MIN_QUERIES = 2
MAX_COMPARISONS = 5
MIN_CHANGED = 5  # queries: fewer differences do not say how far those of the next change will spread


@dataclass(frozen=True)
class DifferencePlan:
    """What a true difference needs to be found four times in five.

    difference: points.
    queries: that are needed; None if they are more than 10 million.
    ratings: about how many documents have to be rated until these queries have none among the results that the scorer considers in
        both runs; None without a baseline, or without result lists.
    """

    difference: float
    queries: int | None
    ratings: int | None


@dataclass(frozen=True)
class PastComparison:
    """A run and the complete run before it, whose scores differ for at least five queries.

    changed: how many queries differ; linked ones count once. deviation: of all differences, in points.
    """

    run: Run
    baseline: Run
    changed: int
    deviation: float


@dataclass(frozen=True)
class QueryPlan:
    """What the queries of a case can show.

    queries: how many there are; linked ones count once.
    deviation: of the differences in `chosen`, in points; of the scores if that is None.
    comparisons: those that can be chosen, of the last five, newest first.
    detectable: the smallest true difference that so many queries find four times in five, in points.
    documents: per query, among the results that the scorer considers in the run or the one before. unrated: of them, in all queries
        together. None without a run before.
    sampled: how many queries these two were estimated from.
    """

    queries: int
    deviation: float
    chosen: PastComparison | None
    comparisons: Sequence[PastComparison]
    detectable: float | None
    documents: float | None
    unrated: int | None
    sampled: int
    rows: Sequence[DifferencePlan]


def find_planned_runs(run: Run, version: ScorerVersion) -> list[Run]:
    """Returns the runs that a plan compares, newest first: the run, and up to five complete ones before it that can be scored."""
    before = Run.objects.complete_before(run).select_related("attempt")[:MAX_COMPARISONS]
    return [run, *(earlier for earlier in before if scores.scoreable_versions(earlier, [version]))]


def plan_queries(
    runs: Sequence[Run],
    version: ScorerVersion,
    differences: Sequence[float] = DEFAULT_DIFFERENCES,
    compared: int | None = None,
) -> QueryPlan | None:
    """Returns what differences of so many points need; None with fewer than two scored queries, while scores are being computed, and if
    the scores do not vary.

    runs: of `find_planned_runs`. compared: number of the run whose differences to the run before are taken for the next change; those
    with the largest deviation unless it can be chosen. Without any, the deviation is that of the scores, which is right for runs whose
    scores correlate by one half.
    """
    present = read_score_table(runs, version)
    baseline = runs[1] if len(runs) > 1 else None
    table = _select_runs(present, [0, 1] if baseline else [0])
    if present.stale or len(table) < MIN_QUERIES:
        return None
    comparisons = list(_list_comparisons(runs, present))
    largest = max(comparisons, key=lambda comparison: comparison.deviation, default=None)
    chosen = next((comparison for comparison in comparisons if comparison.run.number == compared), largest)
    spread = Differences.build(table.scores[:, 0], table.weights).merged(table.units)
    deviation = chosen.deviation if chosen else spread.deviation
    if not deviation:
        return None
    queries = len(spread)
    documents, unrated, sampled = _count_documents(runs[0], baseline, version, table) if baseline else (None, None, 0)
    rows = []
    for difference in sorted(set(differences)):
        needed = required_queries(deviation, difference)
        ratings = None
        if needed is not None and documents is not None and unrated is not None:
            ratings = unrated + round(max(0, needed - queries) * documents)
        rows.append(DifferencePlan(difference, needed, ratings))
    return QueryPlan(
        queries=queries,
        deviation=deviation,
        chosen=chosen,
        comparisons=comparisons,
        detectable=detectable_difference(deviation, queries),
        documents=documents,
        unrated=unrated,
        sampled=sampled,
        rows=rows,
    )


def _select_runs(table: ScoreTable, positions: Sequence[int]) -> ScoreTable:
    """Returns the table of some of the runs, with the queries that were scored in these."""
    return ScoreTable.build(replace(table.present, scores=table.present.scores[:, positions]))


def _list_comparisons(runs: Sequence[Run], table: ScoreTable) -> Iterator[PastComparison]:
    for position, (run, baseline) in enumerate(pairwise(runs)):
        pair = _select_runs(table, [position, position + 1])
        differences = Differences.build(pair.scores[:, 0] - pair.scores[:, 1], pair.weights).merged(pair.units)
        changed = int(np.count_nonzero(np.abs(differences.values) >= TIE))
        if changed >= MIN_CHANGED and differences.deviation:
            yield PastComparison(run, baseline, changed, differences.deviation)


def _count_documents(
    run: Run, baseline: Run, version: ScorerVersion, table: ScoreTable
) -> tuple[float | None, int | None, int]:
    """Returns documents per query and unrated ones in all queries, from a sample of the queries, and its size."""
    step = max(1, -(-len(table) // MAX_SAMPLED))
    query_ids = table.query_ids[::step]
    known_grades = scores.known_grades(run.case.book, query_ids)
    documents: dict[int, list[str]] = {query_id: [] for query_id in query_ids}
    for compared in (baseline, run):
        considered = scores.considered_depth(version, int(compared.config["depth"]))
        for query_id, result in read_lists(compared, query_ids).items():
            documents[query_id] += result.doc_ids[:considered]
    distinct = {query_id: unique(doc_ids) for query_id, doc_ids in documents.items()}
    total = sum(map(len, distinct.values()))
    if not total:
        return None, None, 0
    unrated = sum(doc_id not in known_grades[query_id] for query_id, doc_ids in distinct.items() for doc_id in doc_ids)
    count = len(query_ids)
    return total / count, round(unrated / count * len(table)), count
