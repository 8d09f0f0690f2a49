import pytest

from relevancy.scoring.reasons.facts import as_sentence, count_in_words, describe_count, join_clauses


def test_count_in_words():
    assert [count_in_words(count) for count in (0, 1, 10, 11)] == ["no", "one", "ten", "11"]


def test_join_clauses():
    assert [join_clauses(list(parts)) for parts in ("", "a", "ab", "abc")] == ["", "a", "a and b", "a, b, and c"]


def test_as_sentence():
    assert as_sentence("none is") == "None is."


@pytest.mark.parametrize(
    ("count", "size", "k", "text"),
    [
        (3, 10, 10, "three of the first ten results are x"), (1, 10, 10, "one of the first ten results is x"),
        (0, 10, 10, "none of the first ten results is x"), (10, 10, 10, "all of the first ten results are x"),
        (2, 2, 2, "both of the first two results are x"), (0, 2, 5, "neither of the two results returned is x"),
        (1, 1, 1, "the first result is x"), (0, 1, 5, "the only result returned is not x"),
        (0, 0, 5, "no rated results were returned"), (12, 30, 30, "12 of the first 30 results are x"),
    ],
)  # fmt: skip
def test_describe_count(count, size, k, text):
    assert describe_count(count, size, k, "x") == text
