"""Scorers as files: export, import, and export again; what is rejected."""

import json

import pytest
from django.core.exceptions import ValidationError

from relevancy import scorers
from relevancy.formats import BadFile
from relevancy.formats.relevancy import scorer_file
from relevancy.models import Scorer, ScorerDefinition
from relevancy.models.errors import error_fields
from tests.factories import make_user

pytestmark = pytest.mark.django_db
SCALE = [[0, "Poor"], [1, ""], [2, "Good, very"]]
SCRIPT = 'const k = 3;\n\nsetScore("é".length * avgRating100(k));\n'
GOOD = {"format": "relevancy-scorer/1", "name": "Mine", "scale": [[0, "Poor"], [1, "Good"]], "measure": "P@5"}


@pytest.fixture
def user():
    return make_user("Ann")


def made(user, name="Mine", **definition):
    return scorers.create(
        name=name, description="Why?\nTwo lines.", definition=ScorerDefinition(scale=SCALE, **definition), by=user
    )


def out(scorer):
    return scorer_file.export_scorer(scorer=scorer, version=scorers.newest_version(scorer))


def test_export_of_a_measure(user):
    assert out(made(user, measure="nDCG(gain='linear')@5", count_unscoreable_as_zero=True)) == (
        '{\n  "format": "relevancy-scorer/1",\n  "name": "Mine",\n  "description": "Why?\\nTwo lines.",\n'
        '  "scale": [\n    [0, "Poor"],\n    [1, ""],\n    [2, "Good, very"]\n  ],\n'
        '  "measure": "nDCG(gain=\'linear\')@5",\n  "count_unscoreable_as_zero": true\n}\n'
    )


def test_export_of_a_script_has_a_line_per_line(user):
    text = out(made(user, script=SCRIPT, output_range="1"))
    assert (
        '  "script": [\n    "const k = 3;",\n    "",\n    "setScore(\\"é\\".length * avgRating100(k));",\n    ""\n  ],\n'
        in text
    )
    assert '  "gives": "1",\n  "depth": 3,\n' in text
    assert list(json.loads(text)) == [
        "format",
        "name",
        "description",
        "scale",
        "script",
        "gives",
        "depth",
        "count_unscoreable_as_zero",
    ]


@pytest.mark.parametrize(
    "definition",
    [{"measure": "RBP(p=0.5)@7"}, {"script": SCRIPT, "output_range": "1", "cutoff": 9}],
    ids=["measure", "script"],
)
def test_round_trip_byte_for_byte(user, definition):
    scorer = made(user, **definition)
    text = out(scorer)
    scorer.delete()
    again = scorer_file.import_scorer(text=text, by=user)
    assert out(again) == text
    assert again.owner == user


def test_load_under_another_name(user):
    assert scorer_file.import_scorer(text=json.dumps(GOOD), by=user, name="Other").name == "Other"
    assert not Scorer.objects.filter(name="Mine").exists()


def test_load_a_name_that_is_taken(user):
    scorer_file.import_scorer(text=json.dumps(GOOD), by=user)
    with pytest.raises(ValidationError, match="cannot be used") as caught:
        scorer_file.import_scorer(text=json.dumps(GOOD), by=user)
    assert error_fields(caught.value) == ["name"]


def test_load_global(user):
    with pytest.raises(ValidationError, match="admin"):
        scorer_file.import_scorer(text=json.dumps(GOOD), by=user, is_global=True)
    assert scorer_file.import_scorer(text=json.dumps(GOOD), by=make_user(superuser=True), is_global=True).owner is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "relevancy/1"}, "format: this is not an exported scorer"),
        ({"name": None}, "name: this is missing"),
        ({"name": 3}, "name: this must be a valid string, not 3"),
        ({"extra": 1}, "'extra' is not a member"),
        ({"script": ["x"]}, "a scorer must have exactly one of measure and script"),
        ({"measure": "nDGC@5"}, "measure: There is no measure 'nDGC'"),
        ({"measure": "P@0"}, "measure: The cutoff of P"),
        ({"scale": "0:3"}, "scale: this must be a list"),
        ({"scale": [[0, "a"]]}, "scale: A scale needs at least two"),
        ({"scale": [[0, "a"], [0, "b"]]}, "scale: The scale contains the grade 0 twice"),
        ({"scale": [[0, "a"], [2, "b"]]}, "scale: The scale 0, 2 has a gap"),
        ({"scale": [["0", "a"], [1, "b"]]}, "scale: the grades must be numbers"),
        ({"scale": [[True, "a"], [2, "b"]]}, "scale: the grades must be numbers"),
        ({"scale": [[0, 1], [1, 2]]}, "scale: this must be a list"),
        ({"count_unscoreable_as_zero": 1}, "count_unscoreable_as_zero: this must be a valid boolean, not 1"),
        ({"description": ["a"]}, "description: this must be a valid string"),
    ],
)
def test_load_refuses_a_bad_field(user, change, message):
    with pytest.raises(BadFile) as caught:
        scorer_file.import_scorer(text=json.dumps({**GOOD, **change}), by=user)
    assert str(caught.value).startswith(message)
    assert not Scorer.objects.filter(name="Mine").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"script": ["let a = 1;", "let b = ;"]}, "script, line 2, column 9: "),
        ({"script": "let b = ;"}, "script, line 1, column 9: "),
        ({"script": [1]}, "script: this must be a list of lines"),
        ({"script": ["x" * 100_001]}, "script: this has 100,001 characters"),
        ({"depth": 2.5}, "depth: this must be a valid integer, not 2.5"),
        ({"depth": True}, "depth: this must be a valid integer, not True"),
        ({"depth": 0}, "depth: A script cannot consider 0 results"),
        ({"gives": 100}, "gives: this must be a valid string, not 100"),
        ({"gives": "10"}, "gives: '10' is not a range of scores"),
    ],
)
def test_load_refuses_a_bad_script(user, change, message):
    good = {key: value for key, value in GOOD.items() if key != "measure"} | {"script": ["setScore(1);"]}
    with pytest.raises(BadFile) as caught:
        scorer_file.import_scorer(text=json.dumps({**good, **change}), by=user)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("key", ["name", "scale"])
def test_load_names_what_is_missing(user, key):
    with pytest.raises(BadFile, match=f"{key}: this is missing"):
        scorer_file.import_scorer(
            text=json.dumps({name: value for name, value in GOOD.items() if name != key}), by=user
        )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n  "format": \n}', "Line 3: column 1: this is not valid JSON"),
        ("", "Line 1: column 1: this is not valid JSON"),
        ("[]", "This is not a JSON object"),
        ("{}", "format: this is not an exported scorer"),
        ('{"scale": ' + "[" * 100_000, "scale: this JSON is nested too deeply"),
    ],
    ids=["cut", "empty", "list", "without format", "deep"],
)
def test_read_refuses_files_without_a_scorer(text, message):
    with pytest.raises(BadFile) as caught:
        scorer_file.parse_scorer(text)
    assert str(caught.value).startswith(message)
