"""What must be true after every fault, checked by SQL and, for sums, by computing them again."""

from __future__ import annotations

from typing import Any

import psycopg

from tests.faults.work import Key, World

SETTLE_SECONDS = 120.0

_RATINGS = """
    SELECT query_id, doc_id, rater_id, count(*), max(value)
    FROM relevancy_rating WHERE rater_id = ANY(%(raters)s) AND query_id = ANY(%(queries)s) GROUP BY 1, 2, 3
"""
_LOG = """
    SELECT query_id, doc_id, rater_id, array_agg(new_value ORDER BY id), array_agg(old_value ORDER BY id)
    FROM relevancy_ratingchange WHERE rater_id = ANY(%(raters)s) AND query_id = ANY(%(queries)s) GROUP BY 1, 2, 3
"""
# Of all ratings: the last change in the log is what is stored.
_LOG_AND_RATINGS = """
    WITH last AS (
        SELECT DISTINCT ON (query_id, doc_id, rater_id) query_id, doc_id, rater_id, new_verdict, new_value
        FROM relevancy_ratingchange WHERE query_id IN (SELECT id FROM relevancy_query)
        ORDER BY query_id, doc_id, rater_id, id DESC
    )
    SELECT count(*) FROM relevancy_rating rating FULL JOIN last USING (query_id, doc_id, rater_id)
    WHERE rating.id IS NULL AND last.new_verdict <> '' OR last.new_verdict IS NULL OR rating.value IS DISTINCT FROM last.new_value
"""


def lost_ratings(world: World, *, is_quiet: bool) -> list[str]:
    """Returns what is wrong with the acknowledged ratings: each is there once, and the log has each of them once, in their order.

    is_quiet: nothing is being sent, so that the log has nothing else. Otherwise newer changes may follow in it.
    """
    acknowledged = world.ledger.snapshot()
    parameters = {
        "raters": [rater["id"] for rater in world.made["raters"]],
        "queries": [query_id for query_id, *_ in world.made["queries"]],
    }
    with world.site.postgres.connect() as connection, connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        ratings: dict[Key, tuple[Any, Any]] = {
            _key(row): (row[3], row[4]) for row in connection.execute(_RATINGS, parameters)
        }
        log: dict[Key, tuple[Any, Any]] = {_key(row): (row[3], row[4]) for row in connection.execute(_LOG, parameters)}
    problems = []
    for key, values in acknowledged.items():
        changes, former = log.get(key, ([], []))
        count, value = ratings.get(key, (0, None))
        if changes[: len(values)] != values or (is_quiet and len(changes) > len(values)):
            problems.append(f"{key}: {values} were acknowledged, the log has {changes}")
        elif count != 1 or value != changes[-1] or former != [None, *changes[:-1]]:
            problems.append(f"{key}: {count} ratings of {value}, the log has {changes} after {former}")
    if is_quiet and (more := ratings.keys() - acknowledged.keys()):
        problems.append(f"{len(more)} ratings that were not acknowledged")
    return problems


def _key(row: Any) -> Key:
    query_id, doc_id, rater_id, *_ = row
    return rater_id, query_id, doc_id


def log_problems(connection: psycopg.Connection[Any]) -> list[str]:
    """Returns how many ratings differ from the last change in the log."""
    ((count,),) = connection.execute(_LOG_AND_RATINGS).fetchall()
    return [f"{count} ratings differ from the log"] if count else []


# Adds minutes to the time of every claim and of every mark of a task in the queue.
MOVE_TIMES = """
from datetime import timedelta
from django.db.models import F
from relevancy.models import *
marks = (RunPart, "heartbeat_at"), (Run, "queued_at"), (Run, "rescore_queued_at"), (Book, "rescore_queued_at")
for model, name in (*marks, (RatingImport, "progressed_at")):
    model.objects.exclude(**{name: None}).update(**{name: F(name) + timedelta(minutes=int(sys.argv[1]))})
print(json.dumps(True))
"""
# Waits until nothing is left to do, and prints after how many seconds that was, and what is still open at the end.
SETTLE = """
import time
from django.apps import apps
from django.db import Error, connection
from relevancy.models import *
from relevancy.scores.history import is_settled

def open_work():
    work = [f"run {run.pk} is {run.status}" for run in Run.objects.active()]
    work += [f"import {row.pk} is {row.status}, {row.done} of {row.total}" for row in RatingImport.objects.unfinished()]
    if apps.is_installed("relevancy.optional.studies"):
        active = apps.get_model("studies", "Study").objects.active()
        work += [f"study {study.pk} is {study.status}, {study.trials.count()} trials" for study in active]
    for case in Case.objects.live():
        run = Run.objects.newest_for(case).finished().first()
        for version in ScorerVersion.objects.used_by(case) if run else ():
            rows = CaseScore.objects.filter(run=run, version=version).with_case_revision().select_related("run", "version")
            row = rows.order_by("-day").first()
            if row is None or not is_settled(row):
                work.append(f"{version} of {run} of case {case.pk} is stale")
    return work

begun = time.monotonic()
while True:
    try:
        work = open_work()
    except Error as error:
        work = [str(error)]
        connection.close()
    if not work or time.monotonic() - begun > float(sys.argv[1]):
        break
    time.sleep(0.25)
print(json.dumps([time.monotonic() - begun, work]))
"""

# Counts and computes everything again, in transactions that are rolled back, and prints what differs.
RECOUNT = """
from collections import Counter
from django.db import transaction
from relevancy.models import *
from tests.faults.engine import doc_ids
problems = []

def figures(run):
    return {name: {key: [None if v is None else round(v, 9) for v in row] for key, row in made.items()}
            for name, made in (("query", stored_scores(run)), ("case", stored_case_scores(run)))}

for run in Run.objects.select_related("case__book"):
    rankings = list(run.rankings.all())
    queries = Counter(ranking.query_id for ranking in rankings)
    doubled = [pk for pk, count in queries.items() if count > 1]
    if doubled:
        problems.append(f"{run} has {len(doubled)} queries twice")
    present = set(run.case.case_queries.present().values_list("query_id", flat=True))
    done = len(present & set(queries))
    failed = len({ranking.query_id for ranking in rankings if ranking.error_kind and ranking.query_id in present})
    if not run.is_active and (run.done, run.failed) != (done, failed):
        problems.append(f"{run} of case {run.case_id} ({run.status}) counts {run.done}, {run.failed}; it has {done}, {failed}")
    if run.status == "complete" and (done != run.queries or failed):
        problems.append(f"{run} is complete with {done} of {run.queries}, {failed} failed")
    if run.status in ("failed", "incomplete", "cancelled") and not run.reason:
        problems.append(f"{run} is {run.status} and does not say why")
    if run.config["url"].endswith("/healthy"):
        wrong = [r.text for r in rankings if not r.error_kind and list(r.doc_ids) != doc_ids(r.text)]
        if wrong:
            problems.append(f"{run} has other documents for {len(wrong)} queries")
for case in Case.objects.live().select_related("book"):
    versions = list(ScorerVersion.objects.used_by(case))
    run = Run.objects.newest_for(case).finished().first()
    if run is None:
        continue
    run.case = case
    with transaction.atomic():
        stale = scores.count_stale(run, *versions)
        kept = figures(run)
        run.query_scores.all().delete()
        run.case_scores.all().delete()
        scores.rescore_run(run)
        fresh = figures(run)
        names = {version.scorer.name for version in versions}
        kept = [{k: v for k, v in kept["query"].items() if k[0] in names}, {k: v for k, v in kept["case"].items() if k in names}]
        if kept != [fresh["query"], fresh["case"]]:
            different = [k for k in fresh["query"] if fresh["query"][k] != kept[0].get(k)]
            case_scores = f"{kept[1]}, {fresh['case']}"
            problems.append(f"scores of {run} of {case.pk} differ: {len(different)} queries; {case_scores}; {stale} stale")
        pairs = JudgingPair.objects.filter(queue__book=case.book)
        levels = dict(pairs.values_list("pk", "level"))
        pairs.update_levels(list(case.book.queries.values_list("pk", flat=True)))
        if levels != dict(pairs.values_list("pk", "level")):
            problems.append(f"levels of the judging queue of {case.book} differ")
        spreads = RatingSpread.objects.filter(query__book=case.book).order_by("query_id", "doc_id")
        kept = list(spreads.values_list())
        spreads.refresh(list(case.book.queries.values_list("pk", flat=True)))
        if kept != list(spreads.all().values_list()):
            problems.append(f"differences of the ratings of {case.book} differ")
        transaction.set_rollback(True)
for row in RatingImport.objects.all():
    changes = RatingChange.objects.filter(rating_import=row.pk).count()
    if row.status == "complete" and (row.done != row.total or row.changed != changes):
        problems.append(f"import {row.pk} counts {row.done} of {row.total}, {row.changed} changed; the log has {changes}")
    if row.status == "failed" and (changes or not row.error):
        problems.append(f"failed import {row.pk} has left {changes} changes; {row.error!r}")
print(json.dumps(problems))
"""


def settle(world: World, seconds: float = SETTLE_SECONDS) -> tuple[float, list[str]]:
    """Returns after how many seconds all work was done by itself, and what was still open after the longest time."""
    return tuple(world.site.site.ask(SETTLE, str(seconds), seconds=seconds + 60))  # type: ignore[return-value]


def recount(world: World) -> list[str]:
    """Returns the sums and states that differ from a recount."""
    return list(world.site.site.ask(RECOUNT, seconds=300))
