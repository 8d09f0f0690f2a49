"""How long it takes from `Ctrl ↵` until a run of the sample is on the page, and what each step costs.

    python benchmarks/short_run.py [--rounds N] [--quick] [--check]

The sample's case of 45 queries, served as `demo` serves it: granian, and a worker, each a process of its own. Each round sends
what the browser sends: the form of the tune pane with another value of a knob, then the polls that the page asks for, at their
times, and when the run has finished the list of queries with one query open. Drawing is not measured; Chromium needs 20 to 60 ms
for it. Medians. Target: the new list arrives at most 400 ms after the form was sent.

The steps: the form (answered by the head of the page), the wait in the queue, searching and scoring, the wait for the next poll
with its answer, the list.
"""

from __future__ import annotations

import re
import sys
import time
from dataclasses import dataclass
from html import unescape
from statistics import median

import fresh_site
import options
import urllib3
from django.db import connection
from django.test import Client
from served_site import served

from relevancy.formats.documents.sample import FIELDS, KNOBS, SECOND_TEMPLATE
from relevancy.management.commands.demo import load_demo
from relevancy.models import Case, Run

TARGET = 400  # milliseconds
ROUNDS, PAUSE = 15, 0.7  # seconds between rounds, as nobody runs without looking
TOKEN = "a" * 32  # the cookie and the header have to agree, no more


@dataclass(frozen=True)
class Steps:
    """Milliseconds of one round. `total`: from sending the form to the last byte of the list; the others are its parts."""

    form: float
    queue: float
    run: float
    poll: float
    list: float
    total: float
    polls: int


class Browser:
    """Sends what the page sends."""

    def __init__(self, address: str, case: Case) -> None:
        client = Client()
        client.force_login(case.owner)
        self._address = address
        self._pool = urllib3.PoolManager(1)
        self._headers = {
            "cookie": f"sessionid={client.cookies['sessionid'].value}; csrftoken={TOKEN}",
            "x-csrftoken": TOKEN,
            "hx-request": "true",
            "hx-current-url": f"{address}/cases/{case.pk}/",
        }

    def send(
        self, method: str, path: str, target: str, fields: dict[str, str] | None = None
    ) -> urllib3.BaseHTTPResponse:
        headers = {**self._headers, "hx-target": target}
        more = {"fields": fields, "encode_multipart": False} if fields else {}
        response = self._pool.request(method, self._address + path, headers=headers, retries=False, **more)
        assert response.status == 200, (response.status, response.data[:500])
        return response


def head_of(response: urllib3.BaseHTTPResponse) -> dict[str, str]:
    """Returns the attributes of the head of the page, which say when and where it polls."""
    match = re.search(r'<div\s[^>]*id="case-score"[^>]*>', response.data.decode())
    assert match, response.data[:500]
    return {name: unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', match[0])}


def seconds_until_poll(trigger: str) -> float:
    """Returns when the page asks again, from its `hx-trigger`: "load delay:150ms, every 1s" or "every 1s"."""
    delay = re.search(r"delay:(\d+)ms", trigger)
    return int(delay[1]) / 1000 if delay else 1.0


def one_round(browser: Browser, case: Case, number: int) -> Steps:
    """Runs an attempt with another knob, and follows the run as the page does."""
    newest = case.attempts.first()
    opened = case.case_queries.order_by("position")[1]
    assert newest is not None
    knobs = {f"knob.{name}": str(value) for name, value in {**KNOBS, "title_boost": 4 + number / 100}.items()}
    form = {"parent": str(newest.number), "template": SECOND_TEMPLATE, "endpoint": str(newest.endpoint_id)}
    form |= {"fields": FIELDS, "depth": "10", "name": "", "escape": "1"}
    connection.close()
    started_at = time.time()
    response = browser.send("POST", f"/cases/{case.pk}/run/", "tune", form | knobs)
    answered, polls = time.time(), 0
    head = head_of(response)
    while True:
        time.sleep(seconds_until_poll(head["hx-trigger"]))
        response = browser.send("GET", head["hx-get"], "case-score")
        polls += 1
        if "run-finished" in response.headers.get("HX-Trigger", ""):
            break
        head = head_of(response)
    seen = time.time()
    browser.send("GET", f"/cases/{case.pk}/?open={opened.pk}", "queries")
    ended = time.time()
    run = Run.objects.filter(case=case).first()
    assert run is not None and run.started_at and run.finished_at
    assert run.status == Run.Status.COMPLETE, run.reason
    created, started, finished = (at.timestamp() for at in (run.created_at, run.started_at, run.finished_at))
    times = (
        answered - started_at,
        started - created,
        finished - started,
        seen - finished,
        ended - seen,
        ended - started_at,
    )
    return Steps(*(1000 * seconds for seconds in times), polls)


def measure(rounds: int) -> bool:
    """Prints the medians; returns whether the target is met."""
    case = load_demo()
    with served() as address:
        browser = Browser(address, case)
        for number in range(3):  # every web process and the worker have opened their database
            one_round(browser, case, number)
        polls = []
        for number in range(rounds):
            time.sleep(PAUSE + number * 0.013)  # at any moment of the worker's interval
            polls.append(one_round(browser, case, 3 + number))
    queries = case.case_queries.present().count()
    print(f"{connection.vendor}: a run of {queries} queries of the sample, {rounds} times; films of the sample")
    for name in ("form", "queue", "run", "poll", "list", "total"):
        values = sorted(getattr(steps, name) for steps in polls)
        print(f"  {name:6} {median(values):7.0f} ms   ({values[0]:.0f} to {values[-1]:.0f})")
    print(f"  polls  {median(steps.polls for steps in polls):7.0f}")
    total = median(steps.total for steps in polls)
    return options.verdict(total <= TARGET, f"at most {TARGET} ms, it is {total:.0f}")


if __name__ == "__main__":
    line = options.parser(__doc__, 0)
    line.add_argument("--rounds", type=int, default=ROUNDS, help=f"{ROUNDS} unless given")
    chosen = line.parse_args()
    print(f"data in {fresh_site.DATA}", flush=True)
    sys.exit(options.status(chosen, measure(3 if chosen.quick else chosen.rounds)))
