"""The values of pytrec_eval and ir-measures: the median of three new processes.

pytrec_eval sometimes gives a wrong value for one query, most often in a process that evaluated something before (issue 57 of
cvangysel/pytrec_eval); ir-measures, which calls it several times, inherits that.
"""

import multiprocessing
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from statistics import median
from typing import Any

import ir_measures
import pytrec_eval
from ir_measures.measures import Measure

type Qrels = dict[str, dict[str, int]]
type Rankings = dict[str, dict[str, float]]


def evaluate_by_pytrec_eval(
    qrels: Qrels, run: Rankings, measures: set[str], level: int = 1, judged_only: bool = False
) -> dict[str, dict[str, float]]:
    """The value of each measure (inner key) for each query (outer key)."""
    values: dict[str, dict[str, float]] = {}
    for (query, measure), value in _medians(_pytrec_eval, qrels, run, measures, level, judged_only).items():
        values.setdefault(query, {})[measure] = value
    return values


def evaluate_by_ir_measures(measures: Iterable[Measure], qrels: object, run: object) -> list[ir_measures.Metric]:
    """A value for each measure and query. qrels, run: in any form that ir-measures reads."""
    medians = _medians(_ir_measures, list(measures), qrels, run)
    return [ir_measures.Metric(query, measure, value) for (query, measure), value in medians.items()]


def _medians[K](function: Callable[..., dict[K, float]], *args: Any) -> dict[K, float]:
    with ProcessPoolExecutor(3, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as pool:
        results = [future.result() for future in [pool.submit(function, *args) for _ in range(3)]]
    return {key: median(result[key] for result in results) for key in results[0]}


def _pytrec_eval(
    qrels: Qrels, run: Rankings, measures: set[str], level: int, judged_only: bool
) -> dict[tuple[str, str], float]:
    flag = int(judged_only)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, measures, relevance_level=level, judged_docs_only_flag=flag)
    return {(query, name): value for query, row in evaluator.evaluate(run).items() for name, value in row.items()}


def _ir_measures(measures: list[Measure], qrels: object, run: object) -> dict[tuple[str, Measure], float]:
    return {(metric.query_id, metric.measure): metric.value for metric in ir_measures.iter_calc(measures, qrels, run)}
