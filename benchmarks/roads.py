"""How much of the product a request passes through: the functions, files and SQL statements of four common requests.

    python benchmarks/roads.py [--functions ROAD]

Counted by a profiler (`sys.setprofile`): calls of Python functions inside `relevancy/`, in this thread; files are modules with at
least one of them. Statements are those of the database without savepoints and transactions. Every road is walked twice
before it is counted, so that what a process does once is not part of it. `--functions` lists the functions of a road by file.

The roads: rating one result of a case of three queries (htmx; its tasks run at once and are counted); the request of a rating alone,
without the task that a worker runs a second later, of which one is in the queue already; importing a ratings CSV of two rows (preview,
import; without tasks); and opening the comparison of two runs whose figures are stored.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import fresh_site
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.http import HttpResponse
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from own_environment import ROOT

from relevancy import cases, endpoints, queries, runs, scorers
from relevancy.models import Case, Run, Scorer, User

PACKAGE = f"{ROOT / 'relevancy'}/"
TEXTS = ("red shoes", "blue shoes", "green hats")
HTMX = {"HX-Request": "true"}
BACKENDS = "django.tasks.backends.immediate.ImmediateBackend", "django.tasks.backends.dummy.DummyBackend"
TARGETS = {  # functions, files, statements, calls; None: no target
    "rate": (180, 45, 20, None),
    "import": (90, 22, 14, None),
    "compare": (None, None, None, 500),
}


@dataclass(frozen=True)
class Road:
    """What one request has passed through. calls: by function; statements: their texts."""

    calls: Counter[CodeType]
    statements: list[str]

    @property
    def files(self) -> set[str]:
        return {code.co_filename for code in self.calls}


def walk(request: Callable[[], HttpResponse], expected_status: int) -> Road:
    """Sends a request and returns what it has passed through."""
    calls: Counter[CodeType] = Counter()

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            calls[frame.f_code] += 1

    with CaptureQueriesContext(connection) as captured:
        sys.setprofile(count)
        try:
            response = request()
        finally:
            sys.setprofile(None)
    assert response.status_code == expected_status, response.content[:2000]
    bookkeeping = ("SAVEPOINT", "RELEASE", "ROLLBACK", "BEGIN", "COMMIT")
    statements = [row["sql"] for row in captured.captured_queries if not row["sql"].startswith(bookkeeping)]
    return Road(calls, statements)


def make_case(by: User) -> Case:
    """A case of three queries with two runs, each of three results to a query."""
    case = cases.create(
        name="Roads", owner=by, scorers=[Scorer.objects.get(name="nDCG@10")], scale=scorers.parse_scale("0:3")
    )
    queries.add(case=case, texts=TEXTS)
    folder = fresh_site.DATA / "static"
    folder.mkdir(exist_ok=True)
    for name, documents in (("first.csv", "abc"), ("second.csv", "bad")):
        rows = [f"{text},{doc_id},{rank}" for text in TEXTS for rank, doc_id in enumerate(documents, 1)]
        (folder / name).write_text("\n".join(["query,docid,position", *rows]) + "\n", encoding="utf-8")
        endpoint = endpoints.create(name=name, engine="static", url=name, by=by)
        attempt = runs.attempts.save(case=case, endpoint=endpoint, template="{}", fields="id:id", by=by)
        run = runs.finish_here(runs.start(attempt=attempt, by=by))
        assert run.status == Run.Status.COMPLETE, run.reason
    return case


def roads() -> dict[str, Road]:
    """Walks each road three times and returns the last walk."""
    by = User.objects.create_superuser("owner@example.com")
    case = make_case(by)
    by.is_superuser = by.is_staff = False
    by.save()
    client = Client(SERVER_NAME="localhost")
    client.force_login(by)
    rated = case.case_queries.present().first()
    grades, rows = cycle("123"), iter((("a", 1), ("b", 2), ("c", 3)))

    def rate() -> HttpResponse:
        # Another grade each time: the same one again would change nothing.
        data = {"doc_id": "a", "value": next(grades)}
        return client.post(f"/cases/{case.pk}/queries/{rated.pk}/rate/?rank=2", data, headers=HTMX)

    def send_file(do: str, doc_id: str, grade: int) -> HttpResponse:
        content = f"query,docid,rating\n{TEXTS[0]},{doc_id},{grade}\n{TEXTS[1]},{doc_id},{grade}\n"
        file = SimpleUploadedFile("ratings.csv", content.encode())
        return client.post(f"/cases/{case.pk}/files/import-ratings/", {"file": file, "do": do})

    def compare() -> HttpResponse:
        return client.get(f"/cases/{case.pk}/compare/?run=1&run=2")

    walks: dict[str, tuple[Callable[[], HttpResponse], int]] = {
        "rate": (rate, 200),
        "request": (rate, 200),
        "preview": (lambda: send_file("preview", "d", 2), 200),
        "import": (lambda: send_file("import", *next(rows)), 302),
        "compare": (compare, 200),
    }
    walked = {}
    for name, (request, status) in walks.items():
        with override_settings(TASKS={"default": {"BACKEND": BACKENDS[name in ("request", "import")]}}):
            walked[name] = [walk(request, status) for _ in range(3)][-1]
    return walked


def show(name: str, road: Road) -> bool:
    """Prints the figures of a road; returns whether its targets are met."""
    figures = len(road.calls), len(road.files), len(road.statements), road.calls.total()
    limits = TARGETS.get(name, (None,) * 4)
    good = all(limit is None or figure <= limit for figure, limit in zip(figures, limits, strict=True))
    wanted = " · ".join("–" if limit is None else str(limit) for limit in limits)
    functions, files, statements, calls = figures
    print(
        f"{name:<8} {functions:4} functions · {files:3} files · {statements:2} statements · {calls:5} calls"
        + (f"   target {wanted}: {'ok' if good else 'MISSED'}" if name in TARGETS else "")
    )
    return good


def list_functions(road: Road) -> None:
    """Prints the functions of a road with their calls, by file, then its statements."""
    for file in sorted(road.files):
        names = sorted((code.co_qualname, calls) for code, calls in road.calls.items() if code.co_filename == file)
        print(f"{Path(file).relative_to(ROOT)}: " + ", ".join(f"{name} {calls}" for name, calls in names))
    for statement in road.statements:
        print(" ", statement[:160])


if __name__ == "__main__":
    line = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    line.add_argument("--functions", metavar="ROAD", help="list the functions and statements of this road")
    line.add_argument("--check", action="store_true", help="end with status 1 where a target is missed")
    chosen = line.parse_args()
    walked = roads()
    if chosen.functions:
        list_functions(walked[chosen.functions])
    missed = [name for name, road in walked.items() if not show(name, road)]
    raise SystemExit(int(chosen.check and bool(missed)))
