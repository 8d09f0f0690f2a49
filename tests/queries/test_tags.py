"""Tags of queries: how they are written, found, and scored."""

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from relevancy import queries
from relevancy.models import Case, Query, QueryScore, Ranking, Run
from relevancy.models.errors import error_fields
from relevancy.queries import tags
from tests.factories import make_attempt, make_case, query_of, run_now

pytestmark = pytest.mark.django_db


def tag(case: Case, **message: str) -> None:
    """Tags by the text of the query."""
    for text, own in message.items():
        tags.set_tags(query=query_of(case, text), tags=own)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("", []),
        (" , ,", []),
        ("brand, long tail ,Brand", ["brand", "long tail"]),
        ("b,a", ["a", "b"]),
        ("cafe\u0301", ["caf\u00e9"]),
        ("a \t b", ["a b"]),
        (["x,y", "z"], ["x", "y", "z"]),
        ('<b>&"', ['<b>&"']),
        ("Straße, STRASSE", ["Straße"]),
    ],
)
def test_parse(message: str | list[str], expected: list[str]) -> None:
    assert tags.parse(message) == expected


@pytest.mark.parametrize(
    ("message", "why"),
    [("x" * 51, "51 characters"), ("a\x07b", "U\\+0007"), ("half \ud800", "U\\+D800"), ("nul\0", "U\\+0000")],
)
def test_parse_refuses(message: str, why: str) -> None:
    with pytest.raises(ValidationError, match=why) as caught:
        tags.parse(message)
    assert error_fields(caught.value) == ["tags"]


def test_set_tags_spells_as_the_book_does() -> None:
    case = make_case(["a", "b"])
    tag(case, a="Brand, Long tail")
    assert tags.set_tags(query=query_of(case, "b"), tags="brand, LONG TAIL, new") == ["Brand", "Long tail", "new"]
    assert query_of(case, "b").tags == ["Brand", "Long tail", "new"]
    assert tags.of_book(case.book) == ["Brand", "Long tail", "new"]


def test_set_tags_at_most_twenty() -> None:
    case = make_case(["a"])
    many = ",".join(f"t{number}" for number in range(20))
    assert len(tags.set_tags(query=query_of(case, "a"), tags=many)) == 20
    with pytest.raises(ValidationError, match="21 tags"):
        tags.set_tags(query=query_of(case, "a"), tags=many + ",more")
    assert len(query_of(case, "a").tags) == 20


def test_add_and_remove_for_many() -> None:
    case = make_case(["a", "b", "c"])
    tag(case, a="x", b="x,y")
    ids = [query_of(case, text).pk for text in "ab"]
    assert tags.add(book=case.book, queries=ids, tags="Y, z") == 2
    assert [query_of(case, text).tags for text in "abc"] == [["x", "y", "z"], ["x", "y", "z"], []]
    assert tags.add(book=case.book, queries=ids, tags="z") == 0
    assert tags.remove(book=case.book, queries=[*ids, query_of(case, "c").pk], tags="X,nothing") == 2
    assert [query_of(case, text).tags for text in "abc"] == [["y", "z"], ["y", "z"], []]


def test_add_all_or_nothing() -> None:
    case = make_case(["a", "b"])
    tag(case, b=",".join(f"t{number}" for number in range(20)))
    with pytest.raises(ValidationError, match="“b” would have 21"):
        tags.add(book=case.book, queries=[query_of(case, text).pk for text in "ab"], tags="one more")
    assert query_of(case, "a").tags == []


def test_add_leaves_other_books_alone() -> None:
    case, other = make_case(["a"]), make_case(["a"])
    assert tags.add(book=case.book, queries=[query_of(other, "a").pk], tags="x") == 0
    assert query_of(other, "a").tags == []


def test_edit_takes_tags_and_refuses_bad_ones() -> None:
    case = make_case(["a"])
    case_query = case.case_queries.get()
    queries.edit(case_query=case_query, text="a", tags=["B", "b", " a b "])
    assert query_of(case, "a").tags == ["a b", "B"]
    with pytest.raises(ValidationError, match="51 characters") as caught:
        queries.edit(case_query=case_query, text="changed", tags=["x" * 51])
    assert error_fields(caught.value) == ["tags"]
    assert case.case_queries.get().query.text == "a"


def test_segments(script: object) -> None:
    case = make_case(["a", "b", "c", "d"], {"a": {"a": 3}, "b": {"b": 3}})
    tag(case, a="x", b="x,y", c="y", d="z")
    case.case_queries.filter(query__text="b").update(weight=3)
    run = run_now(make_attempt(case))
    version = case.case_scorers.get().version
    scores = dict(QueryScore.objects.filter(run=run).values_list("query__text", "score"))
    assert scores["a"] is not None and scores["b"] is not None and scores["c"] is None
    with CaptureQueriesContext(connection) as captured:
        result = tags.segments(case=case, run=run, version=version)
    assert len(captured) == 1
    assert [(item.tag, item.queries, item.scored) for item in result] == [("x", 2, 2), ("y", 2, 1), ("z", 1, 0)]
    assert result[0].score == pytest.approx((scores["a"] + 3 * scores["b"]) / 4)
    assert result[1].score == pytest.approx(scores["b"])
    assert result[2].score is None


def test_segments_leave_out_removed_queries_and_other_runs(script: object) -> None:
    case = make_case(["a", "b"], {"a": {"a": 3}})
    tag(case, a="x", b="x")
    run = run_now(make_attempt(case))
    queries.remove(case_query=case.case_queries.get(query__text="b"))
    version = case.case_scorers.get().version
    assert [item.queries for item in tags.segments(case=case, run=run, version=version)] == [1]
    (none,) = tags.segments(case=case)
    assert (none.scored, none.score) == (0, None)


def test_segments_without_weight_have_no_score(script: object) -> None:
    case = make_case(["a"], {"a": {"a": 3}})
    tag(case, a="x")
    case.case_queries.update(weight=0)
    run = run_now(make_attempt(case))
    (result,) = tags.segments(case=case, run=run, version=case.case_scorers.get().version)
    assert (result.scored, result.score) == (1, None)


def test_segments_of_five_thousand(script: object) -> None:
    case = make_case(5000)
    run = Run.objects.create(
        case=case, attempt=make_attempt(case), number=1, config={}, rows=10, created_by=case.owner, status="complete"
    )
    version = case.case_scorers.get().version
    queries = list(Query.objects.filter(book=case.book))
    for number, query in enumerate(queries):
        query.tags = ["even"] if number % 2 == 0 else ["odd", f"of {number % 10}"]
    Query.objects.bulk_update(queries, ["tags"], batch_size=500)
    Ranking.objects.bulk_create(Ranking(run=run, query=query) for query in queries)
    QueryScore.objects.bulk_create(
        QueryScore(run=run, query=query, version=version, score=100.0 * (position % 2), value=0, revision=0)
        for position, query in enumerate(queries)
    )
    with CaptureQueriesContext(connection) as captured:
        segments = {item.tag: item for item in tags.segments(case=case, run=run, version=version)}
    assert len(captured) <= 2
    assert (segments["even"].queries, segments["even"].score) == (2500, 0)
    assert (segments["odd"].scored, segments["odd"].score) == (2500, 100)
    assert segments["of 3"].queries == 500
