import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy.statistics import jaccard, rbo

rankings = st.lists(st.sampled_from("abcdefghijkl"), unique=True, max_size=10)


@pytest.mark.parametrize(
    ("a", "b", "p", "expected"),
    [
        ("abcde", "bacfg", 0.9, 0.619335),
        ("abc", "abc", 0.9, 1),
        ("abc", "defg", 0.9, 0),
        ("abcde", "edcba", 0.9, 0.737775),
        ("abcd", "acbdefgh", 0.8, 0.92),
        ("", "", 0.9, 1),
        ("", "ab", 0.9, 0),
    ],
)
def test_rbo_worked_examples(a, b, p, expected):
    assert rbo(list(a), list(b), p) == pytest.approx(expected, abs=5e-7)


@given(rankings, rankings)
def test_rbo_laws(a, b):
    assert rbo(a, b) == pytest.approx(rbo(b, a))
    assert 0 <= rbo(a, b) <= 1 + 1e-12
    assert rbo(a, a) == pytest.approx(1)


@given(rankings, rankings)
def test_rbo_is_the_formula(a, b):
    """Equation 32 written out with sets."""
    short, long = sorted((a, b), key=len)
    s, n, p = len(short), len(long), 0.9
    if not s:
        return
    overlap = [len(set(short[:depth]) & set(long[:depth])) for depth in range(n + 1)]
    total = sum(overlap[d] / d * p**d for d in range(1, n + 1))
    total += sum(overlap[s] * (d - s) / (s * d) * p**d for d in range(s + 1, n + 1))
    expected = (1 - p) / p * total + ((overlap[n] - overlap[s]) / n + overlap[s] / s) * p**n
    assert rbo(a, b) == pytest.approx(expected)


def test_jaccard():
    assert jaccard(list("abc"), list("bcd")) == 0.5
    assert jaccard(list("abc"), list("abd"), 2) == 1
    assert jaccard([], []) == 1
    assert jaccard([], ["a"]) == 0
