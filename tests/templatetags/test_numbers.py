"""Numbers on the page: half up, signs, missing values."""

from decimal import Decimal

import pytest

from relevancy.templatetags import numbers

NAN, INF = float("nan"), float("inf")
NOTHING = [None, NAN, INF, -INF, "", "many", True]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (61, "61.0"),
        (57.25, "57.3"),
        (2.25, "2.3"),
        (61.05, "61.1"),
        (0.1425 * 100, "14.3"),  # 14.249999999999998 in binary
        (0.57249 * 100, "57.2"),
        (99.95, "100.0"),
        (0, "0.0"),
        (-0.0, "0.0"),
        (-0.04, "0.0"),
        (Decimal("57.25"), "57.3"),
        ("38.1", "38.1"),
        (1234.56, "1,234.6"),
    ],
)
def test_score_rounds_half_up(value: object, text: str) -> None:
    assert numbers.score(value) == text


@pytest.mark.parametrize("value", NOTHING)
@pytest.mark.parametrize(
    "show",
    [numbers.score, numbers.difference, numbers.whole, numbers.engine_score, numbers.pvalue, numbers.coefficient],
)
def test_missing_values_are_a_dash(show, value: object) -> None:
    assert show(value) == "–"


@pytest.mark.parametrize(
    ("value", "text", "way"),
    [
        (6.2, "+6.2", "up"),
        (-2.9, "−2.9", "down"),
        (0.05, "+0.1", "up"),
        (-0.05, "−0.1", "down"),
        (0.04, "0.0", "same"),
        (-0.04, "0.0", "same"),
        (-0.0, "0.0", "same"),
        (100, "+100.0", "up"),
        (None, "–", "same"),
        (NAN, "–", "same"),
    ],
)
def test_difference_and_trend_agree(value: object, text: str, way: str) -> None:
    assert numbers.difference(value) == text
    assert numbers.trend(value) == way


def test_difference_uses_the_minus_sign_not_the_hyphen() -> None:
    assert numbers.difference(-1.2)[0] == "\u2212"


@pytest.mark.parametrize(
    ("value", "text"), [(1204, "1,204"), (0, "0"), (33.5, "34"), (-1500.2, "−1,500"), (1e6, "1,000,000")]
)
def test_whole_groups_thousands(value: object, text: str) -> None:
    assert numbers.whole(value) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (57, 84, "57–84"),
        (56.5, 84.49, "57–84"),
        (60, 60.49, ""),  # narrower than 0.5
        (60, 60.5, "60–61"),
        (72.6, 73.2, ""),  # wide enough, but one whole number
        (None, 84, ""),
        (57, NAN, ""),
        (84, 57, ""),
    ],
)
def test_span_is_hidden_when_narrow(low: object, high: object, text: str) -> None:
    assert numbers.span(low, high) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (14.8249, "14.82"),
        (14.825, "14.83"),
        (0, "0.00"),
        (0.0042, "0.0042"),
        (0.00999, "0.01"),
        (-1.5, "−1.50"),
        (12345.678, "12,345.68"),
        (3.4e38, "3.40e+38"),  # the largest score of Lucene: it raised an error
        (-2e30, "−2.00e+30"),
        (1e-10, "0.00"),
    ],
)
def test_engine_score_keeps_two_decimals_or_two_digits(value: object, text: str) -> None:
    assert numbers.engine_score(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.2, "+3.20"),
        (-0.4, "−0.40"),
        (0.1 + 0.2 - 0.3, "0.00"),
        (0.3 - 0.2 - 0.1, "0.00"),
        (0.0042, "+0.0042"),
        (None, "–"),
    ],
)
def test_engine_difference_has_no_sign_for_binary_noise(value: object, text: str) -> None:
    assert numbers.engine_difference(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0049, ".005"),
        (0.049, ".049"),
        (0.001, ".001"),
        (0.00099, "< .001"),
        (0, "< .001"),
        (1, "1.000"),
        (0.5, ".500"),
    ],
)
def test_pvalue_without_leading_zero(value: object, text: str) -> None:
    assert numbers.pvalue(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.74, ".74"), (-0.2, "−.20"), (1, "1.00"), (0, ".00"), (-0.001, ".00")])
def test_coefficient_without_leading_zero(value: object, text: str) -> None:
    assert numbers.coefficient(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.0, "3"),
        (2.5, "2.5"),
        (10, "10"),
        (100.0, "100"),
        (0.0, "0"),
        (-0.0, "0"),
        (7 / 3, "2.33"),
        (-1, "−1"),
        (None, "·"),
        (NAN, "·"),
    ],
)
def test_grade_text_is_as_short_as_it_can_be(value: object, text: str) -> None:
    assert numbers.grade_text(value) == text


@pytest.mark.parametrize(
    ("grade", "low", "top", "name"),
    [
        (0, 0, 3, "g0"),
        (1, 0, 3, "g3"),
        (2, 0, 3, "g7"),
        (3, 0, 3, "g10"),
        (1, 1, 10, "g0"),
        (5, 1, 10, "g4"),
        (6, 1, 10, "g6"),  # 5.56
        (5.5, 1, 10, "g5"),
        (12, 1, 10, "g10"),  # beyond the scale: the end's colour
        (-1, 0, 3, "g0"),
        (1, 1, 1, "g10"),
        (None, 0, 3, "unrated"),
        (NAN, 0, 3, "unrated"),
        (1, None, None, "unrated"),
    ],
)
def test_grade_class_takes_the_nearest_stop(grade: object, low: object, top: object, name: str) -> None:
    assert numbers.grade_class(grade, low, top) == name


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (0, "score-1"),
        (19.99, "score-1"),
        (20, "score-2"),
        (41.6, "score-3"),
        (79.9, "score-4"),
        (80, "score-5"),
        (100, "score-5"),
        (130, "score-5"),
        (-5, "score-1"),
    ],
)
def test_score_class_is_a_fifth(value: float, name: str) -> None:
    assert numbers.score_class(Decimal(value)) == name


@pytest.mark.parametrize(("value", "text"), [(0.512, "+0.51"), (-0.2, "−0.20"), (0.001, "0.00"), (None, "–")])
def test_effect(value, text):
    assert numbers.effect(value) == text
