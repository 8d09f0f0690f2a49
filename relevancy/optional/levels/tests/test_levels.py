"""Levels of the scores of a case, and where they changed."""

import numpy as np
import pytest

from relevancy import queries
from relevancy.optional.levels.levels import find_levels
from tests.factories import rate_all
from tests.scores.test_run_history import RATINGS, read, rescore, run_with, versions_of, write_runs
from tests.scores.test_run_history import attempt as attempt  # fixtures
from tests.scores.test_run_history import case as case

pytestmark = pytest.mark.django_db


def test_levels_follow_the_steps_and_not_the_means(case, attempt):
    """A query that scores 0 is added: the mean falls, and the level does not."""
    for _ in range(6):
        run_with(attempt, q1="a", q2="a", q3="a")
    queries.add(case=case, texts=["query 4"])
    rate_all(case, {"query 4": {"z": 3}}, case.owner)
    for _ in range(6):
        run_with(attempt, q1="a", q2="a", q3="a", q4="yz")
    rescore(case)
    history = read(case)
    levels = find_levels(history)[history.versions[0].pk]
    assert {entry.scores[history.versions[0].pk].score for entry in history.runs} == {100, 75}
    assert (levels.runs, levels.longest, levels.changes) == (12, 12, {})


def test_a_change_of_the_level_begins_with_its_first_run(case, attempt):
    for _ in range(6):
        run_with(attempt, q1="xa", q2="xa", q3="a")
    for _ in range(6):
        run_with(attempt, q1="a", q2="a", q3="a")
    rescore(case)
    history = read(case)
    for version in history.versions:
        ((number, change),) = find_levels(history)[version.pk].changes.items()
        assert number == 7
        assert (change.values_before, change.values_after) == (6, 6)
        assert change.p < 0.05
    change = find_levels(history)[history.versions[0].pk].changes[7]
    assert (change.before, change.after) == pytest.approx((100 / 3, 100))
    ((before, after),) = find_levels(history)[history.versions[0].pk].series
    assert (before.first, before.last, after.first, after.last) == (1, 6, 7, 12)


def test_the_newest_level_is_where_the_newest_scores_are(case, attempt):
    """The mean falls by 25 with a new query that scores 0; levels are those of the queries as they are now."""
    for _ in range(6):
        run_with(attempt, q1="xa", q2="xa", q3="a")
    queries.add(case=case, texts=["query 4"])
    rate_all(case, {"query 4": {"z": 3}}, case.owner)
    for _ in range(6):
        run_with(attempt, q1="a", q2="a", q3="a", q4="yz")
    rescore(case)
    history = read(case)
    p_at_1 = history.versions[0].pk
    assert history.runs[-1].scores[p_at_1].score == 75
    change = find_levels(history)[p_at_1].changes[7]
    assert (change.before, change.after) == pytest.approx((75 - 200 / 3, 75))


def test_levels_of_many_runs(case, attempt):
    run_with(attempt, q1="a", q2="a", q3="a")
    noise = np.random.default_rng(5).normal(0, 1, size=300).round(2)
    values = [float(value) for value in np.repeat([60.0, 70.0, 55.0], 100) + noise]
    write_runs(case, attempt, versions_of(case), values)
    history = read(case)
    changes = find_levels(history)[history.versions[0].pk].changes
    assert all(min(abs(number - true) for true in (102, 202)) <= 1 for number in changes)
    assert len(changes) == 2
    assert [change.difference > 0 for change in changes.values()] == [True, False]


def test_nothing_that_is_being_rescored_has_a_level(case, attempt):
    run_with(attempt, q1="a", q2="a", q3="a")
    rescore(case)
    rate_all(case, {"query 1": {"x": 3}}, case.owner)
    assert all(levels.runs == 0 for levels in find_levels(read(case)).values())


def test_a_series_ends_where_no_query_is_scored_in_both(case, attempt):
    run_with(attempt, q1="a", q2="a", q3="a")
    for text in RATINGS:
        queries.remove(case_query=case.case_queries.get(query__text=text))
    queries.add(case=case, texts=["query 4"])
    rate_all(case, {"query 4": {"z": 3}}, case.owner)
    run_with(attempt, q4="z")
    rescore(case)
    assert find_levels(read(case))[versions_of(case)[0].pk].longest == 1
