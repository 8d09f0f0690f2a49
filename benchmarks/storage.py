"""The size of a run: 5,000 queries with ten hits each, with the displayed fields of the sample case. Target: at most 60 MB.

What is measured is how much the database grows by the run with its scores: the file on SQLite, all its tables and indexes on
PostgreSQL. Then the run's displayed fields are deleted, as those of old runs are, and the size of its rankings is measured
again.

SQLite in a file; with --postgres also a separate database on that server (postgresql://USER:PASSWORD@HOST:PORT/NAME).
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from typing import Any

import fresh_site
from django.db import connection
from django.utils import timezone
from invented import query_texts

from relevancy import cases, endpoints, engines, queries, ratings, runs, scorers, scores
from relevancy.formats.documents import sample
from relevancy.models import Ranking, Run, User
from relevancy.runs import retention

TARGET_MB = 60
HITS = 10


def used() -> int:
    """The size of the database in bytes, after a clean-up."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("VACUUM FULL")
            cursor.execute("SELECT pg_database_size(current_database())")
            return int(cursor.fetchone()[0])
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA page_size")
        size = cursor.fetchone()[0]
        cursor.execute("PRAGMA page_count")
        return int(size * cursor.fetchone()[0])


def hits(films: list[dict[str, Any]], spec: engines.FieldSpec, place: int) -> list[list[Any]]:
    """Ten films of the sample with the fields that are displayed, as a run keeps them."""
    chance = random.Random(place)
    return [
        [film["id"], round(chance.uniform(1, 20), 6), spec.pick(film)]
        for film in chance.sample(films, min(HITS, len(films)))
    ]


def make_run(count: int) -> tuple[Run, int]:
    """A case of so many queries and a run of it; and how much the database held before the run."""
    by = User.objects.create_superuser("owner@example.com")
    films = list(sample.read_films())
    spec = engines.parse_fields(sample.FIELDS)
    case = cases.create(name="storage", owner=by, scale=scorers.parse_scale("0:3"))
    queries.add(case=case, texts=query_texts(count))
    case_queries = list(case.case_queries.present().select_related("query"))
    rated = {case_query.query_id: {film["id"]: 2.0 for film in films[:6]} for case_query in case_queries}
    ratings.rate_book(book=case.book, values=rated, rater=by, by=by)
    endpoint = endpoints.create(name="films", engine="embedded", url="films", by=by)
    attempt = runs.attempts.save(
        case=case, endpoint=endpoint, template='{"query": "#$query##"}', fields=sample.FIELDS, by=by
    )
    run = runs.start(attempt=attempt, by=by)
    before = used()
    rows = [
        Ranking(
            run=run,
            query=case_query.query,
            text=case_query.query.text,
            hits=hits(films, spec, index),
            returned=HITS,
            total=1204,
            took_ms=7,
            asked_at=timezone.now(),
        )
        for index, case_query in enumerate(case_queries)
    ]
    Ranking.objects.bulk_create(rows, batch_size=500)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.COMPLETE, done=count, finished_at=timezone.now())
    run.refresh_from_db()
    scores.rescore_run(run)
    return run, before


def measure(count: int) -> bool:
    """Print what the run takes, with and without its displayed fields; whether it is within the target."""
    run, before = make_run(count)
    whole = (used() - before) / 1e6
    started = time.perf_counter()
    Run.objects.filter(pk=run.pk).update(fields_dropped_at=timezone.now())
    retention.prune_display_fields(run.case)  # continues with a marked run that still has its fields
    seconds = time.perf_counter() - started
    assert not any(hit[2] for hit in run.rankings.order_by("-id")[0].hits)
    stripped = (used() - before) / 1e6
    good = whole <= TARGET_MB
    print(
        f"{connection.vendor}: a run of {count:,} queries with {HITS} hits takes {whole:.1f} MB (target {TARGET_MB}) "
        f"{'ok' if good else 'MISSED'}; without displayed fields {stripped:.1f} MB, deleted in {seconds:.1f} s; films of the "
        "sample, invented queries"
    )
    return good


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--postgres", metavar="URL", default="")
    arguments.add_argument("--queries", type=int, default=5000)
    chosen = arguments.parse_args()
    assert fresh_site.DATA.is_dir()
    good = measure(chosen.queries)
    if chosen.postgres:
        # Django takes its database from the environment, once.
        again = [sys.executable, __file__, "--queries", str(chosen.queries)]
        environment = {**os.environ, "RELEVANCY_DATABASE_URL": chosen.postgres}
        good &= subprocess.run(again, env=environment, check=False).returncode == 0
    raise SystemExit(not good)
