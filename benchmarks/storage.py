"""The size of a run: 5,000 queries with ten hits each, with the displayed fields of the sample case.

Targets: at most 4 MB for the first run of a case, 1.5 MB for a second one that returned mostly the same documents, 200 bytes a ranking.

What is measured is how much the database grows by a run with its scores: the file on SQLite, all tables and indexes on PostgreSQL.
Rankings, scores and documents are also measured for themselves, each with its indexes.

SQLite in a file; with --postgres also a separate database on that server (postgresql://USER:PASSWORD@HOST:PORT/NAME).
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from itertools import batched, pairwise
from typing import Any

import fresh_site
import numpy as np
from django.db import connection, transaction
from django.db.models import Model
from django.utils import timezone
from invented import query_texts

from relevancy import cases, endpoints, engines, queries, ratings, runs, scorers, scores
from relevancy.formats.documents import sample
from relevancy.models import Attempt, Document, QueryScore, Ranking, Run, User

FIRST_MB, SECOND_MB, RANKING_BYTES = 4.0, 1.5, 200
HITS = 10
CHANGED = 0.1  # the share of queries for which the second run returned other documents


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
    """Ten films of the sample with the fields that are displayed, and scores in single precision, as engines compute them."""
    chance = random.Random(place)
    return [
        [film["id"], float(np.float32(chance.uniform(1, 20))), spec.pick(film)]
        for film in chance.sample(films, min(HITS, len(films)))
    ]


def size_of(model: type[Model]) -> int:
    """The bytes that a table takes with its indexes."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_total_relation_size(%s)", [table])
        else:
            cursor.execute(
                "SELECT SUM(pgsize) FROM dbstat WHERE name IN (SELECT name FROM sqlite_master WHERE tbl_name = %s)",
                [table],
            )
        return int(cursor.fetchone()[0])


def make_case(count: int) -> Attempt:
    """A case of so many queries, with an attempt."""
    by = User.objects.create_superuser("owner@example.com")
    films = list(sample.read_films())
    case = cases.create(name="storage", owner=by, scale=scorers.parse_scale("0:3"))
    queries.add(case=case, texts=query_texts(count))
    rated = {pk: {film["id"]: 2.0 for film in films[:6]} for pk in case.case_queries.values_list("query_id", flat=True)}
    ratings.rate_book(book=case.book, values=rated, rater=by, by=by)
    endpoint = endpoints.create(name="films", engine="embedded", url="films", by=by)
    return runs.attempts.save(
        case=case, endpoint=endpoint, template='{"query": "#$query##"}', fields=sample.FIELDS, by=by
    )


def make_run(attempt: Attempt, seed: int) -> None:
    """A scored run; that of another seed has other hits for one query in ten."""
    films, spec = list(sample.read_films()), engines.parse_fields(sample.FIELDS)
    run = runs.start(attempt=attempt, by=attempt.created_by)
    listed = attempt.case.case_queries.order_by("query_id").values_list("query_id", "query__text")
    for batch in batched(enumerate(listed), 500):
        rows = [
            Ranking.with_hits(
                hits(films, spec, place if place % round(1 / CHANGED) else place + 10**6 * seed),
                run=run,
                query_id=query_id,
                former_text=text,
                total=1204,
                took_ms=7,
            )
            for place, (query_id, text) in batch
        ]
        with transaction.atomic():
            Ranking.objects.store(rows, endpoint=attempt.endpoint_id)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.COMPLETE, done=run.queries, finished_at=timezone.now())
    run.refresh_from_db()
    scores.rescore_run(run)


def measure(count: int) -> bool:
    """Prints what two runs take; returns whether they are within the targets."""
    attempt = make_case(count)
    sizes = [used()]
    for seed in range(2):
        make_run(attempt, seed)
        sizes.append(used())
    first, second = ((after - before) / 1e6 for before, after in pairwise(sizes))
    ranking, score = (size_of(model) / count / 2 for model in (Ranking, QueryScore))
    scale = count / 5_000
    good = first <= FIRST_MB * scale and second <= SECOND_MB * scale and ranking <= RANKING_BYTES
    print(
        f"{connection.vendor}: {count:,} queries with {HITS} hits: the first run takes {first:.2f} MB (target {FIRST_MB * scale:g}), "
        f"the second {second:.2f} MB (target {SECOND_MB * scale:g}); a ranking {ranking:.0f} bytes (target {RANKING_BYTES}), a score "
        f"{score:.0f} bytes, {Document.objects.count():,} versions of documents {size_of(Document) / 1e6:.2f} MB: "
        f"{'ok' if good else 'MISSED'}; films of the sample, invented queries"
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
