"""Two books become one: nothing is lost but what a newer rating replaces, and the preview is what happens."""

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError

from relevancy import books, judging, queries, ratings, scores
from relevancy.books import merging
from relevancy.models import Book, Case, JudgingPair, Query, QueryLink, Rating, RatingChange, Role, Run, User
from tests.factories import (
    make_attempt,
    make_case,
    make_team,
    make_user,
    query_of,
    rate_all,
    rescore_query,
    run_now,
    stored_case_scores,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def owner() -> User:
    return make_user("Owner")


@pytest.fixture
def case(owner: User) -> Case:
    case = make_case(["both", "mine"], {"both": {"a": 3, "b": 1}, "mine": {"a": 2}}, owner=owner)
    run_now(make_attempt(case))
    return case


@pytest.fixture
def other(owner: User) -> Case:
    other = make_case(["both", "yours"], {"both": {"a": 0, "c": 3}, "yours": {"b": 3}}, owner=owner)
    rate_all(other, {"both": {"a": 1}}, make_user("Second"))
    run_now(make_attempt(other))
    return other


def merge(case: Case, other: Case) -> books.MergeResult:
    return books.merge_books(book=fresh(case), other=fresh(other), by=case.owner)


def fresh(case: Case) -> Book:
    book: Book = Book.objects.get(pk=case.book_id)
    return book


def rescored(*cases: Case) -> dict[int, float | None]:
    grades = {}
    for item in cases:
        assert scores.rescore_case(Case.objects.get(pk=item.pk), seconds=60)
        grades[item.pk] = stored_case_scores(item.runs.get())["nDCG@10"][0]
    return grades


def values(case: Case) -> set[tuple[str, str, str, float | None]]:
    rows = Rating.objects.filter(query__book=case.book_id)
    return set(rows.values_list("query__text", "doc_id", "rater__name", "value"))


def test_the_preview_is_what_happens(case: Case, other: Case) -> None:
    before = rescored(case, other)
    ratings.rate(query=query_of(other, "yours"), doc_id="a", value=1, by=case.owner)
    before = rescored(case, other)
    preview = books.preview_merge(book=fresh(case), other=fresh(other), by=case.owner)
    assert {row.case.pk: row.before for row in preview.case_scores} == before
    assert (Book.objects.count(), Query.objects.count(), rescored(case, other)) == (2, 4, before)
    result = merge(case, other)
    case.refresh_from_db()
    other.refresh_from_db()
    assert (result.moved, result.merged, result.ratings, result.replaced) == (1, 1, 5, 1)
    expected = preview.result
    assert (expected.moved, expected.merged, expected.ratings, expected.replaced) == (1, 1, 5, 1)
    assert {row.case.pk: row.after for row in preview.case_scores} == rescored(case, other) != before


def test_queries_with_the_same_text_become_one_with_all_ratings(case: Case, other: Case) -> None:
    merge(case, other)
    assert set(Book.objects.values_list("pk", flat=True)) == {case.book_id}
    assert sorted(Query.objects.values_list("text", flat=True)) == ["both", "mine", "yours"]
    assert values(case) == {
        ("both", "a", "Owner", 0),  # the newer one
        ("both", "b", "Owner", 1),
        ("both", "c", "Owner", 3),
        ("both", "a", "Second", 1),
        ("mine", "a", "Owner", 2),
        ("yours", "b", "Owner", 3),
    }
    other.refresh_from_db()
    assert other.book_id == case.book_id
    assert set(other.case_queries.values_list("query__text", flat=True)) == {"both", "yours"}
    assert set(Run.objects.get(case=other).rankings.values_list("query__book", flat=True)) == {case.book_id}
    log = RatingChange.objects.get(source="merge")
    assert (log.query.text, log.doc_id, log.old_value, log.new_value, log.by) == ("both", "a", 3, 0, case.owner)
    ratings.rate(query=query_of(other, "both"), doc_id="b", value=2, by=case.owner)
    rescore_query(other.runs.get(), query_of(other, "both").pk)


def test_an_older_rating_of_the_other_book_is_not_taken(case: Case, other: Case) -> None:
    rows = Rating.objects.filter(query__book=other.book_id)
    for row in rows:
        Rating.objects.filter(pk=row.pk).update(updated_at=row.updated_at - timedelta(days=1))
    assert merge(case, other).replaced == 1
    assert ("both", "a", "Owner", 3) in values(case)


def test_of_two_decisions_the_newer_counts(case: Case, other: Case) -> None:
    first, second = make_user("First judge"), make_user("Second judge")
    judging.adjudicate(query=query_of(other, "both"), doc_id="a", value=2, by=first)
    judging.adjudicate(query=query_of(case, "both"), doc_id="a", value=1, by=second)
    assert merge(case, other).withdrawn == 1
    assert Rating.objects.get(is_adjudication=True).rater == second
    assert ("both", "a", "First judge", 2) in values(case)


def test_texts_and_tags_are_joined_and_a_retired_query_returns(case: Case, other: Case) -> None:
    mine, yours = query_of(case, "both"), query_of(other, "both")
    Query.objects.filter(pk=mine.pk).update(notes="One", tags=["a"], retired_at="2026-01-01T00:00Z", revision=1)
    about = {"information_need": "Need", "reference_answer": "Answer"}
    Query.objects.filter(pk=yours.pk).update(notes="Two", tags=["b", "a"], revision=70, **about)
    merge(case, other)
    joined = Query.objects.get(pk=mine.pk)
    assert (joined.notes, joined.tags, joined.information_need) == ("One\n\nTwo", ["a", "b"], "Need")
    assert joined.reference_answer == "Answer"
    assert (joined.retired_at, joined.revision) == (None, 71)


def links(case: Case) -> set[frozenset[str]]:
    return {
        frozenset(link.queries.values_list("text", flat=True)) for link in QueryLink.objects.filter(book=case.book_id)
    }


def test_linked_queries_stay_linked(owner: User) -> None:
    """Links of both books that have a query in common become one."""
    case = make_case(["both", "mine", "third", "alone"], owner=owner)
    other = make_case(["both", "yours", "fourth", "fifth"], owner=owner)
    queries.link(queries=[query_of(case, "both"), query_of(case, "mine")])
    queries.link(queries=[query_of(other, "both"), query_of(other, "yours")])
    queries.link(queries=[query_of(other, "fourth"), query_of(other, "fifth")])
    merge(case, other)
    assert links(case) == {frozenset({"both", "mine", "yours"}), frozenset({"fourth", "fifth"})}


def test_a_query_is_linked_as_its_namesake_of_the_other_book_was(owner: User) -> None:
    case, other = make_case(["both", "mine"], owner=owner), make_case(["both", "yours"], owner=owner)
    queries.link(queries=[query_of(other, "both"), query_of(other, "yours")])
    merge(case, other)
    assert links(case) == {frozenset({"both", "yours"})}


def test_a_link_that_would_be_too_long_is_refused(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "MAX_LINKED", 2)
    case, other = make_case(["both", "mine"], owner=owner), make_case(["both", "yours"], owner=owner)
    for item, text in ((case, "mine"), (other, "yours")):
        queries.link(queries=[query_of(item, "both"), query_of(item, text)])
    with pytest.raises(ValidationError, match="3 queries would be linked with each other"):
        merge(case, other)
    assert links(other) == {frozenset({"both", "yours"})}


def test_an_owner_of_one_book_who_edits_the_other_merges_neither(case: Case, other: Case) -> None:
    editor = make_user("Editor")
    mine = make_case(["both"], owner=editor)
    other.book.teams.add(make_team(Editor=Role.EDITOR))
    for first, second in ((mine, other), (other, mine)):
        for act in (books.merge_books, books.preview_merge):
            with pytest.raises(ValidationError, match="the role owner on both books"):
                act(book=fresh(first), other=fresh(second), by=editor)
    assert Book.objects.count() == 3


def test_books_with_other_scales_and_active_runs_are_refused(case: Case, other: Case) -> None:
    finer = make_case(1, scale="0:4", owner=case.owner)
    for first, second in ((case, finer), (case, case)):
        with pytest.raises(ValidationError, match=r"scale 0 to 4|with itself"):
            merge(first, second)
        with pytest.raises(ValidationError, match=r"scale 0 to 4|with itself"):
            books.preview_merge(book=fresh(first), other=fresh(second), by=case.owner)
    Run.objects.filter(case=other).update(status="running")
    with pytest.raises(ValidationError, match="is being run"):
        merge(case, other)
    assert Book.objects.count() == 3


def test_the_judging_queue_has_the_documents_of_both(case: Case, other: Case) -> None:
    for item in (case, other):
        judging.build_judging_queue(book=item.book)
    merge(case, other)
    queue = judging.judging_queue(fresh(case))
    assert judging.is_outdated(queue)
    levels = dict(JudgingPair.objects.filter(query__text="both").values_list("doc_id", "level"))
    assert levels == {"a": None, "b": None, "c": None}  # c was rated in the other book
    judging.build_judging_queue(book=fresh(case))
    assert set(JudgingPair.objects.values_list("query__text", flat=True)) == {"both", "mine", "yours"}


def test_ratings_can_be_undone_after_a_merge_where_they_are_as_they_were(case: Case, other: Case) -> None:
    ratings.rate(query=query_of(other, "yours"), doc_id="b", value=0, by=case.owner)
    merge(case, other)
    undone = ratings.undo(by=case.owner, book=fresh(case))
    assert undone is not None
    assert ("yours", "b", "Owner", 3) in values(case)
