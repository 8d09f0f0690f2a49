"""A run of 1,000 queries against a local Solr, next to a bare loop of the same requests with pysolr.

    python benchmarks/solr_run.py [--queries N]

Ours: a run from start to finish as `evaluate` does it: 10 results, 3 displayed fields, 8 requests at once, rankings and
scores of the default scorer stored in SQLite. Theirs: pysolr sending the same parameters from a pool of 8 threads,
storing nothing. Both are warmed up, then take turns; medians of 5. Target: ours takes at most 1.5 times as long.

Data: 19,406 products and 3,668 ratings of 135 queries from `../shared/data/products`, the other queries are words of
titles. Solr is the one of the live tests (`make engines` fetches it).
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.pool import ThreadPool
from pathlib import Path
from statistics import median
from typing import Any

import fresh_site  # noqa: F401 (sets up Django before anything needs it)
import pysolr
from own_environment import ROOT

from relevancy import cases, evaluation, transfer
from relevancy.models import Attempt, Run, User
from tests.live.indexing import make_solr_core
from tests.live.servers import Server, fetched, running

PRODUCTS = ROOT.parent / "shared" / "data" / "products"
TEMPLATE = "q=#$query##&defType=edismax&qf=title^2 short_description supplier&tie=0.1"
FIELDS = "id:id title:title short_description supplier"
SCHEMA = {
    **dict.fromkeys(("name", "short_description"), "text_en"),
    **dict.fromkeys(("date_released", "attr_t_product_colour", "attr_t_product_type"), "string"),
    "supplier": "text_general",
    "price": "pint",
    "ean": "string[]",
}
PARALLEL, ROUNDS = 8, 5


@contextmanager
def solr() -> Iterator[Server]:
    if not fetched("solr"):
        raise SystemExit("Solr is not there: run `make engines` first.")
    home = Path(tempfile.mkdtemp(prefix="relevancy-solr-"))
    try:
        with running("solr", home / "home", "/solr/admin/info/system", {"SOLR_HEAP": "512m"}) as server:
            yield server
    finally:
        shutil.rmtree(home, ignore_errors=True)


def read_products() -> list[dict[str, Any]]:
    if not PRODUCTS.is_dir():
        raise SystemExit(f"The products are not there: {PRODUCTS}")
    with (PRODUCTS / "products.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def queries(products: list[dict[str, Any]], count: int) -> list[str]:
    """The rated queries first, then two or three neighbouring words of a title until there are enough."""
    chance = random.Random(20)
    with (PRODUCTS / "ratings.csv").open(encoding="utf-8", newline="") as rows:
        texts = dict.fromkeys(row["query"].strip() for row in csv.DictReader(rows))
    while len(texts) < count:
        words = re.findall(r"[A-Za-z]{3,}", chance.choice(products).get("title", ""))
        if len(words) >= 4:
            begin = chance.randrange(len(words) - 3)
            texts[" ".join(words[begin : begin + chance.choice((2, 3))]).lower()] = None
    return list(texts)[:count]


def make_attempt(url: str, texts: list[str]) -> Attempt:
    by = User.objects.create_superuser("benchmark@example.com")
    endpoint = cases.endpoints.create(name="solr", engine="solr", url=url, by=by, parallel=PARALLEL)
    case = cases.create(name="Products", owner=by, scale=cases.parse_scale("0:3"))
    attempt = cases.attempts.save(case=case, endpoint=endpoint, template=TEMPLATE, fields=FIELDS, by=by)
    cases.queries.add(case=case, texts=texts)
    ratings = (PRODUCTS / "ratings.csv").read_text(encoding="utf-8")
    transfer.ratings_csv.import_ratings(case=case, text=ratings, by=by)
    return attempt


def parameters(attempt: Attempt) -> list[dict[str, str]]:
    """What a run of the attempt sends for each query."""
    run = evaluation.start(attempt=attempt, by=attempt.created_by)
    evaluation.cancel(run=run)
    asker = evaluation.Asker(run.asked, run.rows)
    entries = attempt.case.case_queries.present().select_related("query")
    with evaluation.connect(attempt.endpoint) as engine:
        return [dict(engine.render(request)["params"]) for request in asker.requests(entries)]


def ours(attempt: Attempt) -> Run:
    run = evaluation.finish_here(evaluation.start(attempt=attempt, by=attempt.created_by))
    assert run.status == Run.Status.COMPLETE, run.reason
    return run


def theirs(url: str, sent: list[dict[str, str]]) -> int:
    client = pysolr.Solr(url, timeout=30)

    def ask(params: dict[str, str]) -> int:
        rest = {name: value for name, value in params.items() if name != "q"}
        return len(client.search(params["q"], **rest).docs)

    with ThreadPool(PARALLEL) as pool:
        return sum(pool.imap_unordered(ask, sent))


def compare(url: str, attempt: Attempt) -> float:
    sent = parameters(attempt)
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    cpu: dict[str, list[float]] = {"ours": [], "theirs": []}
    for turn in range(ROUNDS + 1):
        for name, work in (("theirs", lambda: theirs(url, sent)), ("ours", lambda: ours(attempt))):
            wall, used = time.perf_counter(), time.process_time()
            done = work()
            if turn:  # the first turn of both warms up
                times[name].append(time.perf_counter() - wall)
                cpu[name].append(time.process_time() - used)
            if name == "theirs":
                hits = done
            else:
                stored = sum(done.rankings.values_list("returned", flat=True))
                assert stored == hits, f"{stored} hits were stored, {hits} came back to pysolr"
    ratio = median(times["ours"]) / median(times["theirs"])
    score = run_score(done)
    print(f"{len(sent):,} queries, {hits:,} results, {PARALLEL} requests at once (medians of {ROUNDS}); {score}")
    for name, label in (("theirs", "pysolr, storing nothing"), ("ours", "a run, stored and scored")):
        each = " ".join(f"{value:.2f}" for value in times[name])
        print(f"  {label:<26} {median(times[name]):6.2f} s   CPU {median(cpu[name]):5.2f} s   ({each})")
    print(f"  ratio {ratio:.2f}, at most 1.5 wanted: {'ok' if ratio <= 1.5 else 'MISSED'}")
    return ratio


def run_score(run: Run) -> str:
    row = run.case_scores.select_related("version__scorer").get()
    return f"{row.version.scorer.name} {row.score:.1f}, {row.scored} scored"


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--queries", type=int, default=1000)
    chosen = arguments.parse_args()
    products = read_products()
    with solr() as server:
        core = make_solr_core(server, "products", products, SCHEMA)
        ratio = compare(core, make_attempt(core, queries(products, chosen.queries)))
    raise SystemExit(ratio > 1.5)
