"""Two explanations against each other: which terms and fields make the difference of two engine scores, and which factors.

A term contributes a product, `boost × idf × tf`. The difference of two products is divided among their factors by the logarithmic
mean Divisia index (Ang 2005): with `L = (b - a) / ln(b / a)`, the factor that changed from f to g accounts for `L · ln(g / f)`
points. These add up to `b - a`, whatever the order of the factors.

See docs/decisions/0062.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from relevancy.engines.types import Contribution, Factor

from .explanations import COLOURS, DocumentExplanation

OTHER_FACTORS = "functions and tie breaker"
_NUMBER = re.compile(r"=-?\d[\d.eE+-]*")  # the value of a function in this document: log(votes=19.5)


@dataclass(frozen=True)
class FactorDifference:
    """What one factor of a term adds to the difference, in points. first, second: its values; 1 where it is left out."""

    name: str
    first: float
    second: float
    points: float
    first_inputs: Sequence[tuple[str, float]] = ()
    second_inputs: Sequence[tuple[str, float]] = ()

    @property
    def inputs(self) -> list[tuple[str, float, float]]:
        """What it was computed from, where that differs: name, first, second."""
        second = dict(self.second_inputs)
        return [(name, value, second[name]) for name, value in self.first_inputs if second.get(name, value) != value]


@dataclass(frozen=True)
class TermDifference:
    """A term and its points in both explanations; None where it did not match.

    factors: what makes the difference, the largest part first; empty if it matched in one only, or no factors are known.
    """

    label: str
    term: str
    field: str
    colour: int
    first: float | None
    second: float | None
    factors: Sequence[FactorDifference] = ()

    @property
    def difference(self) -> float:
        return (self.second or 0.0) - (self.first or 0.0)


@dataclass(frozen=True)
class FieldDifference:
    """The terms of a field, the one with the largest difference first. field: empty for functions."""

    field: str
    colour: int
    terms: Sequence[TermDifference]

    @property
    def difference(self) -> float:
        return math.fsum(term.difference for term in self.terms)


@dataclass(frozen=True)
class ExplanationDifference:
    """Two explanations, and the fields in which they differ, the largest difference first."""

    first: DocumentExplanation
    second: DocumentExplanation
    fields: Sequence[FieldDifference]

    @property
    def difference(self) -> float:
        """Points of the engine score by which the second is higher. Of a document that does not match, the clauses that do count."""
        return self.second.compared_score - self.first.compared_score


def compare_explanations(first: DocumentExplanation, second: DocumentExplanation) -> ExplanationDifference:
    """Returns what makes the difference between two engine scores: of two documents, or of one document in two runs.

    Of a document that does not match the query, the clauses that match it are compared: the score that it would have.
    """
    colours = {item.field: item.colour for explanation in (first, second) for item in explanation.slices}
    before, after = _by_term(first.compared_parts), _by_term(second.compared_parts)
    fields: dict[str, list[TermDifference]] = {}
    for key in dict.fromkeys([*before, *after]):
        earlier, later = before.get(key), after.get(key)
        part = later or earlier
        assert part is not None
        fields.setdefault(part.field, []).append(
            TermDifference(
                label=f"{part.field}:{part.term}" if part.field else _NUMBER.sub("", part.label),
                term=part.term,
                field=part.field,
                colour=colours.get(part.field, COLOURS),
                first=earlier.value if earlier else None,
                second=later.value if later else None,
                factors=_factor_differences(earlier, later) if earlier and later else (),
            )
        )
    listed = [
        FieldDifference(field, colours.get(field, COLOURS), sorted(terms, key=lambda term: -abs(term.difference)))
        for field, terms in fields.items()
    ]
    return ExplanationDifference(first, second, sorted(listed, key=lambda field: -abs(field.difference)))


def _by_term(parts: Iterable[Contribution]) -> dict[tuple[str, str], Contribution]:
    """Returns the contributions by field and term, or by function without the values that it has in the document."""
    by_term: dict[tuple[str, str], Contribution] = {}
    for part in parts:
        key = (part.field, part.term) if part.field else ("", _NUMBER.sub("", part.label))
        earlier = by_term.get(key)
        by_term[key] = replace(part, value=part.value + earlier.value, factors=()) if earlier else part
    return by_term


def _factor_differences(earlier: Contribution, later: Contribution) -> list[FactorDifference]:
    if not earlier.factors or not later.factors or earlier.value <= 0 or later.value <= 0:
        return []
    before, after = _all_factors(earlier), _all_factors(later)
    logarithmic_mean = (
        earlier.value
        if math.isclose(earlier.value, later.value, rel_tol=1e-12)
        else (later.value - earlier.value) / math.log(later.value / earlier.value)
    )
    differences = []
    for name in dict.fromkeys([*before, *after]):
        first, second = before.get(name, Factor(name, 1.0)), after.get(name, Factor(name, 1.0))
        points = logarithmic_mean * math.log(second.value / first.value)
        differences.append(FactorDifference(name, first.value, second.value, points, first.inputs, second.inputs))
    # The remainder of rounding is not a factor.
    shown = [
        difference for difference in differences if not math.isclose(difference.first, difference.second, rel_tol=2e-3)
    ]
    return sorted(shown, key=lambda factor: -abs(factor.points))


def _all_factors(part: Contribution) -> dict[str, Factor]:
    """Returns the factors by name, with what the functions around the term multiplied it by."""
    factors = {factor.name: factor for factor in part.factors}
    rest = part.value / math.prod(factor.value for factor in part.factors)
    return {**factors, OTHER_FACTORS: Factor(OTHER_FACTORS, rest)}
