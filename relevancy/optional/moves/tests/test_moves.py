"""Ratings of documents whose ids have changed: found by title or URL, and moved."""

import pytest
from django.core.exceptions import ValidationError

from relevancy import activity, judging, ratings, scores
from relevancy.models import Activity, Case, CaseScore, QueryScore, Ranking, Rating, RatingChange, RatingImport, Run
from relevancy.optional.moves.moves import find_orphaned_ratings, move_ratings, preview_move
from tests.factories import (
    make_attempt,
    make_case,
    make_user,
    query_of,
    rate_all,
    run_now,
    set_hits,
    stored_case_scores,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


def store(run: Run, hits: dict[str, dict[str, str]]) -> None:
    """Lets every ranking of a run have these hits: fields by document id."""
    Run.objects.filter(pk=run.pk).update(config={**run.config, "fields": "id:id title:title link"})
    rows = [[doc_id, 1.0, {"id": doc_id, **fields}] for doc_id, fields in hits.items()]
    set_hits(Ranking.objects.filter(run=run), rows)
    QueryScore.objects.filter(run=run).delete()  # of the hits that the run returned
    CaseScore.objects.filter(run=run).delete()


@pytest.fixture
def case() -> Case:
    """Two queries; the second run has other ids for a, b and the two c; d is no longer returned."""
    case = make_case(2, {"query 1": {"a": 3, "b": 1, "c1": 2, "d": 2}, "query 2": {"a": 2, "same": 1}})
    attempt = make_attempt(case)
    store(
        run_now(attempt),
        {
            "a": {"title": "Star  Wars", "link": "https://example.org/1"},
            "b": {"title": "Old title", "link": "https://example.org/2"},
            "c1": {"title": "Remake"},
            "d": {"title": "Gone"},
            "same": {"title": "Same"},
        },
    )
    store(
        run_now(attempt),
        {
            "A": {"title": "STAR wars"},
            "B": {"title": "New title", "link": "https://example.org/2"},
            "C1": {"title": "Remake"},
            "C2": {"title": "Remake"},
            "same": {"title": "Same"},
        },
    )
    return case


def test_documents_are_found_by_url_or_title_if_there_is_only_one(case: Case) -> None:
    orphans = find_orphaned_ratings(book=case.book)
    result = [(item.old_id, item.new_id, item.found_by, item.ratings, item.queries) for item in orphans.moved]
    assert result == [("a", "A", "title", 2, 2), ("b", "B", "URL", 1, 1)]
    assert (orphans.unclear, orphans.unknown) == (1, 1)


def test_two_former_documents_with_one_successor_are_unclear(case: Case) -> None:
    rate_all(case, {"query 1": {"a2": 1}}, case.owner)
    first = Run.objects.filter(case=case).earliest("number")
    for ranking in Ranking.objects.filter(run=first):
        ranking.hits.append(["a2", 1.0, {"id": "a2", "title": "star wars"}])
        set_hits([ranking])
    orphans = find_orphaned_ratings(book=case.book)
    assert [item.old_id for item in orphans.moved] == ["b"]
    assert orphans.unclear == 3


def test_the_preview_of_the_scores_is_what_happens(case: Case) -> None:
    def rescored() -> float | None:
        assert scores.rescore_case(Case.objects.get(pk=case.pk), seconds=60)
        newest = case.runs.order_by("-number")[0]
        value: float | None = stored_case_scores(newest)["nDCG@10"][0]
        return value

    before = rescored()
    preview = preview_move(book=case.book, ids={"a": "A", "b": "B"}, by=case.owner)
    assert (preview[0].before, rescored()) == (before, before)
    assert move_ratings(book=case.book, ids={"a": "A", "b": "B"}, by=case.owner) == 3
    assert preview[0].after == rescored() != before


def test_ratings_keep_rater_note_and_time_and_are_logged(case: Case) -> None:
    other = make_user("Other")
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=0, by=other, note="No")
    before = Rating.objects.get(rater=other)
    assert move_ratings(book=case.book, ids={"a": "A"}, by=case.owner) == 3
    after = Rating.objects.get(rater=other)
    assert (after.doc_id, after.value, after.note, after.updated_at) == ("A", 0, "No", before.updated_at)
    log = RatingChange.objects.filter(source="move", rater=other).order_by("pk")
    assert [(change.doc_id, change.new_verdict, change.by) for change in log] == [
        ("a", "", case.owner),
        ("A", "rated", case.owner),
    ]
    assert not Rating.objects.filter(doc_id="a").exists()


@pytest.mark.parametrize("newer", ["a", "A"])
def test_of_two_ratings_of_one_rater_the_newer_counts(case: Case, newer: str) -> None:
    query = query_of(case, "query 1")
    ratings.rate(query=query, doc_id="A", value=0, by=case.owner)
    if newer == "a":
        ratings.rate(query=query, doc_id="a", value=1, by=case.owner)
    move_ratings(book=case.book, ids={"a": "A"}, by=case.owner)
    assert Rating.objects.get(query=query, doc_id="A").value == (1 if newer == "a" else 0)


@pytest.mark.parametrize("newer", ["a", "A"])
def test_of_two_decisions_the_newer_counts(case: Case, newer: str) -> None:
    query, first, second = query_of(case, "query 1"), make_user("First"), make_user("Second")
    judging.adjudicate(query=query, doc_id="A" if newer == "a" else "a", value=1, by=first)
    judging.adjudicate(query=query, doc_id=newer, value=2, by=second)
    move_ratings(book=case.book, ids={"a": "A"}, by=case.owner)
    assert Rating.objects.get(query=query, is_adjudication=True).rater == second
    assert scores.known_grades(case.book, [query.pk])[query.pk]["A"] == 2
    assert Rating.objects.get(query=query, rater=first).value == 1


def test_books_without_runs_have_nothing_to_move() -> None:
    assert find_orphaned_ratings(book=make_case(1, {"query 1": {"a": 1}}).book).moved == []


def test_a_move_is_in_the_log_of_the_case(case: Case) -> None:
    move_ratings(book=case.book, ids={"a": "A"}, by=case.owner)
    text = f"Moved ratings in the book “{case.book}” to other document ids: 2"
    assert activity.describe(Activity.objects.filter(case=case).latest("pk")) == text


def test_nothing_is_moved_in_a_book_that_is_being_imported_into(case: Case) -> None:
    RatingImport.objects.create(book=case.book, case=case, by=case.owner, total=100, done=43)
    with pytest.raises(ValidationError, match="being imported"):
        move_ratings(book=case.book, ids={"a": "A"}, by=case.owner)
    assert Rating.objects.filter(doc_id="a").exists()
