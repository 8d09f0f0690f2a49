"""Finding a text in a JSON list, the same on SQLite and PostgreSQL."""

import pytest

from relevancy.models import CaseQuery, Query
from tests.factories import make_case, query_of

pytestmark = pytest.mark.django_db
TAGS = {
    "one": ["brand", "long tail"],
    "two": ["brands", 'quo"te', "100%"],
    "three": [],
    "four": ["7", "Brand", "naïve", "a\\b", "'"],
}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("brand", ["one"]),
        ("Brand", ["four"]),
        ("long", []),
        ('quo"te', ["two"]),
        ("100%", ["two"]),
        ("7", ["four"]),
        ("naïve", ["four"]),
        ("a\\b", ["four"]),
        ("'", ["four"]),
        ("", []),
        ("'); DROP TABLE x; --", []),
    ],
)
def test_tagged(wanted: str, expected: list[str]) -> None:
    case = make_case(list(TAGS))
    for text, tags in TAGS.items():
        Query.objects.filter(pk=query_of(case, text).pk).update(tags=tags)
    case_queries = CaseQuery.objects.filter(case=case).tagged(wanted)
    assert [case_query.query.text for case_query in case_queries.select_related("query")] == expected
    others = CaseQuery.objects.filter(case=case).exclude(pk__in=case_queries)
    assert others.count() == 4 - len(expected)


def test_tagged_goes_with_the_other_filters() -> None:
    case = make_case(["a", "b"])
    Query.objects.update(tags=["x"])
    case.case_queries.filter(query__text="a").update(removed_at="2026-01-01T00:00Z")
    shown = case.case_queries.present().with_scores(None, None).tagged("x").filter(query__text__icontains="B")
    assert [case_query.query.text for case_query in shown] == ["b"]


def test_has_element_accepts_only_text() -> None:
    case = make_case(["a"])
    Query.objects.filter(pk=query_of(case, "a").pk).update(tags=[7, None, ["x"], {"y": "z"}])
    for wanted in ("7", "null", "x", "y", "z"):
        assert not Query.objects.filter(tags__has_element=wanted).exists()
