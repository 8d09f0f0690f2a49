"""Raters, readers and runs at once, and how many raters are too many: a case of 5,000 queries, served as `demo` serves it.

    python benchmarks/load.py [--queries N] [--seconds S] [--most N] [--quick] [--check]

Raters rate as in benchmarks/raters.py, each once in five seconds on average (2.5 to 7.5). 50 readers open a page every ten seconds
(5 to 15): the workbench, an opened query, the history, one after the other. Five runs of 500 queries each are searched at the same
time, on an engine that answers after 20 ms; one that has ended is followed by the next. Targets at 200 raters: no error, the 95th
percentile of a rating at most 500 ms, that of a page at most 1 s. Then the raters are doubled until that of a rating passes 1 s, or up
to --most; or halved until it does not.

The database is that of RELEVANCY_DATABASE_URL, or SQLite in a file. With a PostgreSQL server of its own:
`bash tests/with_postgres.sh "$(command -v initdb)" python benchmarks/load.py`. Clients, server, worker, database and engine share the
cores, so the figures of many raters contain the time of their threads.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import fresh_site
import options
import raters
import urllib3
from django.db import connection
from invented import query_texts
from large_case import make_case
from own_environment import ROOT
from served_site import served

from relevancy import cases, endpoints, queries, runs, tasks
from relevancy.models import Attempt, Run, User
from tests.live.servers import free_port

READERS, RUNS, RUN_QUERIES = 50, 5, 500
RATING_SECONDS, PAGE_SECONDS = 5.0, 10.0  # between two of one person
PAGES = ("/cases/{case}/", "/cases/{case}/?open={case_query}", "/cases/{case}/history/")


def read(address: str, reader: raters.Rater, paths: list[str], until: float, times: list[float], pace: float) -> None:
    """Opens pages until the time is over. The first answer opens the connection and is not counted."""
    headers = {name: value for name, value in reader.headers.items() if name != "hx-request"}
    with urllib3.PoolManager(1) as pool:
        time.sleep(random.uniform(0, PAGE_SECONDS * pace))
        counts, position = False, random.randrange(len(paths))
        while time.perf_counter() < until:
            path = paths[position % len(paths)]
            begun = time.perf_counter()
            answer = pool.request("GET", address + path, headers=headers, retries=False)
            assert answer.status == 200, (path, answer.status, answer.data[:500])
            if counts:
                times.append(time.perf_counter() - begun)
            counts, position = True, position + 1
            time.sleep(max(0.0, min(_pause(PAGE_SECONDS * pace), until - time.perf_counter())))


def _pause(mean: float) -> float:
    return random.uniform(0.5 * mean, 1.5 * mean)


def make_attempts(engine: str, by: User, count: int) -> list[Attempt]:
    """Cases with an endpoint each, so that no run waits for another one."""
    attempts = []
    for number in range(RUNS):
        case = cases.create(name=f"run {number}", owner=by)
        queries.add(case=case, texts=query_texts(count))
        endpoint = endpoints.create(name=f"engine {number}", engine="solr", url=f"{engine}/solr/healthy", by=by)
        attempt = runs.attempts.save(
            case=case, endpoint=endpoint, template="q=#$query##", fields="id:id title:title", by=by
        )
        attempts.append(attempt)
    return attempts


@contextmanager
def running(attempts: list[Attempt], by: User) -> Iterator[None]:
    """A run of each attempt after the other, for the duration of a `with` block."""
    stop = threading.Event()

    def go() -> None:
        while not stop.wait(0.5):
            active = set(Run.objects.active().values_list("attempt_id", flat=True))
            for attempt in attempts:
                if attempt.pk not in active:
                    tasks.enqueue_run(runs.start(attempt=attempt, by=by))
        connection.close()

    thread = threading.Thread(target=go)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def engine() -> Iterator[str]:
    """The address of a search engine in a process of its own."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", "tests.faults.engine", str(port)], cwd=ROOT)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def load(
    address: str, people: list[raters.Rater], readers: list[raters.Rater], paths: list[str], seconds: float, pace: float
) -> tuple[list[float], list[float], list[str]]:
    """How long each rating and each page took, in milliseconds, and the errors. paths: of the pages. pace: 1, or
    less for people who wait less."""
    ratings: list[float] = []
    pages: list[float] = []
    errors: list[str] = []
    until = time.perf_counter() + seconds

    def go(work: Callable[..., None], *arguments: Any) -> None:
        try:
            work(address, *arguments)
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}"[:300])

    threads = [
        threading.Thread(target=go, args=(raters.rate, rater, until, lambda: _pause(RATING_SECONDS * pace), ratings))
        for rater in people
    ]
    threads += [threading.Thread(target=go, args=(read, reader, paths, until, pages, pace)) for reader in readers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [duration * 1000 for duration in ratings], [duration * 1000 for duration in pages], errors


def measure(chosen: Any) -> bool:
    """The load of the target, and then twice as many raters as before until they wait too long."""
    by = User.objects.create_superuser("owner@example.com")
    case = make_case("large", query_texts(chosen.queries), by)
    people = raters.make_raters(case, chosen.most + chosen.readers)
    readers, people = people[: chosen.readers], people[chosen.readers :]
    opened = case.case_queries.values_list("pk", flat=True)[:500]
    pages_of = [page.format(case=case.pk, case_query=pk) for pk in opened for page in PAGES]
    print(f"{connection.vendor}, {os.cpu_count()} cores: a case of {chosen.queries:,} queries; invented data")
    with engine() as engine_url:
        attempts = make_attempts(engine_url, by, chosen.run_queries)
        if connection.vendor == "postgresql":
            connection.cursor().execute("ANALYZE")  # as autovacuum does within a minute
        connection.close()
        with served() as address, running(attempts, by):
            # Warm up: every thread has a connection to the database.
            load(address, people[: chosen.raters], [], pages_of, chosen.seconds / 4, chosen.pace)
            count, is_met = chosen.raters, True
            answered = too_many = 0  # the most raters that waited less than a second, and the fewest that waited longer
            while True:
                done = Run.objects.filter(status=Run.Status.COMPLETE).count()
                ratings, pages, errors = load(address, people[:count], readers, pages_of, chosen.seconds, chosen.pace)
                slowest = raters.say(f"{count} raters", ratings, chosen.seconds)
                page = raters.say(f"{chosen.readers} readers", pages, chosen.seconds, "pages")
                done = Run.objects.filter(status=Run.Status.COMPLETE).count() - done
                print(f"  {RUNS} runs at once, {done} ended; {len(errors)} errors {errors[:3] or ''}")
                if count == chosen.raters:
                    is_met = options.verdict(not errors, "no error")
                    is_met &= options.verdict(slowest <= 500, f"p95 of a rating at most 500 ms, it is {slowest:.0f} ms")
                    is_met &= options.verdict(page <= 1000, f"p95 of a page at most 1 s, it is {page:.0f} ms")
                if slowest > 1000 or errors:
                    too_many, count = count, count // 2
                else:
                    answered, count = count, count * 2
                if (answered and too_many) or not 0 < count <= chosen.most:
                    break
    limit = f"between {answered} and {too_many}" if too_many else f"above {answered}"
    print(f"  the limit is {limit} raters")
    return is_met


if __name__ == "__main__":
    line = options.parser(__doc__, 5000)
    line.add_argument("--seconds", type=float, default=40, help="of each load; 40 unless given")
    line.add_argument("--most", type=int, default=1600, help="raters; 1,600 unless given")
    chosen = options.read(line, quick=80)  # at least one for each rater and reader
    chosen.raters, chosen.readers, chosen.run_queries, chosen.pace = 200, READERS, RUN_QUERIES, 1.0
    if chosen.quick:
        chosen.raters, chosen.readers, chosen.most, chosen.run_queries = 4, 4, 8, 10
        chosen.seconds, chosen.pace = 15.0, 0.2
    print(f"data in {fresh_site.DATA}", flush=True)
    raise SystemExit(options.status(chosen, measure(chosen)))
