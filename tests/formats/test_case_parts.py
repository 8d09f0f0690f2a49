"""What optional apps have of a case, in files with whole cases and in copies of a case."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy import cases, hooks
from relevancy.formats import BadFile, parse_case
from relevancy.formats.cases import case_import
from relevancy.hooks import CasePart
from tests.factories import make_case, make_user

from .relevancy_files import BOOK, CASE, as_file
from .test_relevancy_file import exported, imported

pytestmark = pytest.mark.django_db
NULLS = st.none() | st.booleans() | st.integers(-5, 2**40) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    NULLS | st.text(max_size=8),
    lambda values: st.lists(values, max_size=4) | st.dictionaries(st.text(max_size=8), values, max_size=4),
    max_leaves=12,
)


@pytest.fixture
def owner(script):
    return make_user("Root", superuser=True)


@pytest.fixture
def notes(monkeypatch):
    """An app that keeps a note for each case. Returns `{id of the case: note}`."""
    kept = {}

    def read(value, location):
        if not isinstance(value, str):
            raise BadFile(f"{location}: this must be a text, not {value!r}.")
        return value

    part = CasePart(lambda case: kept.get(case.pk), read, lambda case, note, by: kept.update({case.pk: f"{note} {by}"}))
    monkeypatch.setattr(hooks, "case_parts", {"notes": part})
    return kept


def test_a_part_is_written_and_stored_with_the_imported_case(owner, notes):
    case = make_case(["phone"], owner=owner)
    plain = exported(case, owner)
    assert "apps" not in json.loads(plain)
    notes[case.pk] = "one\ntwo"
    content = json.loads(exported(case, owner))
    assert content["apps"] == {"notes": "one\ntwo"}
    copy = imported(content, owner)
    assert notes[copy.pk] == f"one\ntwo {owner}"


def test_a_part_of_an_app_that_is_not_there_is_left_out_and_named(owner, notes):
    content = parse_case(as_file({**CASE, "apps": {"notes": None, "maps": {"a": [1]}}}))
    plan = case_import.plan_case(content=content, by=owner)
    assert plan.remarks == ["What the file has of the app 'maps' is left out: this site does not have the app."]
    case = case_import.import_case(plan=plan, by=owner, endpoint=None)
    assert notes == {} and case.name == CASE["name"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({**CASE, "apps": {"notes": 3}}, r"^apps\.notes: this must be a text, not 3"),
        ({**CASE, "apps": ["notes"]}, r"^apps: this must be a valid dictionary, not \['notes'\]"),
        ({**BOOK, "kind": "book", "apps": {}}, "kind: this file contains a book"),
    ],
)
def test_a_malformed_part_is_refused_with_its_location(notes, content, message):
    with pytest.raises(BadFile, match=message):
        parse_case(as_file(content))


def test_a_copy_of_a_case_has_its_parts(owner, notes):
    case = make_case(["phone"], owner=owner)
    notes[case.pk] = "kept"
    copied = cases.duplicate(case=case, name="Copy", ratings="none", with_attempts=False, by=owner).case
    assert notes[copied.pk] == f"kept {owner}"
    del notes[case.pk]
    copied = cases.duplicate(case=case, name="Copy 2", ratings="none", with_attempts=False, by=owner).case
    assert copied.pk not in notes


@given(value=JSON)
def test_every_app_reads_any_json_or_names_the_location(value):
    for name, part in hooks.case_parts.items():
        try:
            part.read(value, f"apps.{name}")
        except BadFile as error:
            assert str(error).startswith(f"apps.{name}")
