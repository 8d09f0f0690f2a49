"""Rules are applied to the queries of a case."""

import pytest

from relevancy import books, hooks, queries
from relevancy.models import Activity, Query, Run
from relevancy.optional.query_classes import applying, rules
from relevancy.optional.query_classes.applying import apply_rules
from relevancy.optional.query_classes.models import RuleState, TaggedQuery, TagRule
from relevancy.queries import tags
from tests.comparison.conftest import run_with
from tests.factories import make_case, query_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(script):
    case = make_case(0, {})
    queries.add(case=case, texts=["iphone 15", "iphone", "cheap red running shoes men", "обувь"])
    return case


def make_rule(case, tag="digits", kind="digit", **settings):
    return rules.create(case=case, tag=tag, kind=kind, settings=settings, by=case.owner)


def tags_of(case):
    rows = case.case_queries.present().order_by("position")
    return {text: present for text, present in rows.values_list("query__text", "query__tags") if present}


def is_outdated(case):
    return RuleState.objects.outdated().filter(case=case).exists()


def test_the_usual_rules_tag_queries_and_count_them(case):
    run_with(case, {"iphone 15": "ab", "iphone": "", "cheap red running shoes men": "a", "обувь": "a"})
    created = rules.create_presets(case=case, by=case.owner)
    assert is_outdated(case)
    assert apply_rules(case)
    assert not is_outdated(case)
    assert tags_of(case) == {
        "iphone 15": ["digits"],
        "iphone": ["no results", "short"],
        "cheap red running shoes men": ["long"],
        "обувь": ["non-Latin", "short"],
    }
    assert {rule.tag: rule.matches for rule in rules.list_rules(case)} == {
        "short": 2,
        "long": 1,
        "digits": 1,
        "non-Latin": 1,
        "no results": 1,
    }
    assert len(created) == 5
    assert rules.create_presets(case=case, by=case.owner) == []
    applied = Activity.objects.get(case=case, verb=applying.APPLIED)
    assert applied.details == {"added": 6, "removed": 0}


def test_a_tag_goes_when_its_query_no_longer_matches_but_not_one_set_by_hand(case):
    tags.set_tags(query=query_of(case, "iphone"), tags="digits", by=case.owner)
    make_rule(case)
    apply_rules(case)
    assert tags_of(case) == {"iphone 15": ["digits"], "iphone": ["digits"]}
    by_rule, by_hand = (case.case_queries.get(query__text=text) for text in ("iphone 15", "iphone"))
    queries.edit(case_query=by_rule, text="iphone x", by=case.owner)
    queries.edit(case_query=by_hand, text="iphone 9", by=case.owner)
    assert is_outdated(case)
    apply_rules(case)
    assert tags_of(case) == {"iphone 9": ["digits"]}
    queries.edit(case_query=by_hand, text="iphone", by=case.owner)
    apply_rules(case)
    assert tags_of(case) == {"iphone": ["digits"]}


def test_a_tag_that_somebody_removed_is_not_set_again_while_the_query_matches(case):
    make_rule(case)
    apply_rules(case)
    tags.set_tags(query=query_of(case, "iphone 15"), tags=[], by=case.owner)
    rules.mark_outdated([case.pk])
    apply_rules(case)
    assert tags_of(case) == {}


def test_rules_with_one_tag_are_alternatives(case):
    first = make_rule(case, "phone", "words", words=["iphone"])
    second = make_rule(case, "Phone", "digit")
    apply_rules(case)
    assert tags_of(case) == {"iphone 15": ["phone"], "iphone": ["phone"]}
    rules.delete(rule=first, with_tags=True, by=case.owner)
    apply_rules(case)
    assert tags_of(case) == {"iphone 15": ["phone"]}
    assert [rule.pk for rule in TagRule.objects.all()] == [second.pk]
    rules.delete(rule=second, with_tags=True, by=case.owner)
    apply_rules(case)
    assert tags_of(case) == {}
    assert not TagRule.objects.exists()
    assert not is_outdated(case)


def test_deleting_a_rule_keeps_its_tags_unless_they_shall_go(case):
    tags.set_tags(query=query_of(case, "iphone"), tags="digits", by=case.owner)
    rule = make_rule(case)
    apply_rules(case)
    rules.delete(rule=rule, with_tags=False, by=case.owner)
    apply_rules(case)
    assert tags_of(case) == {"iphone 15": ["digits"], "iphone": ["digits"]}
    rule = make_rule(case, "x", "words", words=["iphone"])
    apply_rules(case)
    rules.delete(rule=rule, with_tags=True, by=case.owner)
    apply_rules(case)
    assert tags_of(case) == {"iphone 15": ["digits"], "iphone": ["digits"]}


def test_a_changed_rule_and_one_with_another_tag(case):
    rule = make_rule(case, "few", "word_count", minimum=None, maximum=1)
    apply_rules(case)
    rule = rules.change(rule=rule, tag="few", settings={"minimum": 2, "maximum": 2}, by=case.owner)
    apply_rules(case)
    assert tags_of(case) == {"iphone 15": ["few"]}
    rules.change(rule=rule, tag="two", settings=rule.settings, by=case.owner)
    apply_rules(case)
    assert tags_of(case) == {"iphone 15": ["two"]}
    assert [rule.tag for rule in TagRule.objects.all()] == ["two"]


def test_cases_on_one_book_share_a_tag(case):
    other = make_case(0, {}, book_of=case, owner=case.owner)
    queries.add(case=other, texts=["iphone 15", "galaxy 9"])
    rule, same = make_rule(case), make_rule(other)
    for both in (case, other):
        apply_rules(both)
    assert TaggedQuery.objects.filter(rule=same).count() == 2
    rules.delete(rule=rule, with_tags=True, by=case.owner)
    apply_rules(case)
    assert tags_of(case) == {"iphone 15": ["digits"]}
    queries.edit(case_query=case.case_queries.get(query__text="iphone 15"), text="iphone x")
    assert is_outdated(other)
    apply_rules(other)
    assert tags_of(case) == {}


def test_added_restored_and_edited_queries_let_rules_be_applied(case):
    make_rule(case)
    for change in (
        lambda: queries.add(case=case, texts=["galaxy 9"]),
        lambda: queries.remove(case_query=case.case_queries.get(query__text="galaxy 9")),
        lambda: queries.restore(case_query=case.case_queries.get(query__text="galaxy 9")),
        lambda: queries.edit(case_query=case.case_queries.get(query__text="iphone"), options={"market": "de"}),
        lambda: queries.change_details(case=case, changes={"iphone": {"options": {"market": "fr"}}}),
    ):
        apply_rules(case)
        change()
        assert is_outdated(case) == (not case.case_queries.exclude(removed_at=None).exists())
        apply_rules(case)
    apply_rules(case)
    queries.edit(case_query=case.case_queries.get(query__text="iphone"), notes="x", weight=2)
    assert not is_outdated(case)
    assert "galaxy 9" in tags_of(case)


def test_the_number_of_results_follows_the_last_complete_run(case):
    make_rule(case, "none", "results", minimum=None, maximum=0)
    apply_rules(case)
    assert tags_of(case) == {}
    run_with(case, {"iphone": "a", "iphone 15": ""})
    run = Run.objects.get()
    hooks.run_ended(run)
    apply_rules(case)
    assert "iphone 15" in tags_of(case)
    run_with(case, {"iphone": "", "iphone 15": "a"})
    apply_rules(case)
    hooks.run_ended(Run.objects.order_by("-number").first())
    apply_rules(case)
    assert "iphone" in tags_of(case)
    assert "iphone 15" not in tags_of(case)


def test_a_pattern_that_fails_keeps_its_tags_and_says_why(case, monkeypatch):
    rule = make_rule(case, "digits", "pattern", pattern=r"\d", ignores_case=True)
    apply_rules(case)
    TagRule.objects.filter(pk=rule.pk).update(settings={"pattern": "(", "ignores_case": True})
    make_rule(case, "phone", "words", words=["iphone"])
    apply_rules(case)
    assert tags_of(case) == {"iphone 15": ["digits", "phone"], "iphone": ["phone"]}
    rule.refresh_from_db()
    assert rule.matches == 1
    assert "is not valid" in rule.error


def test_a_query_with_as_many_tags_as_possible_gets_no_more(case):
    many = [f"tag {number}" for number in range(tags.MAX_TAGS - 1)]
    tags.set_tags(query=query_of(case, "iphone 15"), tags=many)
    make_rule(case, "phone", "words", words=["iphone"])
    make_rule(case)
    apply_rules(case)
    assert len(tags_of(case)["iphone 15"]) == tags.MAX_TAGS
    assert [rule.full for rule in rules.list_rules(case)] == [0, 1]


def test_rules_that_changed_meanwhile_are_applied_again(case, monkeypatch):
    rule = make_rule(case)
    read = applying.read_facts

    def read_and_delete(*args, **kwargs):
        rules.delete(rule=rule, with_tags=False, by=case.owner)
        yield from read(*args, **kwargs)

    monkeypatch.setattr(applying, "read_facts", read_and_delete)
    assert not apply_rules(case)
    monkeypatch.setattr(applying, "read_facts", read)
    assert apply_rules(case)
    assert tags_of(case) == {}


def test_a_case_is_read_in_parts(case, monkeypatch, django_assert_max_num_queries):
    monkeypatch.setattr(rules, "CHUNK", 3)
    queries.add(case=case, texts=[f"query {number}" for number in range(10)])
    make_rule(case)
    apply_rules(case)
    assert len(tags_of(case)) == 11
    preview = rules.preview(case=case, tag="digits", kind="digit", settings={})
    assert (preview.queries, preview.matches, preview.tagged, preview.is_partial) == (14, 11, 11, False)
    monkeypatch.setattr(rules, "MAX_PREVIEWED", 4)
    preview = rules.preview(case=case, tag="digits", kind="digit", settings={})
    assert (preview.queries, preview.is_partial) == (4, True)
    monkeypatch.setattr(rules, "CHUNK", 4)
    assert rules.preview(case=case, tag="digits", kind="digit", settings={}).is_partial


def test_tagged_queries_follow_a_merge_of_books(case):
    other = make_case(0, {}, owner=case.owner)
    queries.add(case=other, texts=["iphone 15", "galaxy 9"])
    for both in (case, other):
        make_rule(both)
        apply_rules(both)
    books.merge_books(book=case.book, other=other.book, by=case.owner)
    other.refresh_from_db()
    assert other.book == case.book
    query = Query.objects.get(text="iphone 15")
    assert TaggedQuery.objects.filter(query=query).count() == 2
