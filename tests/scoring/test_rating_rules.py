import random

import pytest

from relevancy.scoring import RULES, GradeError, Scale, combine_ratings

SCALE = Scale.parse("1:10")


def combine(rule, *values):
    return combine_ratings([(value, moment) for moment, value in enumerate(values)], rule, SCALE)


@pytest.mark.parametrize(
    ("rule", "values", "expected"),
    [
        ("latest", (9, 2, 5), 5),
        ("latest", (9, 2, None), 2),
        ("mean", (1, 2), 1.5),
        ("mean", (10, None, 4), 7),
        ("median", (9, 1, 5), 5),
        ("median", (9, 1, 5, 6), 5),
        ("majority", (3, 8, 3, 8, 3), 3),
        ("majority", (8, 3, 8, 3), 3),
        ("majority", (7, 4, 9), 4),
        ("lowest_of_three", (10, 2, 9, 7, 1), 7),
        ("lowest_of_three", (10, 4), 4),
        ("lowest_of_three", (6,), 6),
        ("quepid", (2,), 2),
        ("quepid", (1, 2), 2),
        ("quepid", (1, 4), 3),
        ("quepid", (1, 3), 2),
        ("quepid", (9, 1, 9), 1),
        ("quepid", (9, 1, 9, 2), 2),
    ],
)
def test_combine_ratings(rule, values, expected):
    assert combine(rule, *values) == expected


def test_combine_ratings_rounds_to_no_grade_outside_the_scale():
    assert combine_ratings([(0.2, 1), (0.3, 1)], "quepid", Scale((0.1, 0.9))) == 0.1
    assert combine_ratings([(0.9, 1)], "quepid", Scale((0.1, 0.9))) == 0.9


@pytest.mark.parametrize("rule", sorted(RULES))
def test_combine_ratings_without_a_value_is_unrated(rule):
    assert combine(rule) is None
    assert combine(rule, None, None) is None
    assert combine(rule, 4) == 4


def test_combine_ratings_of_the_same_moment_takes_the_lower():
    assert combine_ratings([(7, "2024-05-01"), (3, "2024-05-01"), (1, "2023-01-01")], "latest", SCALE) == 3


@pytest.mark.parametrize("rule", sorted(set(RULES) - {"latest"}))
def test_combine_ratings_ignores_their_order(rule):
    ratings = [(value, 0) for value in (3, 8, 8, 3, 10, None, 1)]
    grades = set()
    for seed in range(10):
        random.Random(seed).shuffle(ratings)
        grades.add(combine_ratings(ratings, rule, SCALE))
    assert len(grades) == 1


def test_combine_ratings_refuses_unknown_rules_and_values_off_the_scale():
    with pytest.raises(
        GradeError, match=r"Unknown rule 'best'.*one of: latest, mean, median, majority, lowest_of_three, quepid"
    ):
        combine("best", 3)
    with pytest.raises(GradeError, match="rating 11 is outside the scale 1:10"):
        combine("mean", 3, 11)
