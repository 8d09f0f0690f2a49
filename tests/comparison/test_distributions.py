"""Scores and search times of two runs in steps."""

from relevancy.comparison import QueryRow
from relevancy.comparison.distributions import distribute_scores, distribute_search_times


def row(before: float, after: float, took_a: int | None = None, took_b: int | None = None) -> QueryRow:
    return QueryRow(1, "text", 1.0, before, after, after - before, took_a=took_a, took_b=took_b)


def test_a_step_has_its_lower_end_and_the_last_one_both() -> None:
    scores = distribute_scores([row(0, 9.99), row(10, 89.99999), row(90, 99.9995), row(99, 100)])
    assert scores.steps[0] == "0–10" and scores.steps[-1] == "90–100"
    assert list(scores.before) == [1, 1, *[0] * 7, 2]
    assert list(scores.after) == [1, *[0] * 7, 1, 2]


def test_steps_of_search_times_begin_and_end_with_a_query() -> None:
    times = distribute_search_times([row(1, 1, 2, 50), row(1, 1, 4, 5), row(1, 1, None, 1), row(1, 1, 100, 2)])
    assert times is not None
    distribution = times.distribution
    assert list(distribution.steps) == ["2–5", "5–10", "10–20", "20–50", "50–100", "100–200"]
    assert (list(distribution.before), list(distribution.after)) == ([2, 0, 0, 0, 0, 1], [1, 1, 0, 0, 1, 0])
    assert (times.queries, times.median, times.p95) == (3, (4, 5), (100, 50))
    assert distribute_search_times([row(1, 1)]) is None
