import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from relevancy.optional.agreement.statistics import RaterTable, compare_raters, measure_agreement
from relevancy.statistics import StatisticsError

# Krippendorff's published example: 4 coders, 12 units.
CODERS = ["123321412***", "1233224125*3", "*3332342251*", "12332441251*"]
# The published example of Fleiss' kappa: 10 subjects, 14 raters, 5 categories.
SUBJECTS = [
    (0, 0, 0, 0, 14),
    (0, 2, 6, 4, 2),
    (0, 0, 3, 5, 6),
    (0, 3, 9, 2, 0),
    (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0),
    (3, 2, 6, 3, 0),
    (2, 5, 3, 2, 2),
    (6, 5, 2, 1, 0),
    (0, 2, 2, 3, 7),
]


def table_of(coders):
    """Each unit is an item of a query of its own."""
    return RaterTable.build(
        [
            (unit, unit, coder, float(grade))
            for coder, line in enumerate(coders)
            for unit, grade in enumerate(line)
            if grade != "*"
        ]
    )


def alphas(table, monkeypatch=None):
    return {level: coefficient.value for level, coefficient in measure_agreement(table, resamples=20).alpha.items()}


def test_krippendorff_published_example(monkeypatch):
    monkeypatch.setattr("relevancy.optional.agreement.statistics.coefficients.MIN_ITEMS", 2)
    assert alphas(table_of(CODERS)) == {
        "nominal": pytest.approx(0.743, abs=5e-4),
        "ordinal": pytest.approx(0.815, abs=5e-4),
        "interval": pytest.approx(0.849, abs=5e-4),
    }


def test_alpha_is_not_shown_for_few_items():
    assert alphas(table_of(CODERS)) == {"nominal": None, "ordinal": None, "interval": None}


def test_fleiss_published_example():
    ratings = []
    for subject, counts in enumerate(SUBJECTS):
        grades = [grade for grade, count in enumerate(counts) for _ in range(count)]
        ratings += [(subject, subject, rater, float(grade)) for rater, grade in enumerate(grades)]
    agreement = measure_agreement(RaterTable.build(ratings))
    assert agreement.fleiss_kappa.value == pytest.approx(0.210, abs=5e-4)
    assert agreement.items == 10
    assert agreement.commonest == pytest.approx(39 / 140)
    assert agreement.fleiss_kappa.low < 0.21 < agreement.fleiss_kappa.high


tables = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 3), st.sampled_from([0.0, 1.0, 2.0, 3.0])),
    min_size=2,
    max_size=40,
    unique_by=lambda row: (row[1], row[2]),
).map(lambda rows: [(item % 3, item, rater, grade) for _, item, rater, grade in rows])


def pairs_of(rows):
    """All ordered pairs of grades that one item got from different raters."""
    for (_, item, rater, grade), (_, other, second, value) in itertools.permutations(rows, 2):
        if item == other and rater != second:
            yield item, grade, value


@given(tables)
@settings(max_examples=60)
def test_agreement_is_the_share_of_agreeing_pairs(rows):
    pairs = list(pairs_of(rows))
    agreement = measure_agreement(RaterTable.build(rows), resamples=5)
    if not pairs:
        assert (agreement.items, agreement.agreement.value) == (0, None)
        return
    assert agreement.agreement.value == pytest.approx(sum(a == b for _, a, b in pairs) / len(pairs))


@given(tables)
@settings(max_examples=60)
def test_alpha_is_one_minus_observed_by_expected_disagreement(rows):
    """From the definition, pair by pair."""
    ratings_of = {}
    for _, item, _, grade in rows:
        ratings_of.setdefault(item, []).append(grade)
    shared = {item: grades for item, grades in ratings_of.items() if len(grades) > 1}
    values = [grade for grades in shared.values() for grade in grades]
    assume(len(set(values)) > 1)
    observed = sum((a - b) ** 2 / (len(shared[item]) - 1) for item, a, b in pairs_of(rows)) / len(values)
    expected = sum((a - b) ** 2 for a, b in itertools.permutations(values, 2)) / (len(values) * (len(values) - 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("relevancy.optional.agreement.statistics.coefficients.MIN_ITEMS", 1)
        assert alphas(RaterTable.build(rows))["interval"] == pytest.approx(1 - observed / expected)


def test_all_raters_agree():
    rows = [(item % 7, item, rater, float(item % 2)) for item in range(40) for rater in range(3)]
    agreement = measure_agreement(RaterTable.build(rows))
    assert agreement.agreement.value == agreement.fleiss_kappa.value == 1
    assert {coefficient.value for coefficient in agreement.alpha.values()} == {1}
    assert {pair.kappa() for pair in compare_raters(RaterTable.build(rows))} == {1}


def test_one_grade_for_everything_has_no_coefficient():
    rows = [(item, item, rater, 1.0) for item in range(40) for rater in range(2)]
    agreement = measure_agreement(RaterTable.build(rows))
    assert agreement.agreement.value == 1
    assert agreement.fleiss_kappa.value is None
    assert agreement.alpha["nominal"].value is None
    assert compare_raters(RaterTable.build(rows))[0].kappa() is None


def test_no_ratings():
    agreement = measure_agreement(RaterTable.build([]))
    assert (agreement.items, agreement.agreement.value, agreement.commonest) == (0, None, None)
    assert compare_raters(RaterTable.build([])) == []


def test_kappa_of_two_raters():
    """20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: .7 observed, .5 expected."""
    cells = [(1, 1, 20), (1, 0, 5), (0, 1, 10), (0, 0, 15)]
    rows, item = [], 0
    for a, b, count in cells:
        for _ in range(count):
            rows += [(item, item, 4, float(a)), (item, item, 9, float(b))]
            item += 1
    (pair,) = compare_raters(RaterTable.build(rows))
    assert (pair.a, pair.b, pair.items) == (0, 1, 50)
    assert pair.kappa() == pytest.approx(0.4)
    assert pair.kappa("linear") == pytest.approx(0.4)


def test_weighted_kappa_counts_the_distance_on_the_scale():
    a, b = [0, 1, 3, 3], [1, 1, 2, 3]
    rows = [(0, item, rater, float(grades[item])) for rater, grades in enumerate((a, b)) for item in range(4)]
    (pair,) = compare_raters(RaterTable.build(rows, scale=(0, 1, 2, 3)))
    for name, power in (("linear", 1), ("quadratic", 2)):
        observed = sum(abs(x - y) ** power for x, y in zip(a, b, strict=True)) / 4
        expected = sum(abs(x - y) ** power for x in a for y in b) / 16
        assert pair.kappa(name) == pytest.approx(1 - observed / expected)


def test_raters_without_a_shared_item_are_not_compared():
    rows = [(0, 0, 0, 1.0), (0, 0, 1, 1.0), (0, 1, 2, 1.0), (0, 2, 0, 2.0), (0, 2, 2, 2.0)]
    assert [(pair.a, pair.b) for pair in compare_raters(RaterTable.build(rows))] == [(0, 1), (0, 2)]


def test_interval_draws_queries_not_items():
    """All items of a query agree or all disagree: the interval is as wide as that of two queries, not of 400 items."""
    rows = [(item % 2, item, rater, float(rater * (item % 2))) for item in range(400) for rater in range(2)]
    coefficient = measure_agreement(RaterTable.build(rows)).agreement
    assert (coefficient.value, coefficient.low, coefficient.high) == (0.5, 0, 1)


def test_figures_repeat():
    rows = [
        (item // 5, item, rater, float(grade))
        for item, grades in enumerate(np.random.default_rng(1).integers(0, 4, (200, 3)))
        for rater, grade in enumerate(grades)
    ]
    assert measure_agreement(RaterTable.build(rows)) == measure_agreement(RaterTable.build(rows))


@pytest.mark.parametrize("rows", [[(0, 0, 0, math.nan)], [(0, 0, 0, 1.0), (0, 0, 0, 2.0)]])
def test_build_refuses(rows):
    with pytest.raises(StatisticsError):
        RaterTable.build(rows)
