"""Scoring against pytrec_eval, and the cost of bounds. Prints both sides of every ratio from one run.

    python benchmarks/scoring.py [--queries N] [--quick]

Data: synthetic, from a fixed seed. Per query 100 results out of 100,000 documents and 50 judged documents (grades 0–3),
35 of them among the results. Ids in judgements and runs are separate string objects, as when read from two files.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import options
import pytrec_eval

from relevancy.scoring import Batch, Scale, evaluate, parse_measure, score

ROUNDS = 5
RESULTS, JUDGED, JUDGED_AND_FOUND, DOCUMENTS = 100, 50, 35, 100_000


def name(number: int) -> str:
    return f"doc-{number:06d}"


def synthetic(
    queries: int,
) -> tuple[dict[str, dict[str, int]], dict[str, list[str]], dict[str, dict[str, float]]]:
    """Judgements, the run in rank order, and the same run with engine scores in no order."""
    chance = random.Random(20)
    qrels, lists, scored = {}, {}, {}
    for query in (f"q{number}" for number in range(queries)):
        found = chance.sample(range(DOCUMENTS), RESULTS)
        judged = chance.sample(found, JUDGED_AND_FOUND) + chance.sample(range(DOCUMENTS), JUDGED - JUDGED_AND_FOUND)
        qrels[query] = {name(number): chance.choice((0, 0, 1, 2, 3)) for number in judged}
        lists[query] = [name(number) for number in found]
        pairs = [(name(number), 1 / (rank + 2)) for rank, number in enumerate(found)]
        chance.shuffle(pairs)
        scored[query] = dict(pairs)
    return qrels, lists, scored


def seconds(work: Callable[[], object]) -> float:
    """Median of five."""
    times = []
    for _ in range(ROUNDS):
        gc.collect()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return median(times)


def against_pytrec_eval(queries: int) -> None:
    qrels, lists, scored = synthetic(queries)
    ours = ("nDCG(gain='linear')@10", "AP")

    def theirs() -> dict[str, dict[str, float]]:
        return pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut_10", "map"}).evaluate(scored)

    reference = theirs()
    for run in (lists, scored):
        found = evaluate(ours, qrels, run)
        for measure, key in zip(ours, ("ndcg_cut_10", "map"), strict=True):
            for query, value in found[measure].items():
                assert abs((value or 0.0) - reference[query][key]) < 1e-9, (measure, query)

    other = seconds(theirs)
    print(f"nDCG@10 and AP, {queries:,} queries × {RESULTS} results (medians of {ROUNDS})")
    print(f"  pytrec_eval, constructor and evaluation   {other * 1000:8.1f} ms")
    for label, run in (("lists in rank order", lists), ("dicts of scores", scored)):
        mine = seconds(lambda run=run: evaluate(("nDCG@10", "AP"), qrels, run))
        print(f"  evaluate(), {label:<29} {mine * 1000:8.1f} ms   {other / mine:.2f} times as fast")


def cost_of_bounds(queries: int, results: int) -> None:
    chance = np.random.default_rng(20)
    grades = chance.integers(0, 4, size=(queries, results)).astype(object)
    grades[chance.random((queries, results)) < 0.4] = None
    extra = chance.integers(0, 4, size=(queries, 20)).tolist()
    batch = Batch.from_grades(grades.tolist(), Scale.parse("0:3"), extra)
    one = batch.rows(0, 1)
    print(
        f"bounds, {queries:,} queries × {results} results, 40 % unrated: without → with bounds; one query with bounds"
    )
    for text in ("nDCG@10", "AP@10", "P@10", "ERR@10", "Bpref", "AvgEdit@10"):
        measure = parse_measure(text)
        bare = seconds(lambda measure=measure: score(measure, batch, results, bounds=False))
        full = seconds(lambda measure=measure: score(measure, batch, results))
        single = seconds(lambda measure=measure: score(measure, one, results))
        print(f"  {text:<12} {bare * 1000:8.1f} ms → {full * 1000:8.1f} ms; {single * 1000:6.2f} ms")


if __name__ == "__main__":
    said = options.read(options.parser(__doc__, 10_000), quick=200, rounds=ROUNDS)
    against_pytrec_eval(said.queries)
    cost_of_bounds(min(said.queries, 5_000), 10)
