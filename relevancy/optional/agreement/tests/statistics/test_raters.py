"""Figures of single raters and of queries, against worked examples and against the definitions, rating by rating."""

import itertools
from collections import Counter, defaultdict
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings

from relevancy.optional.agreement.statistics import (
    AgreeingRaters,
    RaterTable,
    compare_raters,
    count_agreeing,
    estimate_kappas,
    measure_queries,
    measure_raters,
)

from .test_rater_pairs import SCALE, numbers, table_of, tables


def test_bias_of_three_raters():
    """Rater 0: (3 − 1.5) and (2 − 1); rater 1: (2 − 2), (1 − 2); rater 2: (1 − 2.5); the last item has one rating."""
    first, second, third = measure_raters(table_of((3, 2, 1), (2, 1, None), (0, None, None)))
    assert [first.bias.value, second.bias.value, third.bias.value] == [1.25, -0.5, -1.5]
    assert [(item.ratings, item.items, item.queries) for item in (first, second, third)] == [
        (3, 2, 2),
        (2, 2, 2),
        (1, 1, 1),
    ]
    assert first.grades.tolist() == [1, 0, 1, 1]
    assert (third.bias.low, third.bias.high) == (None, None)  # one query says nothing about others


def test_bias_of_two_raters_is_their_mean_difference():
    first, second = measure_raters(table_of((3, 1), (2, 2), (3, 2), (0, 1)))
    assert first.bias.value == pytest.approx(0.5)
    assert second.bias.value == pytest.approx(-0.5)
    assert first.bias.low == -second.bias.high
    assert first.bias.low < 0.5 < first.bias.high


def test_bias_of_a_rater_alone_is_missing():
    (only,) = measure_raters(table_of((3,), (2,)))
    assert (only.ratings, only.items, only.bias.value) == (2, 0, None)
    assert measure_raters(RaterTable.build([])) == []


@given(tables)
@settings(max_examples=60)
def test_figures_of_raters_follow_the_definition(rows):
    by_item = defaultdict(dict)
    for _, item, rater, grade in rows:
        by_item[item][rater] = grade
    result = measure_raters(RaterTable.build(rows, SCALE), resamples=3)
    for rater, number in numbers(rows).items():
        own = [
            (item, grades[rater] - fmean(grade for other, grade in grades.items() if other != rater))
            for item, grades in by_item.items()
            if rater in grades and len(grades) > 1
        ]
        assert result[number].items == len(own)
        assert result[number].queries == len({item % 3 for item, _ in own})
        assert result[number].bias.value == (pytest.approx(fmean(value for _, value in own)) if own else None)
        counts = Counter(grade for _, _, other, grade in rows if other == rater)
        assert result[number].grades.tolist() == [counts[grade] for grade in SCALE]


def test_interval_of_the_bias_covers_it_as_often_as_it_says():
    """200 invented books of 40 queries: the 95 % interval has the true bias of 0.5 in it in 180 to 199 of them."""
    random, covered = np.random.default_rng(20261122), 0
    for _ in range(200):
        level = random.normal(0, 0.6, 40)  # the documents of a query are not independent
        rows = []
        for query, item in itertools.product(range(40), range(3)):
            difference = 0.5 + level[query] + random.normal(0, 0.3)
            rows += [(query, query * 3 + item, 0, 2 + difference), (query, query * 3 + item, 1, 2.0)]
        bias = measure_raters(RaterTable.build(rows), resamples=300)[0].bias
        covered += bias.low <= 0.5 <= bias.high
    assert 180 <= covered <= 199


def test_k_of_n_agree():
    table = table_of((3, 3, 3), (3, 3, 1), (2, 3, 3), (0, 1, 2), (1, 1, None), (2, None, 1), (0, None, None))
    assert count_agreeing(table) == [
        AgreeingRaters(2, 2, 1),
        AgreeingRaters(2, 1, 1),
        AgreeingRaters(3, 3, 1),
        AgreeingRaters(3, 2, 2),
        AgreeingRaters(3, 1, 1),
    ]
    assert count_agreeing(RaterTable.build([])) == []


@given(tables)
@settings(max_examples=60)
def test_queries_follow_the_definition(rows):
    result = measure_queries(RaterTable.build(rows, SCALE))
    for number, query in enumerate(sorted({query for query, *_ in rows})):
        own = [row for row in rows if row[0] == query]
        pairs = [a[3] == b[3] for a, b in itertools.combinations(own, 2) if a[1] == b[1]]
        assert result[number].agreement == (pytest.approx(fmean(pairs)) if pairs else None)
        assert result[number].items == sum(count > 1 for count in Counter(item for _, item, *_ in own).values())
        counts = Counter(grade for *_, grade in own)
        assert result[number].grades.tolist() == [counts[grade] for grade in SCALE]


def test_interval_of_kappa_draws_queries():
    """All items of a query agree or none does: the interval is that of four queries, not of 400 items."""
    rows = [
        (item % 4, item, rater, float((item // 4 + rater * (item % 2)) % 2)) for item in range(400) for rater in (0, 1)
    ]
    (pair,) = compare_raters(RaterTable.build(rows))
    kappa = estimate_kappas(pair)["none"]
    assert (kappa.value, kappa.low, kappa.high) == (pytest.approx(0), -1, 1)
    assert kappa.value == pair.kappa()


def test_kappa_of_one_query_has_no_interval():
    (pair,) = compare_raters(RaterTable.build([(0, item, rater, float(item)) for item in range(4) for rater in (0, 1)]))
    kappa = estimate_kappas(pair)["linear"]
    assert (kappa.value, kappa.low, kappa.high) == (1, None, None)
