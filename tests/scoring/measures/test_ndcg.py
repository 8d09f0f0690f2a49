import math

import numpy as np
import pytest

from relevancy.scoring import Scale, parse_measure, score
from tests.scoring.ranking_scores import batch_from_grades, compute_value

GRADES, MISSED = [3, 2, 3, 0, 1, 2], [3, 2]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [("nDCG(gain='linear')@6", 0.785002), ("nDCG(gain='linear')@10", 0.756164), ("nDCG@6", 0.751083)],
)
def test_ndcg_example(measure, expected):
    assert compute_value(measure, GRADES, unretrieved=MISSED) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(
    ("ideal", "expected"), [("local", 0.571429), ("recall", 0.444444), ("global", 0.413793), ("max", 0.4)]
)
def test_ndcg_ideals(ideal, expected):
    measure = f"nDCG(gain='linear',discount='reciprocal',ideal='{ideal}')@2"
    assert compute_value(measure, [0.1, 1.0, 0.7], "0:1", [0.9, 0.1]) == pytest.approx(expected, abs=5e-7)


def test_ndcg_classic_discount_at_every_rank():
    grades = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
    values = [compute_value(f"nDCG(gain='linear',discount='classic')@{k}", grades) for k in range(1, 11)]
    assert [round(value, 2) for value in values] == [1, 0.83, 0.87, 0.78, 0.71, 0.69, 0.73, 0.80, 0.88, 0.88]


def test_ndcg_classic_and_recall_examples():
    assert compute_value("nDCG(gain='linear',discount='classic')@4", [2, 1, 2, 0]) == pytest.approx(0.920303, abs=5e-7)
    assert compute_value("nDCG(gain='linear',ideal='recall')@10", [4, 2, 0, 3], "0:4") == pytest.approx(
        0.950833, abs=5e-7
    )


@pytest.mark.parametrize(
    ("ideal", "cutoff", "expected"),
    [
        ("local", "", (1, 1)),
        ("global", "", (0.629220, 0.684664)),
        ("max", "", (0.558792, 0.817723)),
        ("max", "@10", (0.200581, 0.293525)),
    ],
)
def test_ndcg_skip_with_natural_logarithm(ideal, cutoff, expected):
    batch = batch_from_grades([[0.9, 0.1], [0.9, None, 0.8]], Scale.parse("0:1"), [[0.9], [1.0, 0.1]])
    measure = parse_measure(f"nDCG(discount='ln',ideal='{ideal}',unrated='skip'){cutoff}")
    assert score(measure, batch, 10).value == pytest.approx(expected, abs=5e-7)


def test_ndcg_ideal_values_of_the_natural_logarithm_example():
    dcg = parse_measure("DCG(discount='ln')")
    lists = [[0.9, 0.9, 0.1], [1.0, 0.9, 0.8, 0.1], [1.0] * 10]
    values = score(dcg, batch_from_grades(lists, Scale.parse("0:1")), 10).value
    assert values == pytest.approx([2.089570, 2.810209, 6.554971], abs=5e-7)


def test_ndcg_local_compares_with_the_first_k_only():
    assert compute_value("nDCG(ideal='local')@2", [1, 2, 3]) < 1
    assert compute_value("nDCG(ideal='local')@2", [2, 1, 3]) == 1
    assert compute_value("nDCG(ideal='recall')@2", [2, 1, 3]) < 1


def test_ndcg_uncut_takes_all_known_grades():
    assert compute_value("nDCG(ideal='uncut')@1", [3, 3]) == pytest.approx(1 / (1 + 1 / math.log2(3)))


@pytest.mark.parametrize("ideal", ["global", "local", "recall", "uncut"])
def test_ndcg_needs_a_gain(ideal):
    measure = f"nDCG(ideal='{ideal}')@3"
    assert math.isnan(compute_value(measure, [0, 0, None]))
    assert compute_value(measure, [0, None], unretrieved=[2]) == 0
    assert compute_value(measure, [], unretrieved=[2]) == 0
    assert compute_value(measure, [3, 2, 1]) == 1


def test_ndcg_max_needs_none():
    assert compute_value("nDCG(ideal='max')@3", [0, 0]) == 0
    assert compute_value("nDCG(ideal='max')", [], unretrieved=[0]) == 0
    assert compute_value("nDCG(ideal='max')", [3, 3], depth=10) == 1


def test_ndcg_grade_below_zero_changes_nothing():
    assert compute_value("nDCG@3", [-1, 2, -1], unretrieved=[-1]) == compute_value("nDCG@3", [None, 2, None])


@pytest.mark.parametrize("length", range(1, 30))
def test_ndcg_of_the_ideal_list_is_exactly_one(length):
    grades = sorted([3, *np.random.default_rng(length).integers(0, 4, length).tolist()], reverse=True)
    assert compute_value("nDCG@10", grades) == 1
    assert compute_value("nDCG", grades, depth=40) == 1
