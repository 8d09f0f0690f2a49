"""Lookups that Django lacks, the same on SQLite and PostgreSQL."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from relevancy.models import CaseQuery, Document, Query, Run, ScorerVersion
from relevancy.models.lookups import find_ids
from relevancy.queries.text import text_key
from tests.factories import make_case, make_endpoint, make_user, query_of

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


@pytest.mark.skipif(connection.vendor != "sqlite", reason="It is SQLite that would read all scores of the version.")
def test_scores_of_a_run_without_a_baseline_are_looked_up_by_run_and_query() -> None:
    """A report of 5,000 queries took 19 s: each query read the scores of all of them."""
    case = make_case(["a"])
    version = ScorerVersion.objects.used_by(case)[0]
    rows = case.case_queries.present().with_scores(Run(pk=1, case=case), version)
    plan = rows.values("score", "is_stale").explain()
    assert plan.count("query_id=? AND run_id=? AND version_id=?") == 2, plan


def test_has_element_accepts_only_text() -> None:
    case = make_case(["a"])
    Query.objects.filter(pk=query_of(case, "a").pk).update(tags=[7, None, ["x"], {"y": "z"}])
    for wanted in ("7", "null", "x", "y", "z"):
        assert not Query.objects.filter(tags__has_element=wanted).exists()


def test_among(django_assert_num_queries: Any) -> None:
    """An id is one of many: of a primary key, and of a foreign key."""
    case = make_case(["one", "two", "three"])
    first, second, _ = Query.objects.order_by("pk")
    many = {first.pk, second.pk, *range(10**6, 10**6 + 50_000)}
    with django_assert_num_queries(3):
        assert set(Query.objects.filter(pk__among=many)) == {first, second}
        assert set(case.case_queries.filter(query_id__among=many).values_list("query_id", flat=True)) == {
            first.pk,
            second.pk,
        }
        assert not Query.objects.filter(pk__among=[]).exists()
    assert Query.objects.filter(pk__among=(pk for pk in [first.pk])).update(revision=9) == 1
    assert Query.objects.get(revision=9) == first


def test_find_ids_by_texts_and_by_bytes(django_assert_num_queries: Any) -> None:
    case, other = make_case(["a", "b"]), make_case(["a"])
    a, b = query_of(case, "a"), query_of(case, "b")
    odd = ('quo"te', "back\\slash", "{a,b}", "")
    Query.objects.filter(pk=b.pk).update(text_key=odd[0])
    endpoint = make_endpoint(make_user())
    document = Document.objects.create(endpoint=endpoint, doc_id="1", fields="{}", digest=b'"\\\x00\xff')
    with django_assert_num_queries(4):
        found = find_ids(Query, "book_id", case.book_id, "text_key", [text_key("a"), text_key("c"), *odd])
        assert sorted(found) == sorted([(text_key("a"), a.pk), (odd[0], b.pk)])
        assert find_ids(Query, "book_id", other.book_id, "text_key", odd) == []
        assert find_ids(Query, "book_id", case.book_id, "text_key", []) == []
        by_digest = find_ids(Document, "endpoint_id", endpoint.pk, "digest", [document.digest, b"other"])
        assert [(bytes(digest), pk) for digest, pk in by_digest] == [(document.digest, document.pk)]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no statistics here.")
def test_rows_of_an_owner_that_statistics_do_not_know_are_looked_up_one_by_one() -> None:
    """Each 500 queries of a file of 300,000 read all queries that the book had already."""
    case = make_case(0)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE relevancy_query")
    keys = [str(number) for number in range(20_000)]
    Query.objects.bulk_create([Query(book=case.book, text=key, text_key=key) for key in keys])
    with CaptureQueriesContext(connection) as captured:
        assert len(find_ids(Query, "book_id", case.book_id, "text_key", keys[:500])) == 500
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {captured[0]['sql']}")
        lookup = find_node(cursor.fetchone()[0][0]["Plan"], "relevancy_query")
    assert (lookup["Actual Loops"], lookup["Actual Rows"], lookup.get("Rows Removed by Filter", 0)) == (500, 1, 0)


def find_node(plan: dict[str, Any], table: str) -> dict[str, Any]:
    """The part of a plan that reads a table."""
    if plan.get("Relation Name") == table:
        return plan
    return next(filter(None, (find_node(part, table) for part in plan.get("Plans", []))), {})
