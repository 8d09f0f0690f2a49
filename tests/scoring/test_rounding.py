from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy.scoring.rounding import MINUS, format_p, format_rounded, format_short, format_signed, round_half_up


@pytest.mark.parametrize(
    ("number", "places", "text"),
    [
        (61.0, 1, "61.0"), (14.25, 1, "14.3"), (0.1425 * 100, 1, "14.3"), (2.5, 0, "3"), (-2, 0, "−2"), (-0.01, 1, "0.0"),
        (0.99995, 4, "1.0000"), (12345.675, 2, "12345.68"), (1e18, 1, "1000000000000000000.0"), (1 / 3, 4, "0.3333"),
        (1e300, 0, "1" + "0" * 300),
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


@pytest.mark.parametrize(
    ("number", "text"),
    [(6.24, "+6.2"), (-2.95, "−3.0"), (0.04, "0.0"), (-0.04, "0.0"), (0.05, "+0.1"), (1234.5, "+1,234.5")],
)
def test_format_signed(number, text):
    assert format_signed(number, 1) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0371, ".037"), (0.0005, "< .001"), (0.001, ".001"), (0.9996, "1.000"), (0, "< .001"), (1, "1.000")],
)
def test_format_p(p, text):
    assert format_p(p) == text


numbers = st.floats(-1e12, 1e12) | st.builds(
    lambda cents, noise: cents / 1000 + noise,
    st.integers(-200_000, 200_000),
    st.sampled_from([0.0, 1e-13, -1e-13, 5e-10, -5e-10, 1e-8, -1e-8]),
)


@given(numbers, st.integers(0, 5))
def test_formatting_floats_agrees_with_rounding_decimals(number, places):
    rounded = round_half_up(Decimal(repr(number)), places)
    sign = MINUS if rounded < 0 else ""
    assert format_rounded(number, places) == f"{sign}{abs(rounded):f}"
    assert format_signed(number, places) == f"{sign or ('+' if rounded > 0 else '')}{abs(rounded):,f}"
