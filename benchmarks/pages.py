"""The pages of a very large case: what one user waits for, on PostgreSQL.

    python benchmarks/pages.py --postgres URL [--queries N] [--rounds N] [--details]

URL: a server on which a separate database may be created (postgresql://USER:PASSWORD@HOST:PORT/NAME). The case has 1,000,000 queries
unless given: 1,000 invented ones, run twice, ten results and two ratings to a query, and copies of them that the database makes
(`large_case.multiply`). Measured with Django's test client, DEBUG off, as a user who owns the case, medians of five rounds. Also how
long a worker needs for the score of the case and the difference of its runs after a rating. --details lists statements above 10 ms.

Without --postgres, on the database of the environment, a case of at most 1,000 queries, which is not a large one.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from statistics import median

import fresh_site
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from invented import query_texts
from large_case import make_case, multiply

from relevancy import scores
from relevancy.models import Case, User

BASE = 1_000
HTMX = {"HX-Request": "true"}
LIST = {**HTMX, "HX-Target": "queries"}
TARGETS = {"the case": 500, "the next page": 200, "a page in the middle": 200, "a rating": 200}
SORTED_WITHIN = 2_000


def roads(client: Client, case: Case) -> dict[str, Callable[[], HttpResponse]]:
    """What is measured, by name; everything that has no target of its own is a sorted or filtered list."""
    ordered = case.case_queries.order_by("position", "pk").values_list("pk", flat=True)
    first, second, middle = ordered[0], ordered[50], ordered[len(ordered) // 2]
    run = case.runs.order_by("number").last()
    doc_id = run.rankings.get(query__case_queries=first).doc_ids[0]
    url, grade = f"/cases/{case.pk}/", count()

    def rate() -> HttpResponse:
        # Another grade each time: the same one again would change nothing and cost less.
        data = {"doc_id": doc_id, "value": str(next(grade) % 4)}
        return client.post(f"{url}queries/{first}/rate/?rank=1", data, headers=HTMX)

    lists = ("sort=score", "sort=-gap", "sort=-unrated", "q=laser", "q=nothing+at+all", "state=failed", "state=better")
    return {
        "the home page": lambda: client.get("/"),
        "the case": lambda: client.get(url),
        "the next page": lambda: client.get(f"{url}?page=from-{second}", headers=LIST),
        "a page in the middle": lambda: client.get(f"{url}?page=from-{middle}", headers=LIST),
        "an opened query": lambda: client.get(f"{url}queries/{first}/", headers=HTMX),
        "a rating": rate,
        "the head after it": lambda: client.get(f"{url}state/?only=head", headers=HTMX),
        **{f"?{query}": lambda query=query: client.get(f"{url}?{query}", headers=LIST) for query in lists},
    }


def measure(queries: int, rounds: int, details: bool) -> bool:
    by = User.objects.create_superuser("owner@example.com")
    began = time.perf_counter()
    case = make_case("Large", query_texts(min(queries, BASE)), by, rated=2)
    if queries > BASE:
        if connection.vendor != "postgresql":
            raise SystemExit(f"More than {BASE:,} queries are copied by PostgreSQL only. Give --postgres.")
        multiply(case, queries // BASE)
    by.is_superuser = by.is_staff = False  # for users who see the case through a team, the role is looked up
    by.save()
    total = case.case_queries.count()
    print(
        f"{connection.vendor}: a case of {total:,} queries, made in {time.perf_counter() - began:.0f} s; invented data"
    )
    client = Client(SERVER_NAME="localhost")
    client.force_login(by)
    is_good = True
    for name, road in roads(client, case).items():
        assert road().status_code == 200, name
        times = []
        for _ in range(rounds):
            begun = time.perf_counter()
            road()
            times.append((time.perf_counter() - begun) * 1000)
        target = TARGETS.get(name, SORTED_WITHIN)
        is_good &= median(times) <= target
        print(
            f"  {name:<22} {median(times):7.0f} ms   target at most {target} ms: {'ok' if median(times) <= target else 'MISSED'}"
        )
        if details:
            with CaptureQueriesContext(connection) as captured:
                road()
            for query in captured.captured_queries:
                if float(query["time"]) >= 0.01:
                    print(f"      {float(query['time']) * 1000:6.0f} ms  {re.sub(r'\s+', ' ', query['sql'])[:2000]}")
    begun = time.perf_counter()
    while not scores.rescore_case(case, seconds=5):
        pass
    print(f"  the score of the case and its difference, by a worker: {time.perf_counter() - begun:.1f} s")
    return is_good


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--postgres", metavar="URL", default="")
    arguments.add_argument("--queries", type=int, default=1_000_000)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--details", action="store_true")
    chosen = arguments.parse_args()
    if chosen.postgres and os.environ.get("RELEVANCY_DATABASE_URL") != chosen.postgres:
        # Django takes its database from the environment, once.
        environment = {**os.environ, "RELEVANCY_DATABASE_URL": chosen.postgres}
        raise SystemExit(subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode)
    assert fresh_site.DATA.exists()
    raise SystemExit(not measure(chosen.queries, chosen.rounds, chosen.details))
