"""The sentences below the charts of a comparison."""

from relevancy.comparison import QueryRow, list_charts


def test_one_query_is_singular():
    (times,) = list_charts([QueryRow(1, "text", 1.0, None, 1.0, None, took_a=3, took_b=4)], "A", "B")
    assert times.text.startswith("Search times of 1 query. A: median 3 ms")
