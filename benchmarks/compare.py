"""Statistics of two runs of 10,000 queries: 10,000 permutations, and the interval from the same. With --page, the page as well.

Prints CPU seconds and the peak memory of the process. Target: 1.5 s and 300 MB; a page of 5,000 queries within 300 ms of CPU once
its figures have been computed; the report of five runs of 20,000 queries within 1.2 s of CPU. The data are invented.

    python -m benchmarks.compare [--queries N] [--runs N] [--page N]

--page N: compares runs of N queries on a site of its own, as the worker does, and loads the page and its files: CSV, JSON and report.
"""

import argparse
import gc
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

from relevancy.statistics import Differences, compare_means, compare_paired

ROUNDS = 5
TARGETS = {"page": "300 ms for 5,000 queries", "report": "1,200 ms for five runs of 20,000 queries"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--page", type=int, default=0, metavar="N", help="queries of the page; 0 for no page")
    options = parser.parse_args()
    if options.page:
        measure_page(options.page, options.runs)
    else:
        measure_statistics(options.queries, options.runs)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB; invented data")


def measure_statistics(queries: int, runs: int) -> None:
    """Prints what the tests and the interval of two runs cost, and all pairs of more runs."""
    generator = np.random.default_rng(1)
    scores = np.clip(generator.normal(60, 25, (queries, runs)), 0, 100)
    for name, weights in (("equal weights", None), ("weights", generator.uniform(0.5, 4, queries))):
        start = time.process_time()
        comparison = compare_paired(Differences.build(scores[:, 1] - scores[:, 0], weights))
        seconds = time.process_time() - start
        print(f"{name}: {seconds:.2f} s of CPU, p {comparison.p:.4f}, interval {comparison.interval}")
    if runs > 2:
        start = time.process_time()
        compare_means(scores)
        print(f"all pairs of {runs} runs: {time.process_time() - start:.2f} s of CPU")


def measure_page(count: int, number_of_runs: int) -> None:
    """Prints what a comparison costs the worker, and what its page costs once the figures are stored."""
    sys.path.insert(0, str(Path(__file__).parent))
    import fresh_site  # noqa: F401, PLC0415  # sets Django up, which the statistics do without
    from django.db import connection  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415
    from django.urls import reverse  # noqa: PLC0415
    from invented import query_grades, query_texts, rankings  # noqa: PLC0415

    from relevancy import cases, comparison, queries, ratings, runs, scorers, tasks  # noqa: PLC0415
    from relevancy.models import ScorerVersion, User  # noqa: PLC0415

    tasks.send = lambda task, pk: None  # the worker is called below
    owner = User.objects.create_superuser("bench@example.org", "bench", name="Bench")
    texts = query_texts(count)
    case = cases.create(name="Invented", owner=owner, scale=scorers.parse_scale("0:3"))
    queries.add(case=case, texts=texts)
    ids = dict(case.case_queries.values_list("query__text", "query_id"))
    grades = query_grades(texts)
    ratings.rate_book(book=case.book, values={ids[text]: grades[text] for text in texts}, rater=owner, by=owner)
    imported = [
        runs.ImportedRankings(
            f"System {seed}",
            "",
            "id:id",
            {
                ids[text]: [(f"doc-{number:06d}", None, {}) for number in numbers]
                for text, numbers in rankings(texts, seed)
            },
        )
        for seed in range(number_of_runs)
    ]
    compared = runs.import_rankings(case=case, rankings=imported, by=owner)
    version = ScorerVersion.objects.used_by(case)[0]
    stored = comparison.stored.find_or_create(runs=compared, version=version)
    for name in ("scores and figures", "figures alone"):
        start = time.process_time()
        comparison.stored.compute(stored.pk)
        print(f"{name} of {number_of_runs} runs of {count:,} queries: {time.process_time() - start:.1f} s of CPU")
        type(stored).objects.filter(pk=stored.pk).update(revision=None) if name == "scores and figures" else None
    client = Client(SERVER_NAME="localhost")
    client.force_login(owner)
    query = {"run": [run.number for run in compared], "scorer": version.scorer_id}

    def load(name: str, tab: str = "") -> Callable[[], int]:
        address = reverse(name, args=[case.pk], query=query | ({"tab": tab} if tab else {}))
        headers = {"HX-Request": "true", "HX-Target": "compared-tabs"} if tab else {}
        return lambda: sum(map(len, client.get(address, headers=headers)))

    gc.collect()
    gc.freeze()  # what the benchmark has made is not in the memory of a web process

    parts = {
        "page": load("compare"),
        "charts": load("compare", tab="charts"),
        "CSV": load("compare_csv"),
        "JSON": load("compare_json"),
        "report": load("compare_report"),
    }
    for name, request in parts.items():
        request()
        with CaptureQueriesContext(connection) as statements:
            size = request()
        number = len(statements)  # later requests forget them
        times = []
        for _ in range(ROUNDS):
            start = time.process_time()
            request()
            times.append(time.process_time() - start)
        target = f"; target at most {TARGETS[name]}" if name in TARGETS else ""
        print(f"{name}: {1000 * median(times):.0f} ms of CPU, {number} statements, {size / 1000:,.0f} kB{target}")


if __name__ == "__main__":
    main()
