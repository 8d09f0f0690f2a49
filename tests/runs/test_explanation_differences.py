"""What makes the difference between two engine scores."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy.engines.types import Contribution, Factor
from relevancy.runs import DocumentExplanation, compare_explanations
from relevancy.runs.explanation_differences import OTHER_FACTORS

numbers = st.floats(0.01, 100)


def part(field: str, term: str, value: float, **factors: float) -> Contribution:
    listed = tuple(Factor(name, factor) for name, factor in factors.items())
    return Contribution(field, term, f"{field}:{term}" if field else term, value, factors=listed)


def explanation(*parts: Contribution) -> DocumentExplanation:
    return DocumentExplanation("1", math.fsum(item.value for item in parts), parts, [])


def test_difference_by_field_and_term() -> None:
    first = explanation(part("title", "rings", 1.0), part("overview", "lord", 2.0))
    second = explanation(part("title", "rings", 3.0), part("title", "lord", 1.2), part("overview", "lord", 1.6))
    result = compare_explanations(first, second)
    assert result.difference == pytest.approx(2.8)
    assert [(field.field, round(field.difference, 6)) for field in result.fields] == [
        ("title", 3.2),
        ("overview", -0.4),
    ]
    title = result.fields[0]
    assert [(term.label, term.first, term.second) for term in title.terms] == [
        ("title:rings", 1.0, 3.0),
        ("title:lord", None, 1.2),
    ]


def test_factor_that_differs_alone_makes_the_whole_difference() -> None:
    first = explanation(part("title", "rings", 2.0, boost=2.0, idf=2.0, tf=0.5))
    second = explanation(part("title", "rings", 6.0, boost=2.0, idf=6.0, tf=0.5))
    ((term,),) = [field.terms for field in compare_explanations(first, second).fields]
    assert [(factor.name, round(factor.points, 9)) for factor in term.factors] == [("idf", 4.0)]


def test_factors_in_opposite_directions() -> None:
    """Worked example: from 2 · 3 = 6 to 4 · 2 = 8; L = 2 / ln(8 / 6) = 6.952119."""
    first, second = part("title", "rings", 6.0, idf=2.0, tf=3.0), part("title", "rings", 8.0, idf=4.0, tf=2.0)
    ((term,),) = [field.terms for field in compare_explanations(explanation(first), explanation(second)).fields]
    assert {factor.name: round(factor.points, 4) for factor in term.factors} == {"idf": 4.8188, "tf": -2.8188}


def test_boost_that_is_left_out_is_1_and_functions_are_a_factor() -> None:
    first = explanation(part("title", "rings", 2.0, idf=2.0))
    second = explanation(part("title", "rings", 12.0, boost=3.0, idf=2.0))
    ((term,),) = [field.terms for field in compare_explanations(first, second).fields]
    assert {factor.name for factor in term.factors} == {"boost", OTHER_FACTORS}
    assert math.fsum(factor.points for factor in term.factors) == pytest.approx(10)


def test_functions_are_the_same_whatever_value_they_have_in_a_document() -> None:
    first, second = explanation(part("", "log(votes=3)", 1.0)), explanation(part("", "log(votes=19.5)", 2.5))
    ((term,),) = [field.terms for field in compare_explanations(first, second).fields]
    assert (term.label, term.first, term.second) == ("log(votes)", 1.0, 2.5)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5), numbers, numbers)
def test_points_of_factors_add_up_to_the_difference(pairs: list[tuple[float, float]], one: float, other: float) -> None:
    names = [f"factor {number}" for number in range(len(pairs))]
    values = [math.prod(side) for side in zip(*pairs, strict=True)]
    before = part("title", "x", values[0] * one, **{name: first for name, (first, _) in zip(names, pairs, strict=True)})
    after = part("title", "x", values[1] * other, **{name: last for name, (_, last) in zip(names, pairs, strict=True)})
    result = compare_explanations(explanation(before), explanation(after))
    ((term,),) = [field.terms for field in result.fields]
    scale = max(before.value, after.value)
    total = math.fsum(factor.points for factor in term.factors)
    assert total == pytest.approx(
        term.difference, abs=0.02 * scale
    )  # factors that differ by less than 0.2 % are left out
    mirrored = compare_explanations(explanation(after), explanation(before))
    assert mirrored.difference == pytest.approx(-result.difference)
