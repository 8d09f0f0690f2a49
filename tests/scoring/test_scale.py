import pytest

from relevancy.scoring import Scale, ScaleError


@pytest.mark.parametrize(
    ("text", "grades", "relevant_from"),
    [("0:3", 4, 1), ("0:1", 2, 1), ("1:10", 10, 6), ("1:5", 5, 4), ("1:4", 4, 3), ("1:2", 2, 2), (" 2 : 4 ", 3, 4)],
)
def test_parse_and_threshold(text, grades, relevant_from):
    scale = Scale.parse(text)
    assert len(scale.grades) == grades
    assert scale.relevant_from == relevant_from
    assert Scale.parse(str(scale)) == scale
    assert hash(Scale.parse(text)) == hash(scale)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "LOWEST:HIGHEST"),
        ("3", "LOWEST:HIGHEST"),
        ("a:b", "'a:b'"),
        ("-1:3", "'-1:3'"),
        ("3:3", "3:3"),
        ("4:1", "above its lowest"),
        ("0:100000", "100001 grades"),
    ],
)
def test_parse_refuses(text, said):
    with pytest.raises(ScaleError, match=said):
        Scale.parse(text)


@pytest.mark.parametrize(
    ("grades", "said"),
    [
        ((), "two grades"),
        ((1.0,), "two grades"),
        ((0.0, 2.0, 1.0), "ascend"),
        ((0.0, 0.0), "ascend"),
        ((-1.0, 1.0), "below 0"),
        ((0.0, float("inf")), "finite"),
    ],
)
def test_scale_refuses(grades, said):
    with pytest.raises(ScaleError, match=said):
        Scale(grades)


def test_contains_fractions_between_the_ends():
    scale = Scale.parse("1:10")
    assert scale.contains(1)
    assert scale.contains(7.5)
    assert not scale.contains(0)
    assert not scale.contains(10.01)
    assert not scale.contains(float("nan"))


def test_threshold_may_be_given():
    assert Scale.parse("0:3", 2).relevant_from == 2
    assert Scale((0.0, 1.0, 5.0), relevant_from=5).relevant_from == 5
    assert Scale((0.0, 0.5)).relevant_from == 0.5
