"""Stores the scores of queries and of cases.

See docs/decisions/0012.
"""

from collections.abc import Iterable, Sequence
from itertools import batched
from operator import attrgetter

from django.db import connection, transaction
from django.utils import timezone

from relevancy.models import (
    CaseQuery,
    CaseRevision,
    CaseScore,
    Query,
    QueryScore,
    Ranking,
    Run,
    ScorerVersion,
)
from relevancy.models.inserts import as_array, insert_rows
from relevancy.models.statements import prepared_cursor
from relevancy.scoring import case_mean, points

BATCH = 500
_COMPUTED = ("value", "score", "low", "high", "ideal", "unrated", "error", "error_kind", "revision")
_COLUMNS = ("query_id", "run_id", "version_id", *_COMPUTED)
_OVERWRITE = f"""
    (query_id, run_id, version_id) DO UPDATE SET {", ".join(f"{name} = EXCLUDED.{name}" for name in _COMPUTED)}
    WHERE {QueryScore._meta.db_table}.revision <= EXCLUDED.revision
"""
_CASE_COLUMNS = ("score", "low", "high", "scored", "queries", "unrated", "failed", "revision", "updated_at")
_HIGH, _LOW = 2.0**26, 2.0**30  # together the units of `exact_units`: a sum of all in one column would overflow


def store(rows: Sequence[QueryScore]) -> None:
    """Stores scores, overwriting older ones. Call it in a transaction, with scores computed before the transaction began.

    Scores computed from newer ratings in the meantime are kept. Scores of rankings that no longer exist are left out.
    """
    if not rows:
        return
    lock_queries({row.query_id for row in rows})
    for batch in batched(rows, BATCH):
        # By their own numbers: a query that was searched again has another ranking in the same run, with scores of its own.
        scored = {row.ranking_id for row in batch if row.ranking_id is not None}
        present = {None, *Ranking.objects.filter(pk__in=scored).values_list("pk", flat=True)}
        values = map(attrgetter(*_COLUMNS), [row for row in batch if row.ranking_id in present])
        insert_rows(QueryScore, _COLUMNS, values, on_conflict=_OVERWRITE)


def lock_queries(query_ids: Iterable[int]) -> None:
    """Locks queries against ratings until the transaction ends, so that no older score overwrites a newer one.

    Every transaction locks queries first, in the order of their ids, and a run after them. SQLite has no row locks: a writing
    transaction excludes all others.
    """
    if not connection.features.has_select_for_update:
        return
    # Written by hand because every rating locks its query twice.
    with prepared_cursor() as cursor:
        locked = f"SELECT FROM {Query._meta.db_table} WHERE id = ANY(%s::integer[]) ORDER BY id FOR NO KEY UPDATE"
        cursor.execute(locked, [as_array(sorted(set(query_ids)))])


def score_case(run: Run, versions: Iterable[ScorerVersion]) -> list[CaseScore]:
    """Stores the score of the case under each version; see `score_runs`."""
    return score_runs([(run, version) for version in versions])


def score_runs(targets: Sequence[tuple[Run, ScorerVersion]]) -> list[CaseScore]:
    """Stores the scores of one case in some of its runs, each under a version, from the stored scores of its present queries, and
    returns them.

    Two SQL statements, and a lock of the runs where the database has row locks. Leaves out active runs: the mean of the queries
    searched so far is not a score of the case.
    """
    if not targets:
        return []
    with transaction.atomic(savepoint=False):
        if connection.features.has_select_for_update:
            # Of two concurrent ratings, the sums of the second must include the score of the first.
            locked = Run.objects.filter(pk__in={run.pk for run, _ in targets}).order_by("pk")
            list(locked.select_for_update(no_key=True).values_list("pk", flat=True))
        return CaseScore.objects.bulk_create(
            _build_case_scores(targets),
            update_conflicts=True,
            unique_fields=("run", "version", "day"),
            update_fields=_CASE_COLUMNS,
        )


# Written by hand because it is executed while the runs are locked. Both forms of `looked_up` look up the weight and the revision of
# each query by unique indexes, whatever the statistics of the database say: PostgreSQL chose a join that took 2 s instead of 10 ms,
# and its LIMIT, which no run reaches, keeps it from looking up each of them once per sum. SQLite keeps the order of tables of a
# CROSS JOIN, and reads the scores in the order of its index. Of a large case, PostgreSQL has statistics, and its hash joins take 0.5 s
# for 200,000 queries instead of 1.8 s.
_SUMS = f"""
    SELECT run.id,
        COALESCE((SELECT revision FROM {CaseRevision._meta.db_table} counter WHERE counter.case_id = run.case_id), 0),
        (
            SELECT COUNT(*) FROM {CaseQuery._meta.db_table} case_query
            WHERE case_query.case_id = run.case_id AND case_query.removed_at IS NULL
        ),
        (SELECT COUNT(*) FROM {Ranking._meta.db_table} ranking WHERE ranking.run_id = run.id AND ranking.error_kind = ''),
        sums.*
    FROM {Run._meta.db_table} run
    LEFT JOIN (
        SELECT run_id, version_id,
            COALESCE(SUM(CASE WHEN score IS NOT NULL THEN weight END), 0),
            {{scores_sum}},
            {{lows_sum}},
            {{highs_sum}},
            COUNT(CASE WHEN weight IS NOT NULL THEN low END),
            COUNT(CASE WHEN weight IS NOT NULL THEN score END),
            COALESCE(SUM(CASE WHEN weight IS NOT NULL THEN unrated END), 0),
            COUNT(CASE WHEN weight IS NOT NULL AND error <> '' THEN 1 END),
            COUNT(*),
            COUNT(CASE WHEN weight IS NOT NULL AND revision < query_revision THEN 1 END)
        FROM (
            SELECT scored.run_id, scored.version_id, scored.score, scored.low, scored.high, scored.unrated, scored.error,
                scored.revision, {{looked_up}}
        ) looked_up
        GROUP BY run_id, version_id
    ) sums ON sums.run_id = run.id
    WHERE run.id IN ({{runs}}) AND run.status NOT IN ({", ".join([f"'{status}'" for status in Run.ACTIVE_STATUSES])})
"""
_LOOKED_UP_SQLITE = f"""
                case_query.weight AS weight, query.revision AS query_revision
            FROM {QueryScore._meta.db_table} scored
            CROSS JOIN {Query._meta.db_table} query ON query.id = scored.query_id
            LEFT JOIN {CaseQuery._meta.db_table} case_query
                ON case_query.case_id = %s AND case_query.query_id = scored.query_id AND case_query.removed_at IS NULL
            WHERE {{scores}}
"""
_LOOKED_UP = f"""
                (
                    SELECT case_query.weight FROM {CaseQuery._meta.db_table} case_query
                    WHERE case_query.case_id = %s AND case_query.query_id = scored.query_id
                        AND case_query.removed_at IS NULL
                ) AS weight,
                (
                    SELECT query.revision FROM {Query._meta.db_table} query WHERE query.id = scored.query_id
                ) AS query_revision
            FROM {QueryScore._meta.db_table} scored
            WHERE {{scores}}
            LIMIT 1000000000
"""
_LOOKED_UP_LARGE = _LOOKED_UP_SQLITE.replace("CROSS JOIN", "JOIN")


def _build_case_scores(targets: Sequence[tuple[Run, ScorerVersion]]) -> list[CaseScore]:
    """Returns unsaved scores of the case, from sums over its queries; active runs are left out. One SQL statement."""
    versions_by_run: dict[int, list[int]] = {}
    for run, version in targets:
        versions_by_run.setdefault(run.pk, []).append(version.pk)
    parameters: list[int] = [targets[0][0].case_id]
    selected = []
    for run_id, version_ids in versions_by_run.items():
        selected.append(f"scored.run_id = %s AND scored.version_id IN ({', '.join(['%s'] * len(version_ids))})")
        parameters += [run_id, *version_ids]
    vendor, is_large = connection.vendor, any(run.is_large for run, _ in targets)
    looked_up = _LOOKED_UP_SQLITE if vendor == "sqlite" else _LOOKED_UP_LARGE if is_large else _LOOKED_UP
    statement = _SUMS.format(
        looked_up=looked_up.format(scores=" OR ".join(selected)),
        runs=", ".join(["%s"] * len(versions_by_run)),
        scores_sum=exact_sum_sql("weight * score", vendor),
        lows_sum=exact_sum_sql("CASE WHEN score IS NOT NULL THEN weight * COALESCE(low, score) END", vendor),
        highs_sum=exact_sum_sql("CASE WHEN score IS NOT NULL THEN weight * COALESCE(high, score) END", vendor),
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [*parameters, *versions_by_run])
        rows = cursor.fetchall()
    finished = {row[0]: row[1:4] for row in rows}
    sums_by_score = {row[4:6]: row[6:] for row in rows}
    today, now = timezone.localdate(), timezone.now()
    case_scores = []
    for run, version in targets:
        if run.pk not in finished:
            continue
        revision, queries, searched = finished[run.pk]
        sums = sums_by_score.get((run.pk, version.pk), (0,) * 13)
        weights, *halves, bounded, scored, unrated, failed, stored, stale = sums
        score, low, high = [weighted_mean(pair, weights) for pair in batched(halves, 2)]
        is_exact = not stale and stored >= searched  # no score of a query is stale or missing
        case_scores.append(
            CaseScore(
                run=run,
                version=version,
                day=today,
                score=score,
                low=low if bounded else None,
                high=high if bounded else None,
                scored=scored,
                queries=queries,
                unrated=unrated,
                failed=failed,
                revision=revision if is_exact else None,
                first_score=score if is_exact else None,
                updated_at=now,
            )
        )
    return case_scores


def exact_sum_sql(expression: str, vendor: str) -> str:
    """Returns two columns of SQL for `weighted_mean`: the exact sum of an expression that is not negative.

    It does not depend on the order of what is summed: two runs with the same results have the same score.
    """
    # A float in either case: integers of the database could overflow.
    floor = "CAST(CAST({} AS INTEGER) AS REAL)" if vendor == "sqlite" else "FLOOR({})"
    scaled = f"({expression}) * {_HIGH}"
    high = floor.format(scaled)
    low = floor.format(f"({scaled} - {high}) * {_LOW}")
    return f"COALESCE(SUM({high}), 0), COALESCE(SUM({low}), 0)"


def weighted_mean(halves: Sequence[float], weights: float) -> float | None:
    """Returns the mean of scores by their weights from the two halves of their sum that `exact_sum_sql` has read."""
    high, low = halves
    return case_mean(points(int(high) * int(_LOW) + int(low)), weights)
