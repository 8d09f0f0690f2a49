"""Measures scripts in the sandbox: queries per second in the child and in total, the time of a first script, and mapper scripts.

    python benchmarks/sandbox.py [--queries N]

Data: generated from a fixed seed: 10 results per query with three displayed fields, 20 rated documents, scale 0–3. "In
the child" is the processor time of the child process: reading the pipe, JSON, the scripts, garbage collection, answers.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from pathlib import Path
from statistics import median

from relevancy import sandbox
from relevancy.sandbox.pool import POOL

ROUNDS = 5
RESULTS, RATED = 10, 20
MAPPED = 50  # documents in a response
MAPPER = """
numberOfResultsMapper = function (data) { return data.total; };
docsMapper = function (data) {
  return data.results.map(function (result) { return { id: result.sku, title: result.name, text: result.text }; });
};
"""
DEFAULT = "var mean = avgRating100(10); setScore(mean === null ? null : mean - editDistanceFromBest(10));"
NDCG = """
const k = 10;
let sum = 0, ideal = 0;
eachDoc(function (doc, i) { sum += (Math.pow(2, hasDocRating(i) ? docRating(i) : 0) - 1) / Math.log2(i + 2); }, k);
topRatings(k).forEach(function (grade, i) { ideal += (Math.pow(2, grade) - 1) / Math.log2(i + 2); });
setScore(100 * sum / ideal);
"""


def generate(count: int) -> list[sandbox.ScriptQuery]:
    generator = random.Random(4)
    queries = []
    for number in range(count):
        ids = [f"doc-{generator.randrange(10**6):06d}-{index}" for index in range(RESULTS + RATED)]
        docs = [{"id": id, "title": f"A product called {id}", "brand": "Acme", "price": 9.5} for id in ids[:RESULTS]]
        grades = {id: generator.choice((0, 1, 2, 3)) for id in generator.sample(ids, RATED)}
        ratings = [grades.get(id) for id in ids[:RESULTS]]
        queries.append(sandbox.ScriptQuery(f"query {number}", docs, ratings, grades, 1000))
    return queries


def child_seconds() -> float:
    """The processor time of the children so far."""
    stats = [Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split() for child in POOL.children]
    ticks = sum(int(stat[11]) + int(stat[12]) for stat in stats)  # user and system
    return ticks / os.sysconf("SC_CLK_TCK")


def time_script(script: str, queries: list[sandbox.ScriptQuery]) -> tuple[float, float]:
    """(elapsed seconds, processor seconds of the child)."""
    child_start, start = child_seconds(), time.perf_counter()
    outcomes = sandbox.score(script, queries, scale=(0, 1, 2, 3), depth=RESULTS)
    elapsed = time.perf_counter() - start
    assert len(outcomes) == len(queries) and not any(outcome.error for outcome in outcomes)
    return elapsed, child_seconds() - child_start


def time_mapper(responses: int) -> float:
    """Returns the seconds for a response of 50 documents of 1 kB, one after the other. Exits if they need more than one process."""
    documents = [{"sku": number, "name": f"Title {number}", "text": "word " * 200} for number in range(MAPPED)]
    response = json.dumps({"total": 1000, "results": documents})
    sandbox.map_response(MAPPER, response)
    start = time.perf_counter()
    for _ in range(responses):
        assert len(sandbox.map_response(MAPPER, response).documents) == MAPPED
    assert len(POOL.children) == 1
    return (time.perf_counter() - start) / responses


def main(count: int) -> None:
    queries = generate(count)
    first_times = []
    for _ in range(ROUNDS):
        sandbox.close()
        first_times.append(time_script("setScore(1)", queries[:1])[0])
    print(f"first script of a process: {median(first_times):.3f} s (start of the child and one query); invented data")
    single = median(time_script("setScore(1)", queries[:1])[0] for _ in range(ROUNDS))
    print(f"one query, child running: {single * 1000:.1f} ms")
    for name, script in (("default scorer", DEFAULT), ("nDCG", NDCG)):
        rounds = [time_script(script, queries) for _ in range(ROUNDS)]
        elapsed, in_child = median(pair[0] for pair in rounds), median(pair[1] for pair in rounds)
        print(
            f"{name}, {count:,} queries × {RESULTS} results: in the child {in_child:.3f} s = {count / in_child:,.0f} queries "
            f"per second; in total {elapsed:.3f} s = {count / elapsed:,.0f} queries per second"
        )
    seconds = time_mapper(min(count, 300))
    print(f"mapper, {MAPPED} documents of 1 kB: {seconds * 1000:.1f} ms a response, in one process")
    sandbox.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=10_000)
    main(parser.parse_args().queries)
