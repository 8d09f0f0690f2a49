"""Pages of query classes, and the tab of the comparison."""

import pytest
from django.urls import reverse

from relevancy import queries, tasks
from relevancy.models import Case
from relevancy.optional.query_classes import rules
from relevancy.optional.query_classes.applying import apply_rules
from relevancy.optional.query_classes.models import RuleState, TagRule
from tests.comparison.conftest import run_with
from tests.factories import make_case, make_user
from tests.views.workbench.example_cases import HTMX, attributes, by_id, words

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(client, script):
    owner = make_user("Olga")
    client.force_login(owner)
    case = make_case(0, {}, owner=owner)
    queries.add(case=case, texts=["iphone 15", "iphone", "galaxy 9"])
    return case


def url(case, name="query_classes", *args, **query):
    return reverse(name, args=[case.pk, *args], query=query)


def test_rules_are_created_listed_changed_and_deleted(client, case):
    assert "No rules yet" in client.get(url(case)).content.decode()
    form_url = url(case, "tag_rule_new", kind="word_count")
    assert by_id(client.get(form_url), "rule-form") is not None
    response = client.post(form_url, {"tag": "long", "minimum": "2", "maximum": "", "do": "save"})
    assert response["Location"] == url(case)
    rule = TagRule.objects.get()
    assert (rule.tag, rule.settings, rule.created_by) == ("long", {"minimum": 2, "maximum": None}, case.owner)
    apply_rules(case)
    page = client.get(url(case))
    assert f'data-rule="{rule.pk}" data-matches="2"' in page.content.decode()
    assert attributes(by_id(page, "rules-state")).get("data-pending") == "no"
    edit_url = url(case, "tag_rule_edit", rule.pk)
    assert 'value="2"' in client.get(edit_url).content.decode()
    client.post(edit_url, {"tag": "long", "minimum": "1", "do": "save"})
    rule.refresh_from_db()
    assert rule.settings["minimum"] == 1
    delete_url = url(case, "tag_rule_delete", rule.pk)
    assert "has tagged 3" in " ".join(client.get(delete_url).content.decode().split())
    client.post(delete_url, {"do": "with_tags"})
    assert not rules.list_rules(case)
    assert client.get(edit_url).status_code == 404
    assert client.post(delete_url, {"do": "other"}).status_code == 404


def test_a_page_polls_while_rules_are_being_applied(client, case, monkeypatch):
    sent = []
    monkeypatch.setattr(tasks, "send", lambda task, pk: sent.append((task.name, pk)))
    rules.create(case=case, tag="digits", kind="digit", settings={}, by=case.owner)
    page = client.get(url(case))
    client.get(url(case))  # asks for no second task
    assert sent == [("apply_tag_rules", case.pk)]
    assert attributes(by_id(page, "rule-list")).get("hx-get") == url(case)
    assert attributes(by_id(page, "rules-state")).get("data-pending") == "yes"
    apply_rules(case)
    polled = client.get(url(case), headers=HTMX)
    assert b"<html" not in polled.content
    assert attributes(by_id(polled, "rule-list")).get("hx-get") is None


def test_a_preview_says_how_many_and_which_queries_match(client, case):
    address = url(case, "tag_rule_preview", kind="digit")
    page = client.post(address, {"tag": "digits"}, headers=HTMX)
    shown = by_id(page, "rule-matches")
    assert (attributes(shown)["data-matches"], attributes(shown)["data-tagged"]) == ("2", "0")
    assert "galaxy 9" in words(by_id(page, "matching-queries"))
    assert not TagRule.objects.exists()
    page = client.post(url(case, "tag_rule_preview", kind="pattern"), {"tag": "x", "pattern": "("}, headers=HTMX)
    assert "is not valid" in page.content.decode()
    # The same without JavaScript, by the button of the form.
    page = client.post(url(case, "tag_rule_new", kind="digit"), {"tag": "digits", "do": "preview"})
    assert attributes(by_id(page, "rule-matches")).get("data-matches") == "2"


def test_mistakes_are_shown_in_the_form(client, case):
    page = client.post(
        url(case, "tag_rule_new", kind="length"), {"tag": "a, b", "minimum": "9", "maximum": "3", "do": "save"}
    )
    assert page.status_code == 422
    assert "without a comma" in page.content.decode()
    assert not TagRule.objects.exists()
    for number in range(rules.MAX_RULES):
        TagRule.objects.create(case=case, tag=f"tag {number}", kind="digit", created_by=case.owner)
    page = client.post(url(case, "tag_rule_new", kind="digit"), {"tag": "a", "do": "save"})
    assert page.status_code == 422
    assert "which is the maximum" in page.content.decode()
    assert client.post(url(case, "tag_rule_presets")).status_code == 302
    assert TagRule.objects.count() == rules.MAX_RULES


def test_the_usual_rules_are_created_once(client, case):
    for _ in range(2):
        client.post(url(case, "tag_rule_presets"))
    assert [rule.tag for rule in rules.list_rules(case)] == [tag for tag, _, _ in rules.PRESETS]
    assert not RuleState.objects.get().is_outdated  # the tasks of tests are run at once


def test_unknown_kinds_and_rules_of_other_cases(client, case):
    assert client.get(url(case, "tag_rule_new", kind="colour")).status_code == 400
    other = make_case(1, {}, owner=case.owner)
    rule = rules.create(case=other, tag="a", kind="digit", settings={}, by=case.owner)
    assert client.get(url(case, "tag_rule_edit", rule.pk)).status_code == 404


def test_the_settings_of_a_case_lead_to_its_rules_and_deleting_it_names_them(client, case):
    rules.create(case=case, tag="digits", kind="digit", settings={}, by=case.owner)
    page = client.get(url(case))
    assert by_id(page, "query-classes-link")
    assert "1 rule of query classes" in client.get(reverse("case_delete", args=[case.pk])).content.decode()


@pytest.fixture
def compared(client, script) -> Case:
    """Eight queries with digits lose 100 points, eight others stay as they are."""
    owner = make_user("Olga")
    client.force_login(owner)
    texts = [f"{name} 9" for name in "abcdefgh"] + list("stuvwxyz")
    case = make_case(texts, {text: {"a": 3} for text in texts}, owner=owner, measures=("P@1",))
    run_with(case, dict.fromkeys(texts, "a"))
    run_with(case, {text: "x" if "9" in text else "a" for text in texts})
    return case


def test_a_comparison_says_which_class_fails(client, compared):
    rules.create_presets(case=compared, by=compared.owner)
    apply_rules(compared)
    address = url(compared, "compare", run="1") + "&run=2&tab=classes"
    client.get(address)
    page = client.get(address)
    assert words(by_id(page, "class-sentence")).startswith("Queries tagged “digits” lose 100.0 points")
    assert attributes(by_id(page, "chart-classes")).get("data-chart")


def test_a_comparison_without_tags_leads_to_the_rules(client, compared):
    address = url(compared, "compare", run="1") + "&run=2&tab=classes"
    client.get(address)
    page = client.get(address)
    assert attributes(by_id(page, "class-rules")).get("href") == url(compared)
