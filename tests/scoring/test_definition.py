"""How a measure describes itself: formula, advice, pitfall, worked example."""

import re
import warnings

import pytest
from latex2mathml.converter import convert

from relevancy.scoring import Definition, Measure, Scale, get_definitions, parse_measure
from relevancy.scoring.registry import BUILT_IN
from tests.scoring.measure_variants import MEASURES
from tests.scoring.ranking_scores import batch_from_grades, compute_values

IDS = [definition.name for definition in BUILT_IN]


@pytest.mark.parametrize("definition", BUILT_IN, ids=IDS)
def test_advice_and_pitfall_have_one_to_three_sentences(definition):
    for text in (definition.advice, definition.pitfall):
        assert len(re.findall(r"[.:](?: |$)", text)) >= 1
        assert len(re.findall(r"\.(?: [A-Z]|$)", text)) <= 3
        assert text.endswith(".")
    assert definition.advice != definition.pitfall


@pytest.mark.parametrize("definition", BUILT_IN, ids=IDS)
def test_example_has_the_stated_value(definition):
    example = definition.example
    measure = parse_measure(example.measure)
    assert measure.name == definition.name
    batch = batch_from_grades([example.grades], Scale.parse(example.scale), [example.unretrieved])
    assert compute_values(measure, batch, len(example.grades))[0] == pytest.approx(example.value, abs=5e-7)


def test_every_formula_can_be_converted_to_mathml():
    for text in MEASURES:
        latex = parse_measure(text).formula()
        assert "None" not in latex
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mathml = convert(latex)
        assert "\\" not in mathml and "merror" not in mathml, latex


@pytest.mark.parametrize(
    ("measure", "part"),
    [
        ("nDCG@7", r"\sum_{r=1}^{7} \frac{2^{g_r} - 1}{\log_2(r + 1)}"),
        ("nDCG(gain='linear',discount='ln')@7", r"\sum_{r=1}^{7} \frac{g_r}{\ln(r + 1)}"),
        ("nDCG(ideal='recall')@7", "the best 7 of everything returned"),
        ("nDCG(ideal='uncut')@7", r"n \text{ known}"),
        ("nDCG(ideal='max')", r"n \text{ returned}"),
        ("DCG", r"\text{DCG@}k = \sum_{r=1}^{k}"),
        ("DCG(unrated='skip')@3", "counts rated documents only"),
        ("CG(gain='linear')@3", r"\sum_{r=1}^{3} g_r"),
        ("P(rel=2)@3", r"g_r \ge 2"),
        ("P(denominator='returned')@3", r"\min(3, n)"),
        ("P@3", "if the document is relevant"),
        ("RBP(p=0.95)@3", r"(1 - 0.95) \sum_{r=1}^{3} 0.95^{r-1}"),
        ("ERR@20", r"\sum_{r=1}^{20}"),
        ("AvgEdit@10", "first } 10"),
    ],
)
def test_formula_contains_the_parameters(measure, part):
    assert part in parse_measure(measure).formula()


def test_every_choice_changes_the_formula():
    for definition in BUILT_IN:
        cutoff = "" if definition.cutoff == "none" else "@5"
        for parameter in definition.parameters:
            values = [choice for choice, _ in parameter.choices] or ["0.25", "0.75"]
            formulas = {
                parse_measure(f"{definition.name}({parameter.name}={value}){cutoff}").formula() for value in values
            }
            assert len(formulas) == len(values), (definition.name, parameter.name)


def test_a_definition_needs_only_four_fields(monkeypatch):
    length = Definition("Length", "Length", "Number of results.", lambda slots, _settings: slots.filled_counts)
    half = Definition(
        "Half", "Half", "Half of it.", lambda slots, _settings: slots.filled_counts / 2, formula=r"\frac{n}{2}"
    )
    definitions = {**get_definitions(), "Length": length, "Half": half}
    monkeypatch.setattr("relevancy.scoring.registry.get_definitions", lambda: definitions)
    assert Measure("Length").formula() == ""
    assert Measure("Half").formula() == r"\frac{n}{2}"
    assert length.example is None and length.advice == length.pitfall == ""
