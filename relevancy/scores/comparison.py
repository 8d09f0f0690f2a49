"""The difference between two runs of a case: computed from scores made with the same ratings, over the queries scored in both.

Every difference that a page, a file or a command shows comes from here, or from `CaseQuerySet.with_scores` for a single query. As
long as a score of either run is stale or missing, there is no difference to show.

See docs/decisions/0046.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import batched

from django.db import connection, transaction
from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from relevancy.models import (
    CaseQuery,
    CaseRevision,
    CaseScore,
    Query,
    QueryScore,
    Ranking,
    Run,
    RunComparison,
    ScorerVersion,
    StoredComparison,
    case_revision,
)
from relevancy.statistics import TIE

from .storage import BATCH, exact_sum_sql, weighted_mean

# Conditions for the rows of `CaseQuerySet.with_scores`, by the same rule as the counts of a `RunDifference`.
IS_BETTER = Q(difference__gte=TIE, weight__gt=0)
IS_WORSE = Q(difference__lte=-TIE, weight__gt=0)
IS_SAME = Q(difference__gt=-TIE, difference__lt=TIE, weight__gt=0)
COLUMNS = (
    "revision",
    "run_score",
    "baseline_score",
    "compared",
    "better",
    "worse",
    "newly_scored",
    "no_longer_scored",
)


@dataclass(frozen=True)
class RunDifference:
    """The difference between a run and a baseline.

    pending: how many scores of both runs are stale or missing; there is no difference as long as there are any.
    can_be_rescored: whether the pending ones can be computed; False for a script on a run without displayed fields.
    run_score, baseline_score: means over the queries scored in both, with the weights of the case; None if there are none.
    compared: the number of these queries. better, worse: how many of them changed by at least 0.05 points. No count contains queries
        of weight 0.
    newly_scored, no_longer_scored: the numbers of queries that only the run, or only the baseline, has a score for.
    revision: of the case, for which all of this is exact.
    """

    baseline: Run
    pending: int = 0
    can_be_rescored: bool = True
    run_score: float | None = None
    baseline_score: float | None = None
    compared: int = 0
    better: int = 0
    worse: int = 0
    newly_scored: int = 0
    no_longer_scored: int = 0
    revision: int = 0

    @property
    def difference(self) -> float | None:
        """The score of the run minus that of the baseline, in points; None while scores are pending, or if no query is scored in
        both."""
        if self.pending or self.run_score is None or self.baseline_score is None:
            return None
        return self.run_score - self.baseline_score

    @property
    def is_being_rescored(self) -> bool:
        """Whether there will be a difference once the worker has computed the pending scores."""
        return bool(self.pending) and self.can_be_rescored

    @property
    def same(self) -> int:
        """The number of queries that changed by less than 0.05 points."""
        return self.compared - self.better - self.worse


def compare_runs(run: Run, baseline: Run, version: ScorerVersion) -> RunDifference:
    """Returns the difference between two runs of the same case under a scorer version. One SQL statement."""
    with connection.cursor() as cursor:
        ids = [run.pk, baseline.pk]
        paired = [*ids, version.pk, *ids]
        parameters = [run.case_id, *paired, *((*paired, run.case_id) if run.is_large else (run.case_id, *paired))]
        statement = _PAIRED_SUMS.format(
            looked_up=_JOINED if run.is_large else _LOOKED_UP,
            run_sum=exact_sum_sql("CASE WHEN baseline_score IS NOT NULL THEN weight * score END", connection.vendor),
            baseline_sum=exact_sum_sql(
                "CASE WHEN score IS NOT NULL THEN weight * baseline_score END", connection.vendor
            ),
        )
        cursor.execute(statement, parameters)
        revision, searched, stored, stale, weights, *halves, compared, better, worse, newly_scored, no_longer_scored = (
            cursor.fetchone()
        )
    has_dropped_fields = run.fields_dropped_at is not None or baseline.fields_dropped_at is not None
    pending = max(0, searched - stored) + stale
    return RunDifference(
        baseline,
        pending=pending,
        can_be_rescored=not (version.script and has_dropped_fields),
        run_score=weighted_mean(halves[:2], weights),
        baseline_score=weighted_mean(halves[2:], weights),
        compared=compared,
        better=better,
        worse=worse,
        newly_scored=newly_scored,
        no_longer_scored=no_longer_scored,
        revision=revision,
    )


# Reads the scores of both runs by one index, and looks up weights and revisions by unique ones; those of a large case are joined, which
# takes 0.6 s for 200,000 queries instead of 2 s. See `_SUMS` there.
_PAIRED_SUMS = f"""
    SELECT
        COALESCE((SELECT revision FROM {CaseRevision._meta.db_table} counter WHERE counter.case_id = %s), 0),
        (
            SELECT COUNT(*) FROM {Ranking._meta.db_table} ranking
            WHERE ranking.run_id IN (%s, %s) AND ranking.error_kind = ''
        ),
        (
            SELECT COUNT(*) FROM {QueryScore._meta.db_table} stored
            WHERE stored.version_id = %s AND stored.run_id IN (%s, %s)
        ),
        sums.*
    FROM (
        SELECT
            COUNT(CASE WHEN oldest < query_revision THEN 1 END),
            COALESCE(SUM(CASE WHEN score IS NOT NULL AND baseline_score IS NOT NULL THEN weight END), 0),
            {{run_sum}},
            {{baseline_sum}},
            COUNT(CASE WHEN weight > 0 AND baseline_score IS NOT NULL THEN score END),
            COUNT(CASE WHEN weight > 0 AND score - baseline_score >= {TIE} THEN 1 END),
            COUNT(CASE WHEN weight > 0 AND baseline_score - score >= {TIE} THEN 1 END),
            COUNT(CASE WHEN weight > 0 AND baseline_score IS NULL THEN score END),
            COUNT(CASE WHEN weight > 0 AND score IS NULL THEN baseline_score END)
        FROM ({{looked_up}}) looked_up
        WHERE weight IS NOT NULL
    ) sums
"""
_PAIRS = f"""
    SELECT query_id,
        MAX(CASE WHEN run_id = %s THEN score END) AS score,
        MAX(CASE WHEN run_id = %s THEN score END) AS baseline_score,
        MIN(revision) AS oldest
    FROM {QueryScore._meta.db_table} stored
    WHERE stored.version_id = %s AND stored.run_id IN (%s, %s)
    GROUP BY query_id
"""
_LOOKED_UP = f"""
    SELECT pair.score, pair.baseline_score, pair.oldest,
        (
            SELECT case_query.weight FROM {CaseQuery._meta.db_table} case_query
            WHERE case_query.case_id = %s AND case_query.query_id = pair.query_id AND case_query.removed_at IS NULL
        ) AS weight,
        (SELECT query.revision FROM {Query._meta.db_table} query WHERE query.id = pair.query_id) AS query_revision
    FROM ({_PAIRS} LIMIT 1000000000) pair
    LIMIT 1000000000
"""
_JOINED = f"""
    SELECT pair.score, pair.baseline_score, pair.oldest, case_query.weight, query.revision AS query_revision
    FROM ({_PAIRS}) pair
    JOIN {Query._meta.db_table} query ON query.id = pair.query_id
    JOIN {CaseQuery._meta.db_table} case_query
        ON case_query.query_id = pair.query_id AND case_query.case_id = %s AND case_query.removed_at IS NULL
"""


def store_comparison(run: Run, baseline: Run, version: ScorerVersion) -> RunDifference | None:
    """Compares two runs and stores the comparison for pages that show many of them. Returns None, and stores nothing, if one of the
    runs is active. Nothing is stored either as long as scores are pending."""
    with transaction.atomic():
        runs = Run.objects.filter(pk__in=[run.pk, baseline.pk]).order_by("pk")
        if connection.features.has_select_for_update:
            # A run that is completed meanwhile forgets its comparisons; none of its former results may follow.
            runs = runs.select_for_update(no_key=True)
        if any(status in Run.ACTIVE_STATUSES for status in runs.values_list("status", flat=True)):
            return None
        difference = compare_runs(run, baseline, version)
        if difference.pending:
            return difference
        columns = {name: getattr(difference, name) for name in COLUMNS}
        row = RunComparison(run=run, baseline=baseline, version=version, **columns)
        RunComparison.objects.bulk_create(
            [row], update_conflicts=True, unique_fields=("run", "version", "baseline"), update_fields=COLUMNS
        )
    return difference


def results_changed(run: Run, query_ids: Collection[int]) -> None:
    """Deletes the results of a run for some queries, which are searched again, with their scores. Does what `scores_removed` does, and
    marks the scores of the case as those of other results.

    Call it in the transaction that has locked the queries, before new results are stored.
    """
    for batch in batched(query_ids, BATCH):
        QueryScore.objects.filter(run=run, query__in=batch).delete()
        Ranking.objects.filter(run=run, query__in=batch).delete()
    CaseScore.objects.filter(run=run).update(first_score=None)
    scores_removed(run)


def scores_removed(run: Run) -> None:
    """Deletes the stored differences of a run, marks the stored comparisons with it as out of date, and its scores of the case as
    computed while scores were missing. Call it in a transaction, before scores of queries are removed."""
    CaseScore.objects.filter(run=run).update(revision=None)
    RunComparison.objects.filter(run=run).delete()
    RunComparison.objects.filter(baseline=run).delete()
    StoredComparison.objects.of_run(run).update(revision=None, error="", generation=F("generation") + 1)


def stored_differences(
    pairs: Collection[tuple[Run, Run]], version: ScorerVersion
) -> dict[tuple[int, int], RunDifference]:
    """Returns the stored differences of pairs of a run and its baseline by their ids, as far as they are up to date. One SQL
    statement."""
    baselines = {(run.pk, baseline.pk): baseline for run, baseline in pairs}
    if not baselines:
        return {}
    rows = RunComparison.objects.filter(
        run__in={run_id for run_id, _ in baselines}, version=version, revision=case_revision(OuterRef("run__case"))
    )
    return {
        (row.run_id, row.baseline_id): RunDifference(
            baselines[row.run_id, row.baseline_id], **{name: getattr(row, name) for name in COLUMNS}
        )
        for row in rows
        if (row.run_id, row.baseline_id) in baselines
    }


def current_comparisons() -> QuerySet[RunComparison]:
    """Returns the stored comparisons of runs with their baselines (see `baseline_of`) that are up to date."""
    complete = Run.objects.filter(
        case=OuterRef("run__case"), status=Run.Status.COMPLETE, number__lt=OuterRef("run__number")
    )
    return RunComparison.objects.filter(
        revision=case_revision(OuterRef("run__case")),
        baseline=Subquery(complete.order_by("-number").values("pk")[:1]),
    )


def baseline_of(run: Run) -> Run | None:
    """Returns what a run is compared with: the last complete run before it; None if there is none. One SQL statement."""
    return Run.objects.complete_before(run).select_related("attempt").first()


def baselines_of(run: Run) -> list[Run]:
    """Returns every run that pages compare a new run with: its baseline, and the last complete run of its attempt's parent."""
    parent_runs = Run.objects.filter(case=run.case_id, attempt=run.attempt.parent_id, status=Run.Status.COMPLETE)
    candidates = [baseline_of(run), parent_runs.order_by("-number").first() if run.attempt.parent_id else None]
    return list(dict.fromkeys(baseline for baseline in candidates if baseline is not None))
