"""Stores the scores of queries and of cases."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.db import connection, transaction
from django.utils import timezone

from relevancy.models import CaseQuery, CaseScore, Query, QueryScore, Ranking, Run, ScorerVersion
from relevancy.scoring import case_mean

BATCH = 500
PAUSE_SECONDS = 0.05  # between bulk writes: SQLite does not queue its writers fairly, and ratings must not wait


def store(rows: Sequence[QueryScore]) -> None:
    """Stores scores, overwriting older ones. Call it in a transaction, with scores computed before the transaction began.

    Scores computed from newer ratings in the meantime are kept. Scores of rankings that no longer exist are left out.
    """
    if not rows:
        return
    lock_queries({row.query_id for row in rows})
    rankings = Ranking.objects.filter(pk__in={row.ranking_id for row in rows})
    stored_revisions = {
        (ranking_id, version_id): revision
        for ranking_id, version_id, revision in rankings.values_list("pk", "scores__version", "scores__revision")
    }
    ranking_ids = {ranking_id for ranking_id, _ in stored_revisions}
    overwrite(
        [
            row
            for row in rows
            if row.ranking_id in ranking_ids
            and stored_revisions.get((row.ranking_id, row.version_id), -1) <= row.revision
        ]
    )


def overwrite(rows: Sequence[QueryScore]) -> None:
    """Stores scores without checking what is stored. For callers that hold the lock of the queries since before they read the
    ratings: no newer score can exist."""
    QueryScore.objects.bulk_create(
        rows,
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=("ranking", "version"),
        update_fields=("value", "score", "low", "high", "ideal", "unrated", "error", "error_kind", "revision"),
    )


def lock_queries(query_ids: Iterable[int]) -> None:
    """Locks queries against ratings until the transaction ends, so that no older score overwrites a newer one.

    Every transaction locks queries first, in the order of their ids, and a run after them. SQLite has no row locks: a writing
    transaction excludes all others.
    """
    if not connection.features.has_select_for_update:
        return
    queries = Query.objects.filter(pk__in=list(query_ids)).order_by("pk")
    list(queries.select_for_update(no_key=True).values_list("pk", flat=True))


def score_case(run: Run, versions: Iterable[ScorerVersion]) -> list[CaseScore]:
    """Stores the score of the case under each version, from the stored scores of its present queries, and returns them.

    Two SQL statements, and a lock of the run where the database has row locks. Returns an empty list for an active run: the
    mean of the queries searched so far is not a score of the case.
    """
    versions = list(versions)
    with transaction.atomic(savepoint=False):
        if connection.features.has_select_for_update:
            # Of two concurrent ratings, the sums of the second must include the score of the first.
            list(Run.objects.filter(pk=run.pk).select_for_update(no_key=True).values_list("pk", flat=True))
        status, queries, sums_by_version = _read_sums(run, [version.pk for version in versions])
        if status in Run.ACTIVE_STATUSES:
            return []
        today, now = timezone.localdate(), timezone.now()
        rows = []
        for version in versions:
            sums = sums_by_version.get(version.pk, _Sums())
            rows.append(
                CaseScore(
                    run=run,
                    version=version,
                    day=today,
                    score=case_mean(sums.scores, sums.weights),
                    low=case_mean(sums.lows, sums.weights) if sums.bounded else None,
                    high=case_mean(sums.highs, sums.weights) if sums.bounded else None,
                    scored=sums.scored,
                    queries=queries,
                    unrated=sums.unrated,
                    failed=sums.failed,
                    updated_at=now,
                )
            )
        return CaseScore.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=("run", "version", "day"),
            update_fields=("score", "low", "high", "scored", "queries", "unrated", "failed", "updated_at"),
        )


@dataclass(frozen=True)
class _Sums:
    """Sums over the present queries of a case. `scores`, `lows` and `highs` are weighted."""

    weights: float = 0.0
    scores: float = 0.0
    lows: float = 0.0
    highs: float = 0.0
    bounded: int = 0
    scored: int = 0
    unrated: int = 0
    failed: int = 0


# Written by hand because it is executed while the run is locked. Both forms of `present` look up the weight of each query by the
# unique index of `case` and `query`, whatever the statistics of the database say: PostgreSQL chose a join that took 2 s instead
# of 10 ms, and its LIMIT, which no run reaches, keeps it from looking up each weight once per sum. SQLite keeps the order of
# tables of a CROSS JOIN, reads the scores in the order of its index and so groups them without sorting.
_SUMS = f"""
    SELECT run.status,
        (
            SELECT COUNT(*) FROM {CaseQuery._meta.db_table} case_query
            WHERE case_query.case_id = run.case_id AND case_query.removed_at IS NULL
        ),
        sums.*
    FROM {Run._meta.db_table} run
    LEFT JOIN (
        SELECT version_id,
            COALESCE(SUM(CASE WHEN score IS NOT NULL THEN weight END), 0),
            COALESCE(SUM(weight * score), 0),
            COALESCE(SUM(CASE WHEN score IS NOT NULL THEN weight * COALESCE(low, score) END), 0),
            COALESCE(SUM(CASE WHEN score IS NOT NULL THEN weight * COALESCE(high, score) END), 0),
            COUNT(low),
            COUNT(score),
            SUM(unrated),
            COUNT(CASE WHEN error <> '' THEN 1 END)
        FROM {{present}}
        GROUP BY version_id
    ) sums ON 1 = 1
    WHERE run.id = %s
"""
_PRESENT_SQLITE = f"""
    {QueryScore._meta.db_table} scored
    CROSS JOIN {CaseQuery._meta.db_table} case_query
        ON case_query.case_id = %s AND case_query.query_id = scored.query_id AND case_query.removed_at IS NULL
    WHERE scored.run_id = %s AND scored.version_id IN ({{versions}})
"""
_PRESENT = f"""
    (
        SELECT scored.version_id, scored.score, scored.low, scored.high, scored.unrated, scored.error,
            (
                SELECT case_query.weight FROM {CaseQuery._meta.db_table} case_query
                WHERE case_query.case_id = %s AND case_query.query_id = scored.query_id
                    AND case_query.removed_at IS NULL
            ) AS weight
        FROM {QueryScore._meta.db_table} scored
        WHERE scored.run_id = %s AND scored.version_id IN ({{versions}})
        LIMIT 1000000000
    ) present
    WHERE weight IS NOT NULL
"""


def _read_sums(run: Run, version_ids: Collection[int]) -> tuple[str, int, dict[int, _Sums]]:
    """Returns the status of the run, the number of present queries, and their sums by version id. Versions without any score
    are absent."""
    placeholders = ", ".join(["%s"] * len(version_ids)) or "NULL"
    present = _PRESENT_SQLITE if connection.vendor == "sqlite" else _PRESENT
    with connection.cursor() as cursor:
        cursor.execute(
            _SUMS.format(present=present.format(versions=placeholders)), [run.case_id, run.pk, *version_ids, run.pk]
        )
        rows = cursor.fetchall()
    status, queries = rows[0][:2]
    return status, queries, {row[2]: _Sums(*row[3:]) for row in rows if row[2] is not None}
