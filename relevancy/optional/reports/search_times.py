"""Search times of runs as percentiles."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from django.db.models import Count

from relevancy.models import Case, Ranking, Run

MAX_RUNS = 10  # the newest


@dataclass(frozen=True)
class SearchTimes:
    """Search times of a run, in milliseconds. searches: how many have a time; failed ones do not count.

    A percentile is the smallest time that at least this share of the searches did not exceed.
    """

    run: Run
    searches: int
    p50: int
    p90: int
    p95: int
    p99: int
    slowest: int


def read_search_times(case: Case, run: Run) -> list[SearchTimes]:
    """Returns the times of the newest finished runs and of `run`, newest first; those without any time are left out.

    Two SQL statements, which return a row for each different time, not for each search.
    """
    newest = list(Run.objects.newest_for(case).finished().only("case", "number")[:MAX_RUNS])
    runs = sorted({timed.pk: timed for timed in [*newest, run]}.values(), key=lambda timed: -timed.number)
    rows = Ranking.objects.filter(run__in=[timed.pk for timed in runs], error_kind="", took_ms__isnull=False)
    counts: dict[int, dict[int, int]] = {}
    for run_id, took_ms, count in rows.order_by().values_list("run_id", "took_ms").annotate(count=Count("pk")):
        counts.setdefault(run_id, {})[took_ms] = count
    return [summarize_times(timed, counts[timed.pk]) for timed in runs if timed.pk in counts]


def summarize_times(run: Run, counts: Mapping[int, int]) -> SearchTimes:
    """Returns the percentiles. counts: how many searches took so many milliseconds; not empty."""
    searches = list(counts.values())
    percentiles = np.quantile(list(counts), [0.5, 0.9, 0.95, 0.99, 1.0], weights=searches, method="inverted_cdf")
    return SearchTimes(run, sum(searches), *map(int, percentiles))
