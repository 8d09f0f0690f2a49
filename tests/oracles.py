"""The values of pytrec_eval and ir-measures, each computed in a new process.

In a process whose heap was used before, pytrec_eval sometimes gives a wrong value for one query (issue 57 of cvangysel/pytrec_eval).
"""

import multiprocessing
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import ir_measures
import pytrec_eval
from ir_measures.measures import Measure

type Qrels = dict[str, dict[str, int]]
type Rankings = dict[str, dict[str, float]]


def evaluate_by_pytrec_eval(
    qrels: Qrels, run: Rankings, measures: set[str], level: int = 1, judged_only: bool = False
) -> dict[str, dict[str, float]]:
    """The value of each measure (key) for each query (outer key)."""
    return _in_new_process(_evaluate_by_pytrec_eval, qrels, run, measures, level, judged_only)


def evaluate_by_ir_measures(measures: Iterable[Measure], qrels: object, run: object) -> list[ir_measures.Metric]:
    """A value for each measure and query. qrels, run: in any form that ir-measures reads."""
    return _in_new_process(_evaluate_by_ir_measures, list(measures), qrels, run)


def _in_new_process[T](function: Callable[..., T], *args: Any) -> T:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *args).result()


def _evaluate_by_pytrec_eval(
    qrels: Qrels, run: Rankings, measures: set[str], level: int, judged_only: bool
) -> dict[str, dict[str, float]]:
    flag = int(judged_only)
    return pytrec_eval.RelevanceEvaluator(qrels, measures, relevance_level=level, judged_docs_only_flag=flag).evaluate(
        run
    )


def _evaluate_by_ir_measures(measures: list[Measure], qrels: object, run: object) -> list[ir_measures.Metric]:
    return list(ir_measures.iter_calc(measures, qrels, run))
