import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy.scoring import (
    GradeError,
    Scale,
    ScaleError,
    map_grades,
    parse_grades,
    parse_labelled_scale,
    smallest_scale,
)


@pytest.mark.parametrize(
    ("text", "grades", "relevant_from"),
    [("0:3", 4, 1), ("0:1", 2, 1), ("1:10", 10, 6), ("1:5", 5, 4), ("1:4", 4, 3), ("1:2", 2, 2), (" 2 : 4 ", 3, 4)],
)
def test_parse_and_default_threshold(text, grades, relevant_from):
    scale = Scale.parse(text)
    assert len(scale.grades) == grades
    assert scale.relevant_from == relevant_from
    assert Scale.parse(str(scale)) == scale
    assert hash(Scale.parse(text)) == hash(scale)


@pytest.mark.parametrize(
    ("text", "message"),
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
def test_parse_refuses_invalid_scales(text, message):
    with pytest.raises(ScaleError, match=message):
        Scale.parse(text)


@pytest.mark.parametrize(
    ("grades", "message"),
    [
        ((), "two grades"),
        ((1.0,), "two grades"),
        ((0.0, 2.0, 1.0), "ascend"),
        ((0.0, 0.0), "ascend"),
        ((-1.0, 1.0), "below 0"),
        ((0.0, float("inf")), "finite"),
    ],
)
def test_scale_refuses_invalid_grades(grades, message):
    with pytest.raises(ScaleError, match=message):
        Scale(grades)


def test_contains_fractions_between_the_ends():
    scale = Scale.parse("1:10")
    assert scale.contains(1)
    assert scale.contains(7.5)
    assert not scale.contains(0)
    assert not scale.contains(10.01)
    assert not scale.contains(float("nan"))


def test_threshold_can_be_given():
    assert Scale.parse("0:3", 2).relevant_from == 2
    assert Scale((0.0, 1.0, 5.0), relevant_from=5).relevant_from == 5
    assert Scale((0.0, 0.5)).relevant_from == 0.5


SCALES = st.sampled_from(["0:1", "0:3", "1:4", "1:10", "0:100", "2:7"]).map(Scale.parse) | st.just(
    Scale((0.1, 0.4, 0.7))
)


@given(SCALES, SCALES)
def test_map_grades_is_exact_at_both_ends(old, new):
    assert map_grades(old.lowest, old, new) == new.lowest
    assert map_grades(old.top, old, new) == new.top


@given(SCALES, SCALES, st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_map_grades_keeps_order_and_proportions(old, new, shares):
    grades = old.lowest + np.sort(np.array(shares)) * (old.top - old.lowest)
    mapped = map_grades(grades, old, new)
    assert (np.diff(mapped) >= -1e-12).all()
    assert mapped == pytest.approx(new.lowest + np.sort(shares) * (new.top - new.lowest), abs=1e-9)
    assert [map_grades(float(grade), old, new) for grade in grades] == mapped.tolist()


def test_map_grades():
    four, ten = Scale.parse("0:3"), Scale.parse("1:10")
    assert [map_grades(grade, four, ten) for grade in (0, 1, 2, 3)] == [1, 4, 7, 10]
    assert map_grades(5.5, ten, Scale.parse("0:100")) == pytest.approx(50)
    assert map_grades(0.1, four, four) == 0.1
    assert map_grades(-2, four, ten) == 1
    assert isinstance(map_grades(2, four, ten), float)


def test_map_grades_leaves_unrated_documents_unrated():
    mapped = map_grades(np.array([[np.nan, 3.0]]), Scale.parse("0:3"), Scale.parse("1:10"))
    assert np.isnan(mapped[0, 0]) and mapped[0, 1] == 10


@pytest.mark.parametrize(
    ("text", "grades"),
    [
        ("0:2", [(0, ""), (1, ""), (2, "")]),
        ("0 Poor, 1 Fair, 3 Very good", [(0, "Poor"), (1, "Fair"), (3, "Very good")]),
        ("3=Perfect\n0=Poor", [(0, "Poor"), (3, "Perfect")]),
        ("0, 0.5, 1", [(0, ""), (0.5, ""), (1, "")]),
        ("0 a:b, 1 c", [(0, "a:b"), (1, "c")]),
    ],
)
def test_parse_labelled_scale(text, grades):
    parsed = parse_labelled_scale(text)
    assert parsed == grades
    assert all(isinstance(grade, int) == float(grade).is_integer() for grade, _ in parsed)
    assert Scale(tuple(float(grade) for grade, _ in parsed))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at least two grades"),
        ("1 Good", "at least two grades"),
        ("0 Poor, 0 Fair", "the grade 0 twice"),
        ("Poor, Fair", "'Poor' in the scale is not a number"),
        ("-1 Poor, 1 Fair", "-1 is not possible"),
        ("nan a, 1 b", "nan is not possible"),
        ("0 a, 1000000 b", "1000000 is not possible"),
        ("a:b", "LOWEST:HIGHEST"),
        ("3:1", "above its lowest"),
        ("0:101", "has 102 grades. It can have at most 101"),
        (",".join(map(str, range(102))), "at most 101 grades; this one has 102"),
    ],
)
def test_parse_labelled_scale_refuses_invalid_scales(text, message):
    with pytest.raises(ScaleError, match=message):
        parse_labelled_scale(text)


def test_parse_grades():
    assert parse_grades("3 2,-1  – 0.5 ·\n-") == [3, 2, -1, None, 0.5, None, None]
    assert parse_grades("") == []


@pytest.mark.parametrize("word", ["x", "nan", "inf", "3x", "--"])
def test_parse_grades_refuses_other_words(word):
    with pytest.raises(GradeError, match=f"Grade 2 is '{word}'"):
        parse_grades(f"1 {word}")


def test_smallest_scale():
    assert [smallest_scale(grades) for grades in ([], [None], [0.5], [2.1, None, 1], [3])] == [
        "0:1", "0:1", "0:1", "0:3", "0:3"
    ]  # fmt: skip
