"""Scores, stored: for queries and for the case."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, F, Q
from django.utils import timezone

from relevancy.models import CaseQuery, CaseScore, Query, QueryScore, Ranking, Run, ScorerVersion

from .figures import compute, ranked
from .forgetting import scoreable
from .scorers import versions_of

BATCH = 500
RESCORED_AT_ONCE = 500  # in one transaction, of which none may hold a rating up for long
PAUSE_SECONDS = 0.05  # between bulk writes: SQLite's waiting is unfair, and a rating must get its turn
_NEEDED = ("id", "query_id", "text", "options", "total", "hits", "error_kind", "run_id")


def store(rows: Sequence[QueryScore]) -> None:
    """Write scores, overwriting older ones; in a transaction.

    They were computed before it began. What was made from newer ratings meanwhile stays, and so does nothing of a
    ranking that is gone.
    """
    if not rows:
        return
    lock_queries({row.query_id for row in rows})
    stored = Ranking.objects.filter(pk__in={row.ranking_id for row in rows})
    there = {
        (ranking, version): revision
        for ranking, version, revision in stored.values_list("pk", "scores__version", "scores__revision")
    }
    rankings = {ranking for ranking, _ in there}
    QueryScore.objects.bulk_create(
        [
            row
            for row in rows
            if row.ranking_id in rankings and there.get((row.ranking_id, row.version_id), -1) <= row.revision
        ],
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=("ranking", "version"),
        update_fields=("value", "score", "low", "high", "ideal", "unrated", "error", "revision"),
    )


def lock_queries(query_ids: Iterable[int]) -> None:
    """Hold back ratings of these queries until the transaction ends, so that no older score is written over a newer one.

    Everybody locks queries first, in order of their ids, and a run after them. Where a transaction holds back every other
    writer anyhow, as on SQLite, there is nothing to do.
    """
    if not connection.features.has_select_for_update:
        return
    some = Query.objects.filter(pk__in=list(query_ids)).order_by("pk")
    list(some.select_for_update(no_key=True).values_list("pk", flat=True))


def score_case(run: Run, versions: Sequence[ScorerVersion]) -> list[CaseScore]:
    """The case's score under each version from the stored scores of its present queries: one aggregate, and one write.

    A run under way has no case score: a mean over what happens to be searched so far would look like one.
    """
    with transaction.atomic(savepoint=False):
        # Of two ratings at one moment the second has to see the first one's score in its sum.
        held = Run.objects.filter(pk=run.pk).select_for_update(no_key=True)
        if held.values_list("status", flat=True).get() in Run.UNDER_WAY:
            return []
        return _score_case(run, versions)


def _score_case(run: Run, versions: Sequence[ScorerVersion]) -> list[CaseScore]:
    queries = run.case.case_queries.present().count()
    sums = _sums(run, versions)
    today, now = timezone.localdate(), timezone.now()
    rows = []
    for version in versions:
        found = sums.get(version.pk, {"scored": 0, "unrated": 0, "failed": 0, "weights": None, "bounded": 0})
        weights = found["weights"]
        bounded = weights and found["bounded"]
        rows.append(
            CaseScore(
                run=run,
                version=version,
                day=today,
                score=found["scores"] / weights if weights else None,
                low=found["lows"] / weights if bounded else None,
                high=found["highs"] / weights if bounded else None,
                scored=found["scored"],
                queries=queries,
                unrated=found["unrated"],
                failed=found["failed"],
                updated_at=now,
            )
        )
    return CaseScore.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=("run", "version", "day"),
        update_fields=("score", "low", "high", "scored", "queries", "unrated", "failed", "updated_at"),
    )


# By hand, since the run's row is held while it adds up. The place of each query is looked up by its unique index, whatever a
# database that has not counted its rows yet believes (PostgreSQL joined in 2 s what takes 10 ms); the limit, which no run
# reaches, keeps it from looking up each weight once per sum.
_SUMS = f"""
    SELECT version_id,
        SUM(CASE WHEN score IS NOT NULL THEN weight END) AS weights,
        SUM(weight * score) AS scores,
        SUM(CASE WHEN score IS NOT NULL THEN weight * COALESCE(low, score) END) AS lows,
        SUM(CASE WHEN score IS NOT NULL THEN weight * COALESCE(high, score) END) AS highs,
        COUNT(low) AS bounded,
        COUNT(score) AS scored,
        SUM(unrated) AS unrated,
        COUNT(CASE WHEN error <> '' THEN 1 END) AS failed
    FROM (
        SELECT scored.version_id, scored.score, scored.low, scored.high, scored.unrated, scored.error,
            (
                SELECT place.weight FROM {CaseQuery._meta.db_table} place
                WHERE place.case_id = %s AND place.query_id = scored.query_id AND place.removed_at IS NULL
            ) AS weight
        FROM {QueryScore._meta.db_table} scored
        WHERE scored.run_id = %s AND scored.version_id IN ({{versions}})
        LIMIT 1000000000
    ) present
    WHERE weight IS NOT NULL
    GROUP BY version_id
"""


def _sums(run: Run, versions: Sequence[ScorerVersion]) -> dict[int, dict[str, Any]]:
    """What the scores of the run's present queries add up to, by version; nothing for one without any. One SQL statement."""
    if not versions:
        return {}
    with connection.cursor() as cursor:
        marks = ", ".join(["%s"] * len(versions))
        cursor.execute(_SUMS.format(versions=marks), [run.case_id, run.pk, *(version.pk for version in versions)])
        names = [column[0] for column in cursor.description]
        return {row[0]: dict(zip(names, row, strict=True)) for row in cursor.fetchall()}


def rescore_query(run: Run, query_id: int) -> None:
    """After a rating: the query's scores in this run and the case's, at a cost that does not grow with the case."""
    versions = versions_of(run.case)
    rows = compute(run, ranked(run.rankings.filter(query_id=query_id)), versions)
    with transaction.atomic(savepoint=False):
        store(rows)
        score_case(run, versions)


def rescore_run(run: Run, versions: Sequence[ScorerVersion] = (), *, failed_too: bool = False) -> int:
    """Every score of the run that is missing or stale, and the case's. Returns how many rankings were scored again.

    `versions`: those of the case unless others are given. `failed_too`: also where a script failed, which may have been
    for want of time.
    """
    versions = list(versions) or versions_of(run.case)
    todo: dict[int, set[int]] = {}
    for version in scoreable(run, versions):
        for ranking_id in stale_rankings(run, version, failed_too=failed_too):
            todo.setdefault(ranking_id, set()).add(version.pk)
    ids = sorted(todo)
    wrote_at = 0.0
    for start in range(0, len(ids), RESCORED_AT_ONCE):
        some = ids[start : start + RESCORED_AT_ONCE]
        wanted = set[int]().union(*(todo[pk] for pk in some))
        found = ranked(run.rankings.filter(pk__in=some).only(*_NEEDED))
        rows = compute(run, found, [version for version in versions if version.pk in wanted])
        time.sleep(max(0.0, PAUSE_SECONDS - (time.monotonic() - wrote_at)))
        with transaction.atomic():
            store(rows)
        wrote_at = time.monotonic()
    score_case(run, versions)
    return len(ids)


def stale_rankings(run: Run, version: ScorerVersion, *, failed_too: bool = False) -> list[int]:
    """Ids of the run's rankings whose score under this version is missing or older than the query's ratings."""
    fresh = QueryScore.objects.filter(run=run, version=version, revision__gte=F("query__revision"))
    if failed_too:
        fresh = fresh.filter(error="")
    return list(
        run.rankings.filter(error_kind="").exclude(pk__in=fresh.values("ranking_id")).values_list("pk", flat=True)
    )


def has_stale(run: Run, *versions: ScorerVersion) -> int:
    """How many scores of the run are older than their ratings or missing and can be made anew. Two counts."""
    versions = tuple(scoreable(run, versions))
    stored = QueryScore.objects.filter(run=run, version__in=versions).aggregate(
        every=Count("id"), stale=Count("id", filter=Q(revision__lt=F("query__revision")))
    )
    missing: int = run.rankings.filter(error_kind="").count() * len(versions) - stored["every"]
    return max(0, missing) + int(stored["stale"])
