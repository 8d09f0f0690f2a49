"""Compares scoring with pytrec_eval, and measures the cost of score ranges and of a single query.

    python benchmarks/scoring.py [--queries N] [--quick]

Data: generated from a fixed seed. Each query has 100 results from 100,000 documents and 50 judged documents (grades 0 to
3), 35 of them among the results. Ids in judgments and runs are separate string objects, as when read from two files.
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

from relevancy.scoring import Batch, Measure, Scale, evaluate, give_reasons, parse_measure, score, show_working

ROUNDS = 5
RESULTS, JUDGED, JUDGED_RESULTS, DOCUMENTS = 100, 50, 35, 100_000
SINGLE_REPEATS = 200


def document_id(number: int) -> str:
    return f"doc-{number:06d}"


def generate(queries: int) -> tuple[dict[str, dict[str, int]], dict[str, list[str]], dict[str, dict[str, float]]]:
    """Judgments, the run in rank order, and the same run as engine scores in random order."""
    generator = random.Random(20)
    qrels, rankings, engine_scores = {}, {}, {}
    for query in (f"q{number}" for number in range(queries)):
        results = generator.sample(range(DOCUMENTS), RESULTS)
        others = generator.sample(range(DOCUMENTS), JUDGED - JUDGED_RESULTS)
        judged = generator.sample(results, JUDGED_RESULTS) + others
        qrels[query] = {document_id(number): generator.choice((0, 0, 1, 2, 3)) for number in judged}
        rankings[query] = [document_id(number) for number in results]
        pairs = [(document_id(number), 1 / (rank + 2)) for rank, number in enumerate(results)]
        generator.shuffle(pairs)
        engine_scores[query] = dict(pairs)
    return qrels, rankings, engine_scores


def median_seconds(function: Callable[[], object]) -> float:
    """Median of five calls."""
    times = []
    for _ in range(ROUNDS):
        gc.collect()
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return median(times)


def compare_with_pytrec_eval(queries: int) -> None:
    qrels, rankings, engine_scores = generate(queries)
    measures = {"nDCG(gain='linear')@10": "ndcg_cut_10", "AP": "map"}

    def evaluate_by_pytrec_eval() -> dict[str, dict[str, float]]:
        return pytrec_eval.RelevanceEvaluator(qrels, set(measures.values())).evaluate(engine_scores)

    expected = evaluate_by_pytrec_eval()
    for run in (rankings, engine_scores):
        values = evaluate(list(measures), qrels, run)
        for measure, key in measures.items():
            for query, value in values[measure].items():
                assert abs((value or 0.0) - expected[query][key]) < 1e-9, (measure, query)

    theirs = median_seconds(evaluate_by_pytrec_eval)
    print(f"nDCG@10 and AP, {queries:,} queries × {RESULTS} results (medians of {ROUNDS}); invented data")
    print(f"  pytrec_eval, constructor and evaluation   {theirs * 1000:8.1f} ms")
    for label, run in (("lists in rank order", rankings), ("dicts of scores", engine_scores)):
        ours = median_seconds(lambda run=run: evaluate(("nDCG@10", "AP"), qrels, run))
        print(f"  evaluate(), {label:<29} {ours * 1000:8.1f} ms   {theirs / ours:.2f} times as fast")


def measure_bounds(queries: int, results: int) -> None:
    generator = np.random.default_rng(20)
    rankings = [[f"d{rank}" for rank in range(results)]] * queries
    known = []
    for grades, is_rated in zip(
        generator.integers(0, 4, size=(queries, results + 20)).tolist(),
        (generator.random((queries, results + 20)) >= [0.4] * results + [0.0] * 20).tolist(),
        strict=True,
    ):
        known.append({f"d{number}": grade for number, grade in enumerate(grades) if is_rated[number]})
    batch = Batch.build(rankings, known, Scale.parse("0:3"))
    print(f"scores of {queries:,} queries × {results} results, 40 % unrated: without → with bounds")
    for text in ("nDCG@10", "AP@10", "P@10", "ERR@10", "Bpref", "AvgEdit@10"):
        measure = parse_measure(text)
        without = median_seconds(lambda measure=measure: score(measure, batch, results, bounds=False))
        full = median_seconds(lambda measure=measure: score(measure, batch, results))
        print(f"  {text:<12} {without * 1000:8.1f} ms → {full * 1000:8.1f} ms")
    single = batch.rows(0, 1)
    print("a single query, as after a rating: scores · reasons · working")
    for text in ("AvgEdit", "nDCG@10", "P@10"):
        measure_single_query(parse_measure(text), single, results)


def measure_single_query(measure: Measure, batch: Batch, depth: int) -> None:
    steps = (
        lambda: score(measure, batch, depth, ideal=True),
        lambda: give_reasons(measure, batch, depth),
        lambda: show_working(measure, batch, depth),
    )
    times = [median_seconds(lambda step=step: [step() for _ in range(SINGLE_REPEATS)]) for step in steps]
    print(f"  {measure!s:<12} " + " · ".join(f"{seconds / SINGLE_REPEATS * 1e6:6.0f} µs" for seconds in times))


if __name__ == "__main__":
    arguments = options.read(options.parser(__doc__, 10_000), quick=200, rounds=ROUNDS)
    compare_with_pytrec_eval(arguments.queries)
    measure_bounds(min(arguments.queries, 5_000), 10)
