"""Rules by the API and by the command."""

import pytest

from relevancy import queries
from relevancy.optional.query_classes import rules
from relevancy.optional.query_classes.models import TagRule
from tests.commands.test_commands import command
from tests.factories import make_case, query_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def case():
    case = make_case(0, {})
    queries.add(case=case, texts=["iphone 15", "iphone", "galaxy 9"])
    return case


@pytest.fixture
def client(api, case):
    return api(case.owner)


def test_rules_by_the_api(client, case):
    path = f"/cases/{case.pk}/tag-rules"
    new = {"tag": "digits", "kind": "digit"}
    preview = client.send("POST", f"{path}/preview", new).json()
    assert (preview["queries"], preview["matches"], preview["tagged"]) == (3, 2, 0)
    assert preview["listed"][0] == {"text": "iphone 15", "has_tag": False}
    assert not TagRule.objects.exists()
    created = client.send("POST", path, new)
    assert created.status_code == 201
    listed = client.get(path)
    assert not listed["is_pending"]
    assert [(rule["tag"], rule["condition"], rule["matches"]) for rule in listed["rules"]] == [
        ("digits", "contains a digit", 2)
    ]
    assert query_of(case, "iphone 15").tags == ["digits"]
    assert client.send("POST", f"{path}/apply").status_code == 202
    rule_id = listed["rules"][0]["id"]
    assert client.send("DELETE", f"{path}/{rule_id}?tags=remove").status_code == 204
    assert client.get(path)["rules"] == []
    assert query_of(case, "iphone 15").tags == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"tag": "a", "kind": "words", "settings": {"words": []}}, "Enter at least one word"),
        ({"tag": "a", "kind": "word_count", "settings": {"low": 3}}, "has no setting 'low'"),
        ({"tag": "a", "kind": "pattern", "settings": {"pattern": "("}}, "is not valid"),
        ({"tag": "a", "kind": "colour"}, "kind"),
    ],
)
def test_mistakes(client, case, body, reason):
    response = client.send("POST", f"/cases/{case.pk}/tag-rules", body)
    assert response.status_code == 422
    assert reason in response.content.decode()
    assert not TagRule.objects.exists()


def test_patterns_ignore_case_unless_the_settings_say_otherwise(client, case):
    path = f"/cases/{case.pk}/tag-rules/preview"
    for settings, matches in (({}, 2), ({"ignores_case": False}, 0), ({"ignores_case": True}, 2)):
        body = {"tag": "a", "kind": "pattern", "settings": {"pattern": "^IPHONE", **settings}}
        assert client.send("POST", path, body).json()["matches"] == matches


def test_the_command_lists_creates_and_applies_rules(case):
    rules.create(case=case, tag="digits", kind="digit", settings={}, by=case.owner)
    assert command("query_classes", case.pk).splitlines() == [
        "digits: contains a digit – not applied yet",
        "The rules have yet to be applied to the queries as they are.",
    ]
    printed = command("query_classes", case.pk, "--usual", "--apply").splitlines()
    assert printed[:3] == [
        "4 rules created.",
        "digits: contains a digit – 2 queries",
        "short: has at most 1 word – 1 query",
    ]
    assert len(printed) == 6
    assert query_of(case, "iphone").tags == ["short"]
