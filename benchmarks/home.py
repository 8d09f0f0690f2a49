"""The home page of a user who sees many cases: SQL statements, weight and server time.

    python benchmarks/home.py [--postgres URL] [--cases N] [--quick] [--check]

Each of the 500 cases has 20 runs of five attempts, scored under its primary scorer and compared, and 40 ratings; three cases have an
active run. Measured with Django's test client, DEBUG off, as a user who owns all cases; medians of 7: the whole page, the
list in each order, the list filtered by a name, and the update of the active runs. Target: at most 14 statements and 100 kB
each; 300 ms on an idle machine.

SQLite in a file; with --postgres also a separate database on that server (postgresql://USER:PASSWORD@HOST:PORT/NAME).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from datetime import timedelta
from itertools import pairwise
from statistics import median

import fresh_site
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from relevancy import cases, queries
from relevancy.models import (
    Attempt,
    Case,
    CaseRevision,
    CaseScore,
    Endpoint,
    Query,
    RatingChange,
    Run,
    RunComparison,
    Scorer,
    User,
    Verdict,
)
from relevancy.views.home.pages import COLUMNS

RUNS, ROUNDS, ACTIVE, RATINGS = 20, 7, 3, 40
MOST_STATEMENTS, MOST_BYTES = 14, 100_000
HTMX = {"HX-Request": "true"}


def make_cases(owner: User, count: int) -> None:
    """Writes `count` cases with runs, scores and ratings, without searching anything."""
    scorer = Scorer.objects.get(name="nDCG@10")
    version = scorer.versions.get()
    now = timezone.now()
    endpoint = Endpoint.objects.create(name="Products", engine="solr", url="http://127.0.0.1:1/solr/p", owner=owner)
    for number in range(count):
        with transaction.atomic():
            case = cases.create(name=f"Case {number:03} of a shop", owner=owner, scorers=[scorer])
            queries.add(case=case, texts=[f"query {text}" for text in range(10)])
            revision = CaseRevision.objects.filter(case=case).values_list("revision", flat=True).first() or 0
            attempts = Attempt.objects.bulk_create(
                Attempt(case=case, number=n + 1, endpoint=endpoint, template="q=#$query##", created_by=owner)
                for n in range(5)
            )
            runs = Run.objects.bulk_create(
                Run(
                    case=case,
                    attempt=attempts[n % 5],
                    number=n + 1,
                    status=Run.Status.COMPLETE,
                    config={"template": "q=#$query##" * 40},
                    rows=10,
                    queries=10,
                    done=10,
                    created_by=owner,
                    finished_at=now - timedelta(hours=RUNS - n, seconds=number),
                )
                for n in range(RUNS)
            )
            CaseScore.objects.bulk_create(
                CaseScore(
                    run=run,
                    version=version,
                    day=run.finished_at.date(),
                    score=(7 * number + run.number) % 100,
                    low=10,
                    high=90,
                    scored=10,
                    queries=10,
                    unrated=number % 7,
                    revision=revision,
                )
                for run in runs
                if run.finished_at
            )
            RunComparison.objects.bulk_create(
                RunComparison(
                    run=later,
                    baseline=earlier,
                    version=version,
                    revision=revision,
                    run_score=(7 * number + later.number) % 100,
                    baseline_score=(7 * number + earlier.number) % 100,
                    compared=10,
                    better=6,
                    worse=3,
                    newly_scored=0,
                    no_longer_scored=0,
                )
                for earlier, later in pairwise(runs)
            )
            query = Query.objects.filter(book=case.book).first()
            assert query is not None
            RatingChange.objects.bulk_create(
                RatingChange(
                    query=query,
                    doc_id=str(n),
                    rater=owner,
                    by=owner,
                    new_verdict=Verdict.RATED,
                    new_value=1,
                    at=now - timedelta(minutes=n + number),
                )
                for n in range(RATINGS)
            )
    newest = Run.objects.filter(number=RUNS, case__in=Case.objects.order_by("-pk")[:ACTIVE])
    newest.update(status=Run.Status.RUNNING, finished_at=None, done=4)


def measure(client: Client, url: str, headers: dict[str, str]) -> tuple[int, int, float]:
    """Statements, bytes and median milliseconds of one request."""
    with CaptureQueriesContext(connection) as captured:
        response = client.get(url, headers=headers)
        statements = len(captured)
    assert response.status_code == 200, response
    assert b"data-rescoring" not in response.content, "The scores are not those of the present revision."
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        client.get(url, headers=headers)
        seconds.append(time.perf_counter() - start)
    return statements, len(response.content), median(seconds) * 1000


def run(count: int) -> bool:
    """Prints one line for each request; returns whether all of them meet the target."""
    owner = User.objects.create_user("owner@example.com", None, name="Olga Owner")
    make_cases(owner, count)
    client = Client(SERVER_NAME="localhost")
    client.force_login(owner)
    requests = {
        "home page": ("/", {}),
        **{f"sorted by {column.key}": (f"/?sort=-{column.key}", HTMX) for column in COLUMNS if column.key},
        "filtered by name": ("/?f=case+01", HTMX),
    }
    active = "&".join(f"case={pk}" for pk in Case.objects.order_by("-pk").values_list("pk", flat=True)[:ACTIVE])
    requests["update of active runs"] = (f"/cases/active/?{active}", HTMX)
    print(f"{connection.vendor}: {count} cases of {RUNS} runs; invented data")
    good = True
    for title, (url, headers) in requests.items():
        statements, size, milliseconds = measure(client, url, headers)
        met = statements <= MOST_STATEMENTS and size <= MOST_BYTES
        good = good and met
        print(
            f"  {title:22} {statements:3} statements {size / 1000:8.1f} kB {milliseconds:8.1f} ms"
            f"{'' if met else '  MISSED'}",
            flush=True,
        )
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=500, metavar="N", help="500 unless given")
    parser.add_argument("--postgres", metavar="URL", help="also measure on this PostgreSQL server")
    parser.add_argument("--quick", action="store_true", help="20 cases: shows that it runs, not how fast")
    parser.add_argument("--check", action="store_true", help="end with status 1 if a target is missed")
    options = parser.parse_args()
    good = run(20 if options.quick else options.cases)
    if options.postgres:
        line = [sys.executable, __file__, "--cases", str(options.cases), "--check"]
        environment = {**os.environ, "RELEVANCY_DATABASE_URL": options.postgres}
        good = subprocess.run(line, env=environment, check=False).returncode == 0 and good
    return int(options.check and not good)


if __name__ == "__main__":
    print(f"data in {fresh_site.DATA}", flush=True)
    sys.exit(main())
