"""Taking ratings back: the ratings before are restored, and changes by other users are kept."""

import random
from typing import Any

import pytest

from relevancy import queries, ratings, scores
from relevancy.models import Case, Query, Rating, RatingChange, User, Verdict
from tests.factories import (
    make_attempt,
    make_case,
    make_user,
    query_of,
    rescore,
    run_now,
    stored_case_scores,
    stored_scores,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
DOC_IDS = ["a", "b", "c", "d"]


@pytest.fixture
def case() -> Case:
    return make_case(2)


def snapshot() -> list[tuple[Any, ...]]:
    """Every rating with what decides between raters: its time."""
    columns = ("query__text", "doc_id", "rater__email", "verdict", "value", "note", "updated_at")
    return list(Rating.objects.order_by("query__text", "doc_id", "rater__email").values_list(*columns))


def grades(query: Query) -> dict[str, float]:
    return scores.QueryRatings.read(query.pk).grades(query.book)


def change_something(case: Case, by: User, randomly: random.Random) -> bool:
    """Rates one document, rates some together, or takes ratings back. Returns whether that changed anything."""
    query = query_of(case, randomly.choice(["query 1", "query 2"]))
    doc_ids = randomly.sample(DOC_IDS, randomly.randint(1, 4))
    kind = randomly.choice(["rate", "rate many", "remove"])
    if kind == "rate":
        note = randomly.choice([None, "", "A remake"])
        changed = ratings.rate(query=query, doc_id=doc_ids[0], value=randomly.randint(0, 3), by=by, note=note)
    elif kind == "rate many":
        changed = ratings.rate_many(query=query, values={doc_id: randomly.randint(0, 3) for doc_id in doc_ids}, by=by)
    else:
        changed = ratings.remove(query=query, doc_ids=doc_ids, by=by)
    return changed > 0


@pytest.mark.parametrize("seed", range(8))
def test_undo_restores_exactly_what_was_there(case: Case, seed: int) -> None:
    """The law: after any changes, each undo leads back to the state before the change that it takes back."""
    randomly = random.Random(seed)
    other = make_user()
    for doc_id in DOC_IDS[:2]:
        ratings.rate(query=query_of(case, "query 1"), doc_id=doc_id, value=2, by=other, note="By another rater")
    states = [(snapshot(), grades(query_of(case, "query 1")))]
    for _ in range(12):
        if change_something(case, case.owner, randomly):
            states.append((snapshot(), grades(query_of(case, "query 1"))))
    for expected in states[-2::-1]:
        assert ratings.undo(case=case, by=case.owner) is not None
        assert (snapshot(), grades(query_of(case, "query 1"))) == expected
    assert ratings.undo(case=case, by=case.owner) is None
    assert Rating.objects.filter(rater=other).count() == 2


def test_undo_restores_the_scores(case: Case) -> None:
    query = query_of(case, "query 1")
    ratings.rate_many(query=query, values={"a": 1, "b": 3}, by=case.owner)
    run = run_now(make_attempt(case))
    before = stored_scores(run), stored_case_scores(run)
    ratings.rate_many(query=query, values={"a": 3, "b": 0, "c": 2}, by=case.owner)
    rescore(run, query.pk)
    assert (stored_scores(run), stored_case_scores(run)) != before
    undone = ratings.undo(case=case, by=case.owner)
    assert undone is not None
    rescore(run, query.pk)
    assert (stored_scores(run), stored_case_scores(run)) == before


def test_undo_takes_back_what_was_rated_together(case: Case) -> None:
    query = query_of(case, "query 1")
    ratings.rate(query=query, doc_id="a", value=1, by=case.owner)
    ratings.rate_many(query=query, values={"a": 3, "b": 3, "c": 3}, by=case.owner)
    undone = ratings.undo(case=case, by=case.owner)
    assert undone is not None
    assert (undone.query, [change.doc_id for change in undone.undone], undone.kept) == (query, ["a", "b", "c"], [])
    assert [(rating.doc_id, rating.value) for rating in Rating.objects.all()] == [("a", 1)]


def test_rating_after_an_undo_is_taken_back_first(case: Case) -> None:
    query = query_of(case, "query 1")
    for value in (1, 2):
        ratings.rate(query=query, doc_id="a", value=value, by=case.owner)
    ratings.undo(case=case, by=case.owner)
    ratings.rate(query=query, doc_id="a", value=0, by=case.owner)
    values = []
    while ratings.undo(case=case, by=case.owner):
        values.append(list(Rating.objects.values_list("value", flat=True)))
    assert values == [[1], []]


def test_undo_keeps_later_changes_of_other_users(case: Case) -> None:
    query, other = query_of(case, "query 1"), make_user()
    ratings.rate(query=query, doc_id="z", value=1, by=case.owner)
    ratings.rate_many(query=query, values={"a": 3, "b": 3, "c": 3}, by=case.owner)
    ratings.rate(query=query, doc_id="b", value=0, by=other)  # does not touch the rating of this user
    ratings.rate_book(book=case.book, values={query.pk: {"a": 1}}, rater=case.owner, by=other)
    ratings.rate_book(book=case.book, values={query.pk: {"c": 2}}, rater=case.owner, by=case.owner)
    ratings.rate_book(book=case.book, values={query.pk: {"c": 3}}, rater=case.owner, by=other)
    undone = ratings.undo(case=case, by=case.owner)
    assert undone is not None
    assert ([change.doc_id for change in undone.undone], sorted(undone.kept)) == (["b"], ["a", "c"])
    own = Rating.objects.filter(rater=case.owner).values_list("doc_id", "value")
    assert dict(own) == {"a": 1, "c": 3, "z": 1}
    assert Rating.objects.get(rater=other).value == 0
    following = ratings.undo(case=case, by=case.owner)
    assert following is not None
    assert [change.doc_id for change in following.undone] == ["z"], "What was kept is reported once."


def test_undo_concerns_only_this_user_in_this_case(case: Case) -> None:
    other_case, other = make_case(1), make_user()
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=1, by=other)
    ratings.rate(query=query_of(other_case, "query 1"), doc_id="a", value=1, by=case.owner)
    ratings.rate_book(book=case.book, values={query_of(case, "query 2").pk: {"a": 1}}, rater=case.owner, by=case.owner)
    assert ratings.undo(case=case, by=case.owner) is None, "An import is no rating on the page."
    ratings.rate(query=query_of(case, "query 2"), doc_id="b", value=1, by=case.owner)
    queries.remove(case_query=case.case_queries.get(query__text="query 2"))
    assert ratings.undo(case=case, by=case.owner) is None
    assert Rating.objects.count() == 4


def test_undo_is_logged(case: Case) -> None:
    query = query_of(case, "query 1")
    ratings.rate(query=query, doc_id="a", value=2, by=case.owner, note="Why")
    ratings.remove(query=query, doc_ids=["a"], by=case.owner)
    ratings.undo(case=case, by=case.owner)
    newest = RatingChange.objects.first()
    assert newest is not None and newest.undoes is not None
    assert (newest.source, newest.old_verdict, newest.new_verdict, newest.new_value) == ("undo", "", Verdict.RATED, 2)
    assert newest.undoes.new_verdict == ""
    assert (Rating.objects.get().note, Query.objects.get(pk=query.pk).revision) == ("Why", 3)
