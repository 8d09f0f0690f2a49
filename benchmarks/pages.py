"""The pages and the files of a very large case: what one user waits for.

    python benchmarks/pages.py [--postgres URL] [--queries N] [--rounds N] [--details]

URL: a server on which a separate database may be created (postgresql://USER:PASSWORD@HOST:PORT/NAME); SQLite in a file without it. The
case has 1,000,000 queries unless given: 1,000 invented ones, run twice, ten results and two ratings to a query, and copies of them that
the database makes (`large_case.multiply`). Half of them have tags, and one in a hundred is linked with another one. Pages are measured
with Django's test client, DEBUG off, as a user who owns the case, medians of five rounds; files as commands write them, or as the same
client gets them, with the peak of memory. Also how long a worker needs for the score of the case and the difference of its runs after a
rating, for the comparison of its runs, and for the documents to judge. --details lists statements above 10 ms.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import batched, count
from pathlib import Path
from statistics import median

import fresh_site
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from invented import query_texts
from large_case import make_case, multiply
from own_environment import run_command
from served_site import own_site

from relevancy import comparison, judging, scores
from relevancy.models import Case, Query, QueryLink, ScorerVersion, User

BASE = 1_000
HTMX = {"HX-Request": "true"}
LIST = {**HTMX, "HX-Target": "queries"}
COMPARED_LIST = {**HTMX, "HX-Target": "compared-queries"}
TAGS = ["brand", "model number", "typo", "question", "long"]
TARGETS = {"the case": 500, "the next page": 200, "a page in the middle": 200, "a rating": 200}
PAGE_WITHIN, SORTED_WITHIN = 1_000, 2_000
FILE_MB = 250  # of a command, 130 MB of which are the site without data
OWNER = "owner@example.com"
COMMANDS = [
    ["export_run", "RUN", "--format", "trec"],
    ["export_run", "RUN", "--format", "csv"],
    ["export_ratings", "CASE", "--format", "csv"],
    ["export_ratings", "CASE", "--format", "trec"],
    ["export_queries", "CASE"],
    ["export_case", "CASE", "--owner", OWNER],
    ["export_book", "BOOK", "--format", "ratings", "--owner", OWNER],
]


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

    lists = (
        "sort=score",
        "sort=-gap",
        "sort=-unrated",
        "q=laser",
        "q=nothing+at+all",
        "state=failed",
        "state=better",
        "tag=typo",
    )
    numbers = list(case.runs.order_by("number").values_list("number", flat=True))
    compared = f"{url}compare/?run={numbers[0]}&run={numbers[-1]}"
    compared_lists = (
        "sort=-difference",
        "sort=query",
        "sort=-a",
        f"sort=query&page=from-{middle}",
        "state=worse&q=laser",
    )
    book = f"/books/{case.book_id}/"
    pages = {
        "by tag": f"{url}tags/",
        "the history": f"{url}history/",
        "the files": f"{url}files/",
        "linked queries": f"{url}links/",
        "queries to link": f"{url}links/?query={first}",
        "queries to find and link": f"{url}links/?q=nothing+at+all",
        "the comparison": compared,
        "a compared query": f"{compared}&open={first}",
        "jump to": "/jump/?q=nothing+at+all",
        "all books": "/books/",
        "the book": book,
        "its queries": f"{book}queries/",
        "its raters": f"{book}raters/",
        "its conflicts": f"{book}conflicts/",
        "its judging": f"{book}judging/",
        "the work": "/judge/",
        "judging": f"{book}judge/",
        "judging a list": f"{book}judge/list/",
    }
    book_lists = ("sort=-rated", "sort=-to-judge", "text=nothing+at+all", "state=to-judge", "page=1000")
    return {
        "the home page": lambda: client.get("/"),
        "the case": lambda: client.get(url),
        "the next page": lambda: client.get(f"{url}?page=from-{second}", headers=LIST),
        "a page in the middle": lambda: client.get(f"{url}?page=from-{middle}", headers=LIST),
        "an opened query": lambda: client.get(f"{url}queries/{first}/", headers=HTMX),
        **{name: lambda address=address: client.get(address) for name, address in pages.items()},
        **{f"?{query}": lambda query=query: client.get(f"{url}?{query}", headers=LIST) for query in lists},
        **{
            f"compare ?{query}": lambda query=query: client.get(f"{compared}&{query}", headers=COMPARED_LIST)
            for query in compared_lists
        },
        **{
            f"book ?{query}": lambda query=query: client.get(f"{book}queries/?{query}", headers=HTMX)
            for query in book_lists
        },
        "a rating": rate,
        "the head after it": lambda: client.get(f"{url}state/?only=head", headers=HTMX),
    }


def add_tags_and_links(case: Case) -> None:
    """Half of the queries get one tag or two, and one in a hundred is linked with another one."""
    queries = list(Query.objects.filter(book=case.book_id).order_by("pk").values_list("pk", flat=True))
    for number in range(BASE // 2):
        tags = sorted({TAGS[number % len(TAGS)], TAGS[number % 3]})
        Query.objects.filter(pk__in=queries[number::BASE]).update(tags=tags)
    links = QueryLink.objects.bulk_create([QueryLink(book=case.book) for _ in queries[::100]])
    for query_link, linked in zip(links, batched(queries, 100), strict=False):
        Query.objects.filter(pk__in=linked[:2]).update(link=query_link)


def megabytes(name: str) -> float:
    """A figure of the memory of this process."""
    match = re.search(rf"{name}:\s*(\d+)", Path("/proc/self/status").read_text(encoding="utf-8"))
    assert match is not None
    return int(match[1]) / 1024


def measure_files(client: Client, case: Case) -> bool:
    """Prints what files need; returns whether each one has little in memory."""
    run = case.runs.order_by("number").last()
    names = {"RUN": run.pk, "CASE": case.pk, "BOOK": case.book_id}
    path, is_good = fresh_site.DATA / "export", True
    for words in COMMANDS:
        used = run_command([*(str(names.get(word, word)) for word in words), "--output", str(path)], own_site())
        is_good &= used.megabytes <= FILE_MB
        print(
            f"  {' '.join(words):<36} {used.seconds:6.1f} s  {used.megabytes:5.0f} MB, file of {path.stat().st_size / 1e6:,.1f} MB; "
            f"target at most {FILE_MB} MB: {'ok' if used.megabytes <= FILE_MB else 'MISSED'}",
            flush=True,
        )
        path.unlink()
    numbers = "&".join(f"run={number}" for number in case.runs.order_by("number").values_list("number", flat=True))
    for name, address in {
        "the list, CSV": f"/cases/{case.pk}/queries.csv",
        "the comparison, CSV": f"/cases/{case.pk}/compare/queries.csv?{numbers}",
    }.items():
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # the peak begins at what is used now
        before, begun, size = megabytes("VmRSS"), time.perf_counter(), 0
        for part in client.get(address).streaming_content:
            size += len(part)
        more = megabytes("VmHWM") - before
        is_good &= more <= FILE_MB / 5
        print(
            f"  {name:<36} {time.perf_counter() - begun:6.1f} s  {more:5.0f} MB more, file of {size / 1e6:,.1f} MB; target at most "
            f"{FILE_MB / 5:.0f} MB: {'ok' if more <= FILE_MB / 5 else 'MISSED'}",
            flush=True,
        )
    return is_good


def work(case: Case) -> None:
    """Prints how long a worker needs for what the pages show."""
    versions = list(ScorerVersion.objects.used_by(case))
    begun = time.perf_counter()
    while not scores.rescore_case(case, seconds=5):
        pass
    print(f"  the score of the case and its difference, by a worker: {time.perf_counter() - begun:.1f} s", flush=True)
    begun = time.perf_counter()
    stored = comparison.stored.find_or_create(
        runs=list(case.runs.select_related("case__book").order_by("number")), version=versions[0]
    )
    comparison.stored.compute(stored.pk)
    print(f"  the comparison, by a worker: {time.perf_counter() - begun:.1f} s", flush=True)
    begun = time.perf_counter()
    judging.build_judging_queue(book=case.book)
    print(f"  the documents to judge, by a worker: {time.perf_counter() - begun:.1f} s", flush=True)


def measure(queries: int, rounds: int, details: bool) -> bool:
    by = User.objects.create_superuser(OWNER)
    began = time.perf_counter()
    case = make_case("Large", query_texts(min(queries, BASE)), by, rated=2)
    if queries > BASE:
        multiply(case, queries // BASE)
    add_tags_and_links(case)
    by.is_superuser = by.is_staff = False  # for users who see the case through a team, the role is looked up
    by.save()
    total = case.case_queries.count()
    print(
        f"{connection.vendor}: a case of {total:,} queries, made in {time.perf_counter() - began:.0f} s; invented data"
    )
    client = Client(SERVER_NAME="localhost")
    client.force_login(by)
    is_good = True
    work(case)
    for name, road in roads(client, case).items():
        assert road().status_code == 200, name
        times = []
        for _ in range(rounds):
            begun = time.perf_counter()
            road()
            times.append((time.perf_counter() - begun) * 1000)
        target = TARGETS.get(name, SORTED_WITHIN if "?" in name else PAGE_WITHIN)
        is_good &= median(times) <= target
        print(
            f"  {name:<34} {median(times):7.0f} ms   target at most {target} ms: {'ok' if median(times) <= target else 'MISSED'}",
            flush=True,
        )
        if details:
            with CaptureQueriesContext(connection) as captured:
                road()
            for query in captured.captured_queries:
                if float(query["time"]) >= 0.01:
                    print(f"      {float(query['time']) * 1000:6.0f} ms  {re.sub(r'\s+', ' ', query['sql'])[:2000]}")
    work(case)  # once more, after the ratings
    return is_good & measure_files(client, case)


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
    logging.disable(logging.INFO)
    raise SystemExit(not measure(chosen.queries, chosen.rounds, chosen.details))
