"""How many queries, and how many ratings, a difference needs before it can be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from relevancy import scores
from relevancy.comparison import ScoreTable, read_lists, read_score_table, unique
from relevancy.models import Run, ScorerDefinition, ScorerVersion
from relevancy.statistics import Differences, StatisticsError, detectable_difference, required_queries

DEFAULT_DIFFERENCES = (1.0, 2.0, 3.0, 5.0, 10.0)  # points
MAX_SAMPLED = 500  # queries whose result lists are read; of more, so many at equal distances
MIN_QUERIES = 2


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
class QueryPlan:
    """What the queries of a case can show.

    queries: how many there are; linked ones count once.
    deviation: of their differences to the baseline, in points; without a baseline, or if nothing changed, of their scores.
    baseline: None if the deviation is that of the scores.
    detectable: the smallest true difference that so many queries find four times in five, in points.
    documents: per query, among the results that the scorer considers in either run. unrated: of them, in all queries together.
        None without a baseline.
    sampled: how many queries these two were estimated from.
    """

    queries: int
    deviation: float
    baseline: Run | None
    detectable: float | None
    documents: float | None
    unrated: int | None
    sampled: int
    rows: Sequence[DifferencePlan]


def plan_queries(
    run: Run, baseline: Run | None, version: ScorerVersion, differences: Sequence[float] = DEFAULT_DIFFERENCES
) -> QueryPlan | None:
    """Returns what differences of so many points need; None with fewer than two scored queries, while scores are being computed, and if
    the scores do not vary.

    The deviation is that of the differences between run and baseline: the next change is taken to spread like the last one. Without
    one it is that of the scores, which is right for runs whose scores correlate by one half.
    """
    table = read_score_table([baseline, run] if baseline else [run], version)
    if table.stale or len(table) < MIN_QUERIES:
        return None
    spread, compared = _measure_spread(table, baseline)
    if not spread.deviation:
        return None
    queries, deviation = len(spread), spread.deviation
    documents, unrated, sampled = _count_documents(run, baseline, version, table) if baseline else (None, None, 0)
    rows = []
    for difference in sorted(set(differences)):
        needed = _required(deviation, difference)
        ratings = None
        if needed is not None and documents is not None and unrated is not None:
            ratings = unrated + round(max(0, needed - queries) * documents)
        rows.append(DifferencePlan(difference, needed, ratings))
    return QueryPlan(
        queries=queries,
        deviation=deviation,
        baseline=compared,
        detectable=detectable_difference(deviation, queries),
        documents=documents,
        unrated=unrated,
        sampled=sampled,
        rows=rows,
    )


def _measure_spread(table: ScoreTable, baseline: Run | None) -> tuple[Differences, Run | None]:
    """Returns what the deviation is computed from, and the baseline if it is that of differences."""
    if baseline is not None:
        differences = Differences.build(table.scores[:, 1] - table.scores[:, 0], table.weights).merged(table.units)
        if differences.deviation:
            return differences, baseline
    return Differences.build(table.scores[:, -1], table.weights).merged(table.units), None


def _required(deviation: float, difference: float) -> int | None:
    try:
        return required_queries(deviation, difference)
    except StatisticsError:
        return None


def _count_documents(
    run: Run, baseline: Run, version: ScorerVersion, table: ScoreTable
) -> tuple[float | None, int | None, int]:
    """Returns documents per query and unrated ones in all queries, from a sample of the queries, and its size."""
    step = max(1, -(-len(table) // MAX_SAMPLED))
    query_ids = table.query_ids[::step]
    definition = ScorerDefinition.of(version)
    known_grades = scores.known_grades(run.case.book, query_ids)
    documents: dict[int, list[str]] = {query_id: [] for query_id in query_ids}
    for compared in (baseline, run):
        considered = scores.considered_depth(definition, int(compared.config["depth"]))
        for query_id, result in read_lists(compared, query_ids).items():
            documents[query_id] += result.doc_ids[:considered]
    distinct = {query_id: unique(doc_ids) for query_id, doc_ids in documents.items()}
    total = sum(map(len, distinct.values()))
    if not total:
        return None, None, 0
    unrated = sum(doc_id not in known_grades[query_id] for query_id, doc_ids in distinct.items() for doc_id in doc_ids)
    count = len(query_ids)
    return total / count, round(unrated / count * len(table)), count
