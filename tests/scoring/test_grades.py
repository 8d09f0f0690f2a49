import random

import pytest

from relevancy.scoring import RULES, GradeError, Scale, combine, combine_many

SCALE = Scale.parse("1:10")


def grade(rule, *values, scale=SCALE):
    return combine([(value, when) for when, value in enumerate(values)], rule, scale)


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
    ],
)
def test_combine(rule, values, expected):
    assert grade(rule, *values) == expected


@pytest.mark.parametrize("rule", sorted(RULES))
def test_combine_without_a_judgement_is_unrated(rule):
    assert grade(rule) is None
    assert grade(rule, None, None) is None
    assert grade(rule, 4) == 4


def test_combine_latest_at_the_same_moment_is_the_lower():
    assert combine([(7, "2024-05-01"), (3, "2024-05-01"), (1, "2023-01-01")], "latest", SCALE) == 3


@pytest.mark.parametrize("rule", sorted(set(RULES) - {"latest"}))
def test_combine_does_not_depend_on_the_order(rule):
    ratings = [(value, 0) for value in (3, 8, 8, 3, 10, None, 1)]
    grades = set()
    for seed in range(10):
        random.Random(seed).shuffle(ratings)
        grades.add(combine(ratings, rule, SCALE))
    assert len(grades) == 1


def test_combine_refuses():
    with pytest.raises(GradeError, match=r"no rule 'best'.*There are: latest, mean, median, majority, lowest_of_three"):
        grade("best", 3)
    with pytest.raises(GradeError, match="rating 11 is outside the scale 1:10"):
        grade("mean", 3, 11)


@pytest.mark.parametrize("rule", sorted(RULES))
def test_combine_many_equals_combine(rule):
    chance = random.Random(2)
    rows = [(f"d{chance.randrange(40)}", chance.choice([None, 1, 4, 6, 10]), when) for when in range(150)]
    chance.shuffle(rows)
    found = combine_many(rows, rule, SCALE)
    for document in {row[0] for row in rows}:
        alone = combine([(value, when) for name, value, when in rows if name == document], rule, SCALE)
        assert found.get(document) == alone
