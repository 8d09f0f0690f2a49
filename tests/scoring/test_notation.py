import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy.scoring import MeasureError, build_measure, get_definitions, parse_measure


@pytest.mark.parametrize(
    "text",
    [
        "nDCG@10", "nDCG(gain='linear',ideal='max')@5", "P(rel=2)@5", "AP", "AP@10", "RR@10", "ERR@20", "R@100",
        "RBP(p=0.5)@10", "Success@5", "Judged@10", "Bpref", "CG@10", "DCG@10", "AvgEdit", "AvgEdit@10", "P(rel=1.5)@1",
    ],
)  # fmt: skip
def test_str_round_trips(text):
    measure = parse_measure(text)
    assert str(measure) == text
    assert parse_measure(str(measure)) == measure
    assert hash(parse_measure(text)) == hash(measure)
    assert pickle.loads(pickle.dumps(measure)) == measure


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (" nDCG @ 10 ", "nDCG@10"),
        ('nDCG( ideal = "max" , gain="linear" )@5', "nDCG(gain='linear',ideal='max')@5"),
        ("nDCG(gain='exp')@10", "nDCG@10"),
        ("nDCG(gain=linear)@10", "nDCG(gain='linear')@10"),
        ("RBP(p=0.80)@10", "RBP@10"),
        ("P(rel=2.0)@010", "P(rel=2)@10"),
        ("AP()", "AP"),
    ],
)
def test_parse_canonical_form(text, canonical):
    assert str(parse_measure(text)) == canonical
    assert parse_measure(text) == parse_measure(canonical)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a measure"),
        ("@10", "is not a measure"),
        ("nDCG(gain='linear'@10", "is not a measure"),
        ("ndcg@10", "Did you mean nDCG.*Available: AvgEdit, nDCG, AP"),
        ("Quality", "There is no measure 'Quality'. Available: AvgEdit"),
        ("nDCG@0", "from 1 to 100000, not '0'"),
        ("nDCG@-1", "not '-1'"),
        ("nDCG@1.5", "not '1.5'"),
        ("nDCG@ten", "not 'ten'"),
        ("nDCG@", "not ''"),
        ("nDCG@10@5", "not '10@5'"),
        ("nDCG@99999999999", "not '99999999999'"),
        ("P", "needs a cutoff, such as P@10"),
        ("Bpref@10", "takes no cutoff"),
        ("nDCG(depth=3)@10", "no parameter 'depth'. Its parameters: gain, discount, ideal, unrated"),
        ("AvgEdit(rel=1)", "Its parameters: none"),
        ("nDCG(gain='cubic')@10", "cannot be 'cubic'. It can be: 'exp', 'linear'"),
        ("nDCG(gain=2)@10", "cannot be '2'"),
        ("nDCG(gain='exp',gain='exp')@10", "'gain' twice"),
        ("nDCG(linear)@10", "'linear' of nDCG is not valid"),
        ("nDCG(gain='exp',)@10", "is not valid"),
        ("P(rel='2')@10", "must be a number, not '2'"),
        ("P(rel=two)@10", "must be a number, not two"),
        ("P(rel=nan)@10", "must be a number"),
        ("P(rel=-1)@10", "at least 0, not -1"),
        ("P(rel=1e999)@10", "not 1e999"),
        ("RBP(p=1)", "greater than 0 and less than 1, not 1"),
        ("RBP(p=0)", "greater than 0 and less than 1"),
        ("RBP(p=1.2)", "greater than 0 and less than 1"),
    ],
)
def test_parse_refuses_invalid_measures(text, message):
    with pytest.raises(MeasureError, match=message):
        parse_measure(text)


@given(st.text(max_size=30))
def test_parse_gives_a_measure_or_a_measure_error_for_any_text(text):
    try:
        measure = parse_measure(text)
    except MeasureError:
        return
    assert parse_measure(str(measure)) == measure


def test_every_parameter_and_choice_round_trips():
    for definition in get_definitions().values():
        cutoff = "" if definition.cutoff == "none" else "@7"
        for parameter in definition.parameters:
            for value in [choice for choice, _ in parameter.choices] or ["0.5"]:
                measure = parse_measure(f"{definition.name}({parameter.name}={value}){cutoff}")
                assert parse_measure(str(measure)) == measure
                assert measure.parameters[parameter.name] == (value if parameter.choices else 0.5)


def test_required_depth():
    assert parse_measure("nDCG@10").required_depth() == 10
    assert parse_measure("AP").required_depth() is None
    assert parse_measure("nDCG(ideal='recall')@10").required_depth() is None
    assert parse_measure("P(unrated='skip')@10").required_depth() is None


def test_settings_use_the_threshold_of_the_scale():
    assert parse_measure("P@5").settings(6).number("rel") == 6
    assert parse_measure("P(rel=2)@5").settings(6).number("rel") == 2
    with pytest.raises(TypeError, match="rel"):
        parse_measure("P@5").settings(None).number("rel")


@pytest.mark.parametrize(
    ("name", "values", "cutoff", "text"),
    [
        ("nDCG", {"gain": "linear", "ideal": "max"}, 5, "nDCG(gain='linear',ideal='max')@5"),
        ("nDCG", {"gain": "exp", "discount": None, "unrated": ""}, 10.0, "nDCG@10"),
        ("P", {"rel": 2}, 5, "P(rel=2)@5"),
        ("P", {"rel": "1.5"}, 1, "P(rel=1.5)@1"),
        ("RBP", {"p": 0.5}, None, "RBP(p=0.5)"),
        ("RBP", {"p": 0.00001}, None, "RBP(p=1e-05)"),
        ("AP", {}, None, "AP"),
        ("Bpref", {"rel": None}, None, "Bpref"),
    ],
)
def test_build_measure(name, values, cutoff, text):
    assert str(build_measure(name, values, cutoff)) == text
    assert build_measure(name, values, cutoff) == parse_measure(text)


@pytest.mark.parametrize(
    ("name", "values", "cutoff", "message"),
    [
        ("Quality", {}, None, "There is no measure 'Quality'"),
        ("nDCG", {"depth": 3}, 10, "no parameter 'depth'. Its parameters: gain, discount, ideal, unrated"),
        ("nDCG", {"depth": None}, 10, "no parameter 'depth'"),
        ("nDCG", {"gain": "cubic"}, 10, "cannot be 'cubic'. It can be: 'exp', 'linear'"),
        ("nDCG", {"gain": 2}, 10, "cannot be '2'"),
        ("nDCG", {}, 0, "from 1 to 100000, not '0'"),
        ("nDCG", {}, -1, "not '-1'"),
        ("nDCG", {}, 2.5, "not '2.5'"),
        ("nDCG", {}, float("nan"), "not 'nan'"),
        ("nDCG", {}, float("inf"), "not 'inf'"),
        ("nDCG", {}, 100_001, "not '100001'"),
        ("P", {}, None, "needs a cutoff, such as P@10"),
        ("Bpref", {}, 10, "takes no cutoff"),
        ("P", {"rel": "two"}, 10, "must be a number, not two"),
        ("P", {"rel": -1}, 10, "at least 0, not -1"),
        ("P", {"rel": float("nan")}, 10, "must be a number, not nan"),
        ("P", {"rel": float("inf")}, 10, "must be a number, not inf"),
        ("RBP", {"p": 1}, None, "greater than 0 and less than 1, not 1"),
        ("RBP", {"p": 0.0}, None, "greater than 0 and less than 1, not 0.0"),
    ],
)
def test_build_measure_refuses_invalid_values(name, values, cutoff, message):
    with pytest.raises(MeasureError, match=message):
        build_measure(name, values, cutoff)


def test_build_measure_accepts_the_parameters_of_a_measure():
    for definition in get_definitions().values():
        cutoff = None if definition.cutoff == "none" else 7
        for parameter in definition.parameters:
            for value in [choice for choice, _ in parameter.choices] or [0.5]:
                measure = build_measure(definition.name, {parameter.name: value}, cutoff)
                assert build_measure(measure.name, measure.parameters, measure.cutoff) == measure
