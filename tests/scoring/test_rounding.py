import pytest

from relevancy.scoring.rounding import format_rounded, format_short


@pytest.mark.parametrize(
    ("number", "places", "text"),
    [
        (61.0, 1, "61.0"), (14.25, 1, "14.3"), (0.1425 * 100, 1, "14.3"), (2.5, 0, "3"), (-2, 0, "−2"), (-0.01, 1, "0.0"),
        (0.99995, 4, "1.0000"), (12345.675, 2, "12345.68"), (1e18, 1, "1000000000000000000.0"), (1 / 3, 4, "0.3333"),
    ],
)  # fmt: skip
def test_format_rounded(number, places, text):
    assert format_rounded(number, places) == text


@pytest.mark.parametrize(
    ("number", "text"), [(3.0, "3"), (0.5, "0.5"), (7 / 3, "2.333"), (10, "10"), (0, "0"), (100, "100")]
)
def test_format_short(number, text):
    assert format_short(number) == text


def test_format_short_to_fewer_places():
    assert format_short(7 / 3, 2) == "2.33"
    assert format_short(100, 0) == "100"
