"""Rules in files with whole cases, and in copies of a case."""

import json

import pytest

from relevancy import cases, queries
from relevancy.formats import BadFile, parse_case
from relevancy.optional.query_classes import case_part, rules
from relevancy.optional.query_classes.applying import apply_rules
from tests.factories import make_case, make_user, query_of
from tests.formats.relevancy_files import CASE, as_file
from tests.formats.test_relevancy_file import exported, imported

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
SETTINGS = [
    ("words", {"words": ["red", "blue shoe"]}),
    ("word_count", {"minimum": 5, "maximum": None}),
    ("digit", {}),
    ("script", {"script": "Cyrillic"}),
    ("pattern", {"pattern": r"\bnew\b", "ignores_case": False}),
    ("option", {"key": "market", "value": ""}),
    ("list", {"texts": ["iphone", "Zoë’s"]}),
]


@pytest.fixture
def case():
    made = make_case(0, {}, owner=make_user("Root", superuser=True))
    queries.add(case=made, texts=["iphone 15", "red shoe"])
    for kind, settings in SETTINGS:
        rules.create(case=made, tag=f"tag {kind}", kind=kind, settings=settings, by=made.owner)
    return made


def rules_of(case):
    return [(rule.tag, rule.kind, rule.settings) for rule in rules.list_rules(case)]


def test_rules_travel_with_the_file_and_are_applied(case):
    file = exported(case, case.owner)
    assert json.loads(file)["apps"]["query_classes"][0] == {
        "tag": "tag words",
        "kind": "words",
        "settings": {"words": ["red", "blue shoe"]},
    }
    copy = imported(file, case.owner)
    assert rules_of(copy) == rules_of(case)
    assert exported(copy, case.owner) == file
    assert apply_rules(copy)
    assert query_of(copy, "iphone 15").tags == ["tag digit"]


def test_copies_of_a_case_have_its_rules(case):
    copy = cases.duplicate(case=case, name="Copy", ratings="none", with_attempts=False, by=case.owner).case
    assert rules_of(copy) == rules_of(case)


def test_cases_without_rules_have_nothing_in_the_file():
    case = make_case(2, {})
    assert case_part.write(case) is None


GOOD = {"tag": "long", "kind": "word_count", "settings": {"minimum": 5}}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"rules": []}, r"^apps\.query_classes: this must be a list of rules"),
        ([GOOD, 3], r"^apps\.query_classes\[2\]: this must be an object, not 3"),
        ([{**GOOD, "tags": "x"}], r"^apps\.query_classes\[1\]: 'tags' is not a member"),
        ([{**GOOD, "kind": "colour"}], r"^apps\.query_classes\[1\]\.kind: 'colour' is not one of words, "),
        ([{**GOOD, "tag": "a, b"}], r"^apps\.query_classes\[1\]\.tag: Enter one tag"),
        ([{**GOOD, "settings": {"minimum": -1}}], r"^apps\.query_classes\[1\]\.settings\.minimum: "),
        ([{**GOOD, "settings": {"minimum": 1.5}}], r"\[1\]\.settings\.minimum: 1.5 is no setting"),
        ([{**GOOD, "settings": {"least": 5}}], r"\[1\]\.settings: .*has no setting 'least'"),
        ([{**GOOD, "kind": "pattern", "settings": {"pattern": "(("}}], r"\[1\]\.settings"),
        ([{**GOOD, "kind": "words", "settings": {"words": [{}]}}], r"\[1\]\.settings\.words: "),
        ([GOOD] * 51, r"^apps\.query_classes: there are 51 rules; a case can have 50"),
    ],
)
def test_malformed_rules_are_refused_with_their_location(value, message):
    with pytest.raises(BadFile, match=message):
        parse_case(as_file({**CASE, "apps": {"query_classes": value}}))
