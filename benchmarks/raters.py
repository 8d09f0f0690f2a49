"""How long a rater waits when 20 rate at once, compared with one alone: a case of 5,000 queries, served as `demo` serves it.

    python benchmarks/raters.py [--postgres URL] [--queries N] [--seconds S] [--quick] [--check]

Granian with 2 processes of 4 threads, and a worker, are separate processes. Every rater is an account with a session and a connection
of its own, rates the ten results of one query after another by the page's htmx request, and no two of them rate the same query. After a
pause, the page asks for the new score of the case, as its head does. Three loads: one rater alone; 20 at once, each with a rating every
second on average, which is as fast as people read (the pauses are even between 0.5 and 1.5 s); and 20 that rate again as soon as they
have the response, which people do not do. Target: at 20 people's pace, the 95th percentile is at most 3 times that of one alone.

SQLite in a file; with --postgres also a separate database on that server (postgresql://USER:PASSWORD@HOST:PORT/NAME). The
raters' threads run on the same cores as everything else.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import quantiles
from typing import Any

import fresh_site
import options
import urllib3
from django.db import connection
from django.test import Client
from invented import query_texts
from large_case import make_case
from served_site import served

from relevancy import cases, teams
from relevancy.models import Case, Role, User, read_doc_ids
from relevancy.scores import MAX_SUMMED

RATERS, TIMES = 20, 3
HEAD_DELAY, LARGE_HEAD_DELAY = 0.2, 10.0  # seconds, as `RunHeader.rated_trigger` has them
ALONE = 0.1  # seconds between two ratings of a single rater
TOKEN = "a" * 32  # it only has to be the same in the cookie and the header


@dataclass(frozen=True)
class Rater:
    """A signed-in rater: headers of each request, the URL of the head of the page, the seconds after which the page asks for it, and
    what is left to rate, as (URL, document)."""

    headers: dict[str, str]
    head: str
    head_delay: float
    work: Iterator[tuple[str, str]]


def make_raters(case: Case, count: int) -> list[Rater]:
    """Members of a team with which the case is shared; each has a part of the queries."""
    team = teams.create(name="Raters", by=case.owner)
    cases.share(case=case, team=team)
    run = case.runs.first()
    assert run is not None
    case_queries = dict(case.case_queries.present().values_list("query_id", "pk"))
    lists = [
        (f"/cases/{case.pk}/queries/{case_queries[ranking.query_id]}/rate/", ranking.doc_ids)
        for ranking in read_doc_ids(list(run.rankings.order_by("query_id")))
    ]
    delay = LARGE_HEAD_DELAY if run.queries > MAX_SUMMED else HEAD_DELAY
    raters = []
    for number in range(count):
        user = User.objects.create_user(f"rater-{number}@example.com", None, name=f"Rater {number}")
        teams.add_member(team=team, email=user.email, role=Role.RATER)
        client = Client()
        client.force_login(user)
        cookies = f"sessionid={client.cookies['sessionid'].value}; csrftoken={TOKEN}"
        headers = {"cookie": cookies, "x-csrftoken": TOKEN, "hx-request": "true"}
        raters.append(Rater(headers, f"/cases/{case.pk}/state/?only=head", delay, _work(lists[number::count])))
    return raters


def _work(lists: list[tuple[str, list[str]]]) -> Iterator[tuple[str, str]]:
    while True:  # at the end, begin again with other grades
        for address, doc_ids in lists:
            for rank, doc_id in enumerate(doc_ids, 1):
                yield f"{address}?rank={rank}", doc_id


def rate(address: str, rater: Rater, until: float, pause: Callable[[], float], times: list[float]) -> None:
    """Rate until the time is over. The first answer opens the connection and is not counted."""
    with urllib3.PoolManager(1) as pool:
        time.sleep(pause())
        counts = False
        while time.perf_counter() < until:
            target, doc_id = next(rater.work)
            begun = time.perf_counter()
            answer = pool.request(
                "POST",
                address + target,
                fields={"doc_id": doc_id, "value": str(random.randrange(4))},
                encode_multipart=False,
                headers=rater.headers,
                retries=False,
            )
            took = time.perf_counter() - begun
            assert answer.status == 200 and doc_id.encode() in answer.data, (answer.status, answer.data[:500])
            if counts:
                times.append(took)
            counts = True
            wait = pause()
            if wait > rater.head_delay:  # the page asks for the score of the case when no other rating has followed
                time.sleep(rater.head_delay)
                head = pool.request("GET", address + rater.head, headers=rater.headers, retries=False)
                assert head.status == 200, head.data[:500]
                wait -= rater.head_delay
            time.sleep(wait)


def load(address: str, raters: list[Rater], seconds: float, pause: Callable[[], float]) -> list[float]:
    """How long each rating took, in milliseconds."""
    times: list[float] = []
    failed: list[BaseException] = []

    def go(rater: Rater) -> None:
        try:
            rate(address, rater, until, pause, times)
        except BaseException as error:
            failed.append(error)

    until = time.perf_counter() + seconds
    threads = [threading.Thread(target=go, args=(rater,)) for rater in raters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return [duration * 1000 for duration in times]


def say(label: str, times: list[float], seconds: float, what: str = "ratings") -> float:
    """One line; returns the 95th percentile."""
    if len(times) < 2:
        raise SystemExit(f"{label}: {len(times)} {what} were answered. Give the benchmark more --seconds.")
    cuts = quantiles(times, n=100)
    print(
        f"  {label:<34} {len(times):6,} {what}, {len(times) / seconds:5.1f} a second   "
        f"p50 {cuts[49]:7.1f} ms   p95 {cuts[94]:7.1f} ms   p99 {cuts[98]:7.1f} ms",
        flush=True,
    )
    return cuts[94]


def measure(chosen: Any) -> bool:
    """All three loads, the first of them again at the end: the machine may have changed meanwhile."""
    by = User.objects.create_superuser("owner@example.com")
    case = make_case("large", query_texts(chosen.queries), by)
    raters = make_raters(case, RATERS)
    print(f"{connection.vendor}: {RATERS} raters, a case of {chosen.queries:,} queries; invented data")
    if connection.vendor == "postgresql":
        connection.cursor().execute("ANALYZE")  # as autovacuum does within a minute
    connection.close()
    with served() as address:
        load(address, raters, chosen.seconds / 4, lambda: 0.0)  # warm up: every thread has a database connection
        before = load(address, raters[:1], chosen.seconds / 2, lambda: ALONE)
        at_pace = load(address, raters, chosen.seconds, lambda: random.uniform(0.5, 1.5))
        after = load(address, raters[:1], chosen.seconds / 2, lambda: ALONE)
        at_once = load(address, raters, chosen.seconds / 2, lambda: 0.0)
    one = say("one alone", before + after, chosen.seconds)
    many = say("20, one rating a second each", at_pace, chosen.seconds)
    most = say("20 without a pause", at_once, chosen.seconds / 2)
    print(f"  20 without a pause: p95 {most / one:.2f} times that of one alone")
    return options.verdict(many <= TIMES * one, f"p95 at most {TIMES} times that of one alone, it is {many / one:.2f}")


if __name__ == "__main__":
    line = options.parser(__doc__, 5000)
    line.add_argument("--postgres", metavar="URL", default="")
    line.add_argument("--seconds", type=float, default=40, help="how long 20 raters rate; 40 unless given")
    chosen = options.read(line, quick=40)
    chosen.seconds = 4.0 if chosen.quick else chosen.seconds
    print(f"data in {fresh_site.DATA}", flush=True)
    good = measure(chosen)
    if chosen.postgres:
        # Django takes its database from the environment, once.
        again = [sys.executable, __file__, f"--queries={chosen.queries}", f"--seconds={chosen.seconds}", "--check"]
        environment_there = {**os.environ, "RELEVANCY_DATABASE_URL": chosen.postgres}
        done = subprocess.run(again, env=environment_there, check=False).returncode
        if done > 1:
            raise SystemExit(done)
        good &= done == 0
    raise SystemExit(options.status(chosen, good))
