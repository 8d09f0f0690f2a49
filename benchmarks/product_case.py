"""A case of products on a real engine, and a run of it next to a bare loop of the engine's own client.

Data: 19,406 products and 3,668 ratings of 135 queries from `../shared/data/products`, the other queries are words of
titles; without that folder, documents, queries and ratings are invented.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.pool import ThreadPool
from pathlib import Path
from statistics import median
from typing import Any

import fresh_site  # noqa: F401 (sets up Django before anything needs it)
import invented
from own_environment import ROOT

from relevancy import cases, endpoints, queries, runs, scorers
from relevancy.formats.ratings import ratings_import
from relevancy.models import Attempt, Run, User
from tests.live.servers import Server, fetched, running

PRODUCTS = ROOT.parent / "shared" / "data" / "products"
FIELDS = "id:id title:title short_description supplier"
PARALLEL = 8
WARM_UP = 3  # turns of each side: the engine compiles what is executed often
FEW = 2000  # documents of a quick run


@dataclass(frozen=True)
class Material:
    """Documents, query texts, and ratings as CSV; `source`: where they come from, which every result names."""

    documents: list[dict[str, Any]]
    texts: list[str]
    ratings: str
    source: str


def material(count: int, *, quick: bool = False) -> Material:
    """Returns what is indexed, searched for (`count` queries, the rated ones first) and rated."""
    if not PRODUCTS.is_dir():
        print(f"{PRODUCTS} is not there: documents, queries and ratings are invented.")
        texts = invented.query_texts(count)
        rated = [
            {"query": text, "docid": doc_id, "rating": f"{grade:g}"}
            for text, grades in invented.query_grades(texts).items()
            for doc_id, grade in grades.items()
        ]
        numbers = range(FEW if quick else invented.DOCUMENTS)
        documents = [invented.document(number) for number in numbers]
        return Material(documents, texts, _as_csv(rated, texts), "invented data")
    with (PRODUCTS / "products.jsonl").open(encoding="utf-8") as lines:
        products = [json.loads(line) for line in lines]
    with (PRODUCTS / "ratings.csv").open(encoding="utf-8", newline="") as rows:
        rated = list(csv.DictReader(rows))
    texts = _texts(products, [row["query"] for row in rated], count)
    documents = products[:FEW] if quick else products
    return Material(documents, texts, _as_csv(rated, texts), "real products, most queries are words of their titles")


def _texts(products: list[dict[str, Any]], rated: list[str], count: int) -> list[str]:
    chance = random.Random(20)
    texts = dict.fromkeys(text.strip() for text in rated)
    while len(texts) < count:
        words = re.findall(r"[A-Za-z]{3,}", chance.choice(products).get("title", ""))
        if len(words) >= 4:
            begin = chance.randrange(len(words) - 3)
            texts[" ".join(words[begin : begin + chance.choice((2, 3))]).lower()] = None
    return list(texts)[:count]


def _as_csv(rated: list[dict[str, str]], texts: list[str]) -> str:
    """The ratings of these queries: importing others would add theirs to the case."""
    wanted, out = set(texts), io.StringIO()
    rows = csv.writer(out)
    rows.writerow(("query", "docid", "rating"))
    rows.writerows((row["query"], row["docid"], row["rating"]) for row in rated if row["query"].strip() in wanted)
    return out.getvalue()


@contextmanager
def engine(name: str, ready: str, environment: Mapping[str, str]) -> Iterator[Server]:
    """A real engine of the live tests, with its files in a temporary folder."""
    if not fetched(name):
        raise SystemExit(f"{name} is not there: run `make engines` first.")
    home = Path(tempfile.mkdtemp(prefix=f"relevancy-{name}-"))
    home.chmod(0o755)  # as root, Elasticsearch runs as another user
    try:
        with running(name, home / "home", ready, dict(environment)) as server:
            yield server
    finally:
        shutil.rmtree(home, ignore_errors=True)


def make_attempt(kind: str, url: str, template: str, given: Material) -> Attempt:
    """A case of its own with these queries and ratings, and its attempt on the engine."""
    by = User.objects.filter(email="benchmark@example.com").first()
    by = by or User.objects.create_superuser("benchmark@example.com")
    endpoint = endpoints.create(name=kind, engine=kind, url=url, by=by, parallel=PARALLEL)
    case = cases.create(name=f"Products on {kind}", owner=by, scale=scorers.parse_scale("0:3"))
    attempt = runs.attempts.save(case=case, endpoint=endpoint, template=template, fields=FIELDS, by=by)
    queries.add(case=case, texts=given.texts)
    source = ratings_import.open_source(case=case, file=io.BytesIO(given.ratings.encode()), format="csv")
    ratings_import.import_ratings(case=case, source=source, by=by)
    return attempt


def rendered(attempt: Attempt, part: str) -> list[dict[str, Any]]:
    """What a run of the attempt sends for each query: `params` for Solr, `body` for the others."""
    run = runs.start(attempt=attempt, by=attempt.created_by)
    runs.cancel(run=run)
    builder = runs.RequestBuilder(run.config, run.rows)
    case_queries = attempt.case.case_queries.present().select_related("query")
    with endpoints.connect(attempt.endpoint) as connected:
        return [dict(connected.render(request)[part]) for request in builder.requests(case_queries)]


def whole_run(attempt: Attempt) -> Run:
    """A run from start to finish: searched, stored, scored."""
    run = runs.finish_here(runs.start(attempt=attempt, by=attempt.created_by))
    assert run.status == Run.Status.COMPLETE, run.reason
    return run


def loop(ask: Callable[[dict[str, Any]], int], sent: list[dict[str, Any]]) -> int:
    """Sends each request separately from a pool of threads; `ask` returns how many hits came back."""
    with ThreadPool(PARALLEL) as pool:
        return sum(pool.imap_unordered(ask, sent))


@dataclass(frozen=True)
class Cost:
    """Seconds of one turn: on the clock, of CPU in this process, and of CPU in the engine."""

    wall: float
    own: float
    engine: float

    @property
    def cpu(self) -> float:
        """Of both processes."""
        return self.own + self.engine


def measure(work: Callable[[], Any], server: Server) -> Cost:
    """Returns what a call costs."""
    wall, own, engine = time.perf_counter(), time.process_time(), server.cpu_seconds()
    work()
    return Cost(time.perf_counter() - wall, time.process_time() - own, server.cpu_seconds() - engine)


def compare(
    attempt: Attempt, client: str, bare: Callable[[], int], server: Server, rounds: int, source: str
) -> tuple[float, float]:
    """Both sides take turns, after turns to warm up. Prints the medians; returns ours divided by theirs: the median of the ratios of
    each pair of turns, of the time on the clock and of the CPU time of both processes.

    `bare` returns how many hits came back, which is how many the run must have stored. `source`: of the data.
    """
    costs: dict[str, list[Cost]] = {"theirs": [], "ours": []}
    works: dict[str, Callable[[], Any]] = {"theirs": bare, "ours": lambda: whole_run(attempt)}
    for _ in range(min(WARM_UP, rounds)):
        run, hits = whole_run(attempt), bare()
    for number in range(rounds):
        for name in costs if number % 2 else reversed(costs):
            costs[name].append(measure(works[name], server))
        run = attempt.runs.latest("number")
        stored = sum(run.rankings.values_list("returned", flat=True))
        assert stored == hits, f"{stored} hits were stored, {hits} came back to {client}"
    row = run.case_scores.select_related("version__scorer").get()
    print(
        f"{run.version}, {run.queries:,} queries, {hits:,} results, {PARALLEL} requests at once (medians of {rounds}); "
        f"{row.version.scorer.name} {row.score or 0:.1f}, {row.scored} scored; {source}; load {os.getloadavg()[0]:.1f}"
    )
    for name, label in (("theirs", f"{client}, storing nothing"), ("ours", "a run, stored and scored")):
        listed = " ".join(f"{cost.wall:.2f}" for cost in costs[name])
        wall, own, engine = (median(getattr(cost, part) for cost in costs[name]) for part in ("wall", "own", "engine"))
        print(f"  {label:<33} {wall:6.2f} s   CPU {own:5.2f} s, of the engine {engine:5.2f} s   ({listed})")
    pairs = list(zip(costs["ours"], costs["theirs"], strict=True))
    return median(ours.wall / theirs.wall for ours, theirs in pairs), median(
        ours.cpu / theirs.cpu for ours, theirs in pairs
    )
