"""The sentences below the charts of a comparison."""

from relevancy.comparison.chart_sentences import describe_search_times
from relevancy.comparison.distributions import Distribution, SearchTimes


def test_one_query_is_singular():
    times = SearchTimes(queries=1, median=(3, 4), p95=(3, 4), distribution=Distribution("ms", (), (), ()))
    assert describe_search_times(times, "A", "B").startswith("Search times of 1 query. A: median 3 ms")
