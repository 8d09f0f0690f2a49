"""What a measure says about itself: formula, advice, pitfall, worked example."""

import re
import warnings

import pytest
from latex2mathml.converter import convert

from relevancy.scoring import Batch, Definition, Example, Scale, definitions, parse_measure, values
from relevancy.scoring.measure import Measure
from relevancy.scoring.registry import BUILT_IN
from tests.scoring.every_measure import MEASURES

IDS = [definition.name for definition in BUILT_IN]


@pytest.mark.parametrize("definition", BUILT_IN, ids=IDS)
def test_every_measure_has_advice_and_a_pitfall_of_one_to_three_sentences(definition):
    for text in (definition.advice, definition.pitfall):
        assert len(re.findall(r"[.:](?: |$)", text)) >= 1
        assert len(re.findall(r"\.(?: [A-Z]|$)", text)) <= 3
        assert text.endswith(".")
    assert definition.advice != definition.pitfall


@pytest.mark.parametrize("definition", BUILT_IN, ids=IDS)
def test_every_example_comes_out(definition):
    example = definition.example
    measure = parse_measure(example.measure)
    assert measure.name == definition.name
    batch = Batch.from_grades([example.grades], Scale.parse(example.scale), [example.extra])
    assert values(measure, batch, len(example.grades))[0] == pytest.approx(example.value, abs=5e-7)


def test_every_formula_becomes_mathml():
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
        ("P@3", "for a relevant document"),
        ("RBP(p=0.95)@3", r"(1 - 0.95) \sum_{r=1}^{3} 0.95^{r-1}"),
        ("ERR@20", r"\sum_{r=1}^{20}"),
        ("AvgEdit@10", "first } 10"),
    ],
)
def test_formula_holds_the_parameters(measure, part):
    assert part in parse_measure(measure).formula()


def test_every_parameter_that_is_a_choice_changes_the_formula():
    for definition in BUILT_IN:
        cutoff = "" if definition.cutoff == "none" else "@5"
        for parameter in definition.parameters:
            given = [choice for choice, _ in parameter.choices] or ["0.25", "0.75"]
            formulas = {
                parse_measure(f"{definition.name}({parameter.name}={value}){cutoff}").formula() for value in given
            }
            assert len(formulas) == len(given), (definition.name, parameter.name)


def test_a_definition_of_fifteen_lines_still_works(monkeypatch):
    plain = Definition("Shown", "Shown", "How many results there are.", lambda slots, _settings: slots.held)
    written = Definition(
        "Half", "Half", "Half of them.", lambda slots, _settings: slots.held / 2, formula=r"\frac{n}{2}"
    )
    found = {**definitions(), "Shown": plain, "Half": written}
    monkeypatch.setattr("relevancy.scoring.measure.definitions", lambda: found)
    assert Measure("Shown").formula() == ""
    assert Measure("Half").formula() == r"\frac{n}{2}"
    assert plain.example is None and plain.advice == plain.pitfall == ""


def test_examples_can_be_compared():
    assert Example("AP", (1, None), (), "0:1", 1.0) == Example("AP", (1, None), (), "0:1", 1.0)
