import pytest

from relevancy.scoring.phrases import some
from relevancy.scoring.wording import half_up, in_words, joined, plain, sentence


@pytest.mark.parametrize(
    ("number", "places", "text"),
    [
        (61.0, 1, "61.0"), (14.25, 1, "14.3"), (0.1425 * 100, 1, "14.3"), (2.5, 0, "3"), (-2, 0, "−2"), (-0.01, 1, "0.0"),
        (0.99995, 4, "1.0000"), (12345.675, 2, "12345.68"), (1e18, 1, "1000000000000000000.0"), (1 / 3, 4, "0.3333"),
    ],
)  # fmt: skip
def test_half_up(number, places, text):
    assert half_up(number, places) == text


@pytest.mark.parametrize(
    ("number", "text"), [(3.0, "3"), (0.5, "0.5"), (7 / 3, "2.333"), (10, "10"), (0, "0"), (100, "100")]
)
def test_plain(number, text):
    assert plain(number) == text


def test_plain_to_fewer_places():
    assert plain(7 / 3, 2) == "2.33"
    assert plain(100, 0) == "100"


def test_in_words():
    assert [in_words(count) for count in (0, 1, 10, 11)] == ["no", "one", "ten", "11"]


def test_joined_and_sentence():
    assert [joined(list(parts)) for parts in ("", "a", "ab", "abc")] == ["", "a", "a and b", "a, b and c"]
    assert sentence("none is") == "None is."


@pytest.mark.parametrize(
    ("count", "size", "depth", "text"),
    [
        (3, 10, 10, "three of the first ten are x"), (1, 10, 10, "one of the first ten is x"),
        (0, 10, 10, "none of the first ten is x"), (10, 10, 10, "all of the first ten are x"),
        (2, 2, 2, "both of the first two are x"), (0, 2, 5, "neither of the two returned is x"),
        (1, 1, 1, "the first document is x"), (0, 1, 5, "the only document returned is not x"),
        (0, 0, 5, "no document was left to count"), (12, 30, 30, "12 of the first 30 are x"),
    ],
)  # fmt: skip
def test_some(count, size, depth, text):
    assert some(count, size, depth, "x") == text
