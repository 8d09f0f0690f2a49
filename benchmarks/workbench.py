"""The workbench of a case of 5,000 queries next to that of a case of 100: SQL statements and server time.

    python benchmarks/workbench.py [--postgres URL] [--queries N] [--rounds N] [--details]

Measured with Django's test client, DEBUG off, as a user who owns the case, both cases taking turns, medians of 15 rounds: the
page, its list sorted by score and by gap, and a rating given there by htmx. Both show full pages of 50 queries; both
cases have three scorers, six runs of ten results to a query and ten ratings to a query. Target: the same number of
statements, at most twice the time.

SQLite in a file; with --postgres also a separate database on that server (postgresql://USER:PASSWORD@HOST:PORT/NAME).
--details lists the statements of the large case with their times.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median

import fresh_site
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from invented import document, query_grades, query_texts, rankings

from relevancy import cases, endpoints, queries, ratings, runs, scorers
from relevancy.models import Case, Run, Scorer, User

SMALL, RUNS = 100, 6
SCORERS = ("nDCG@10", "P@10", "RR@10")  # the first one is the primary scorer
HTMX = {"HX-Request": "true"}


@dataclass(frozen=True)
class Side:
    """One of the two cases, and where one of its documents is rated."""

    case: Case
    rate_url: str
    doc_id: str


def write_rankings(path: Path, texts: list[str], seed: int) -> None:
    with path.open("w", encoding="utf-8", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(("query", "docid", "position", "title", "short_description", "supplier"))
        for text, numbers in rankings(texts, seed):
            for position, number in enumerate(numbers, 1):
                doc = document(number)
                rows.writerow((text, doc["id"], position, doc["title"], doc["short_description"], doc["supplier"]))


def make_side(name: str, texts: list[str], by: User) -> Side:
    case_scorers = [Scorer.objects.get(name=scorer) for scorer in SCORERS]
    case = cases.create(name=name, owner=by, scorers=case_scorers, scale=scorers.parse_scale("0:3"))
    queries.add(case=case, texts=texts)
    case_queries = list(case.case_queries.present().select_related("query"))
    grades = query_grades(texts)
    ratings.rate_book(
        book=case.book,
        values={case_query.query_id: grades[case_query.query.text] for case_query in case_queries},
        rater=by,
        by=by,
    )
    folder = fresh_site.DATA / "static"
    folder.mkdir(exist_ok=True)
    for seed in range(RUNS):
        file = f"{name}-{seed}.csv"
        write_rankings(folder / file, texts, seed)
        endpoint = endpoints.create(name=file, engine="static", url=file, by=by)
        fields = "id:id title:title short_description supplier"
        attempt = runs.attempts.save(case=case, endpoint=endpoint, template="{}", fields=fields, by=by)
        run = runs.finish_here(runs.start(attempt=attempt, by=by))
        assert run.status == Run.Status.COMPLETE, run.reason
    first = case_queries[0]
    doc_id = run.rankings.get(query=first.query_id).hits[0][0]
    return Side(case, f"/cases/{case.pk}/queries/{first.pk}/rate/?rank=1", doc_id)


def works(client: Client) -> dict[str, Callable[[Side], HttpResponse]]:
    grade = count()

    def rate(side: Side) -> HttpResponse:
        # Another grade each time: the same one again would change nothing and cost less.
        data = {"doc_id": side.doc_id, "value": str(next(grade) // 2 % 4)}
        return client.post(side.rate_url, data, headers=HTMX)

    return {
        "the page": lambda side: client.get(f"/cases/{side.case.pk}/"),
        "the list by score": lambda side: client.get(
            f"/cases/{side.case.pk}/?sort=score", headers={**HTMX, "HX-Target": "queries"}
        ),
        "the list by gap": lambda side: client.get(
            f"/cases/{side.case.pk}/?sort=-gap", headers={**HTMX, "HX-Target": "queries"}
        ),
        "rating a document": rate,
    }


def statements(work: Callable[[Side], HttpResponse], side: Side) -> list[dict[str, str]]:
    with CaptureQueriesContext(connection) as captured:
        response = work(side)
    assert response.status_code == 200, response.content[:500]
    if b"<table" in response.content:
        assert len(re.findall(rb'<tbody[^>]*class="\s*query', response.content)) == 50, "the page is not full"
    return list(captured.captured_queries)


def seconds(work: Callable[[Side], HttpResponse], sides: tuple[Side, Side], rounds: int) -> list[float]:
    times: list[list[float]] = [[], []]
    for turn in range(rounds + 3):
        for side, of_side in zip(sides, times, strict=True):
            start = time.perf_counter()
            work(side)
            if turn >= 3:
                of_side.append(time.perf_counter() - start)
    return [median(of_side) for of_side in times]


def compare(large: int, rounds: int, details: bool) -> bool:
    by = User.objects.create_superuser("owner@example.com")
    sides = make_side("small", query_texts(SMALL), by), make_side("large", query_texts(large), by)
    by.is_superuser = by.is_staff = False  # for users who see the case through a team, the role is looked up
    by.save()
    if connection.vendor == "postgresql":
        connection.cursor().execute("ANALYZE")  # as autovacuum does within a minute
    client = Client(SERVER_NAME="localhost")
    client.force_login(by)
    print(f"{connection.vendor}: a case of {SMALL:,} queries → one of {large:,} (medians of {rounds}); invented data")
    good = True
    for label, work in works(client).items():
        for side in sides:  # warm up
            statements(work, side)
        few, many = (statements(work, side) for side in sides)
        small, big = seconds(work, sides, rounds)
        ok = len(few) == len(many) and big <= 2 * small
        good &= ok
        print(
            f"  {label:<18} {len(few):3} → {len(many):3} statements   {small * 1000:7.1f} → {big * 1000:7.1f} ms   "
            f"ratio {big / small:.2f}   {'ok' if ok else 'MISSED'}"
        )
        if details:
            for one, other in zip(few, many, strict=False):
                print(
                    f"      {float(one['time']) * 1000:6.1f} → {float(other['time']) * 1000:6.1f} ms  {other['sql'][:3000]}"
                )
    return good


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--postgres", metavar="URL", default="")
    arguments.add_argument("--queries", type=int, default=5000)
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--details", action="store_true")
    chosen = arguments.parse_args()
    good = compare(chosen.queries, chosen.rounds, chosen.details)
    if chosen.postgres:
        # Django takes its database from the environment, once.
        again = [sys.executable, __file__, "--queries", str(chosen.queries), "--rounds", str(chosen.rounds)]
        again += ["--details"] * chosen.details
        environment = {**os.environ, "RELEVANCY_DATABASE_URL": chosen.postgres}
        good &= subprocess.run(again, env=environment, check=False).returncode == 0
    raise SystemExit(not good)
