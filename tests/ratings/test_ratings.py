"""Ratings: what they change at once, what they leave alone, and what they remember."""

import random
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from relevancy import ratings, scores
from relevancy.models import Book, Case, Query, QueryScore, Rating, RatingChange, Run, ScorerVersion
from tests.factories import (
    import_csv,
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


def from_scratch(run: Run) -> tuple[Any, Any]:
    """The scores as a full recomputation gives them."""
    run.query_scores.all().delete()
    run.case_scores.all().delete()
    scores.rescore_run(run)
    return stored_scores(run), stored_case_scores(run)


def test_rate_changes_the_scores_at_once() -> None:
    case = make_case(3, {"query 1": {"b": 3}})
    run = run_now(make_attempt(case))
    before = stored_case_scores(run)["nDCG@10"][0]
    assert ratings.rate(query=query_of(case, "query 1"), doc_id=" a ", value=3, by=case.owner) == 1
    rescore(run, query_of(case, "query 1").pk)
    assert Rating.objects.get(doc_id="a").value == 3
    assert stored_scores(run)["nDCG@10", "query 1"][1] == 100
    assert stored_case_scores(run)["nDCG@10"][0] == 100 > before


def test_rate_the_same_again_changes_nothing() -> None:
    case = make_case(1)
    query = query_of(case, "query 1")
    ratings.rate(query=query, doc_id="a", value=3, by=case.owner)
    rating = Rating.objects.values().get()
    assert ratings.rate(query=query, doc_id="a", value=3.0, by=case.owner) == 0
    assert Rating.objects.values().get() == rating
    assert (Query.objects.get().revision, RatingChange.objects.count()) == (1, 1)


def test_revision_rises_by_one_for_each_change_of_a_query() -> None:
    case = make_case(2)
    one, two = query_of(case, "query 1"), query_of(case, "query 2")
    ratings.rate_many(query=one, values={"a": 1, "b": 2, "c": 3}, by=case.owner)
    ratings.rate_book(book=case.book, values={one.pk: {"a": 2}, two.pk: {"a": 2}}, rater=case.owner, by=case.owner)
    ratings.remove(query=one, doc_ids=["a", "never rated"], by=case.owner)
    ratings.remove(query=one, doc_ids=["never rated"], by=case.owner)
    assert list(Query.objects.order_by("pk").values_list("revision", flat=True)) == [3, 1]


def test_log_is_complete_and_only_grows() -> None:
    case = make_case(1)
    query, other = query_of(case, "query 1"), make_user("Other")
    ratings.rate(query=query, doc_id="a", value=1, by=case.owner)
    ratings.rate(query=query, doc_id="a", value=3, by=case.owner, note="on second thoughts")
    ratings.rate(query=query, doc_id="a", value=2, by=other)
    seen = list(RatingChange.objects.order_by("id").values())
    ratings.remove(query=query, doc_ids=["a"], by=case.owner)
    ratings.rate_book(book=case.book, values={query.pk: {"b": 1}}, rater=other, by=case.owner, source="import")
    log = list(RatingChange.objects.order_by("id").values())
    assert log[:3] == seen
    told = [
        (
            row["doc_id"],
            row["rater_id"],
            row["by_id"],
            row["source"],
            row["old_value"],
            row["new_value"],
            row["new_verdict"],
        )
        for row in log
    ]
    owner = case.owner.pk
    assert told == [
        ("a", owner, owner, "page", None, 1, "rated"),
        ("a", owner, owner, "page", 1, 3, "rated"),
        ("a", other.pk, other.pk, "page", None, 2, "rated"),
        ("a", owner, owner, "page", 3, None, ""),
        ("b", other.pk, owner, "import", None, 1, "rated"),
    ]
    assert Rating.objects.count() == 2


def test_rate_keeps_the_note_unless_a_new_one_is_given() -> None:
    case = make_case(1)
    query = query_of(case, "query 1")
    ratings.rate(query=query, doc_id="a", value=1, by=case.owner, note="odd")
    created = Rating.objects.get().created_at
    ratings.rate(query=query, doc_id="a", value=2, by=case.owner)
    rating = Rating.objects.get()
    assert (rating.note, rating.value, rating.created_at) == ("odd", 2, created)
    assert rating.updated_at > created
    assert ratings.rate(query=query, doc_id="a", value=2, by=case.owner, note="fine") == 1


@pytest.mark.parametrize("value", [-1, 3.5, 4, float("nan"), float("inf")])
def test_rate_off_the_scale_changes_nothing(value: float) -> None:
    case = make_case(1, {"query 1": {"a": 3}})
    run = run_now(make_attempt(case))
    before = stored_scores(run), stored_case_scores(run)
    with pytest.raises(ratings.InvalidRating, match="not on the scale"):
        ratings.rate_many(query=query_of(case, "query 1"), values={"b": 2, "c": value}, by=case.owner)
        rescore(run, query_of(case, "query 1").pk)
    assert (stored_scores(run), stored_case_scores(run)) == before
    assert (Rating.objects.count(), RatingChange.objects.count(), Query.objects.get().revision) == (1, 1, 1)


@pytest.mark.parametrize("doc_id", ["", "  ", "x" * 501, "a\x00b", "a\ud800"])
def test_rate_refuses_invalid_document_ids(doc_id: str) -> None:
    case = make_case(1)
    with pytest.raises(ratings.InvalidRating, match="document id"):
        ratings.rate(query=query_of(case, "query 1"), doc_id=doc_id, value=1, by=case.owner)
    assert not Rating.objects.exists()


def test_take_back_leaves_others_alone() -> None:
    case = make_case(1)
    query, other = query_of(case, "query 1"), make_user()
    run = run_now(make_attempt(case))
    ratings.rate(query=query, doc_id="a", value=1, by=case.owner)
    rescore(run, query.pk)
    ratings.rate(query=query, doc_id="a", value=3, by=other)
    rescore(run, query.pk)
    assert ratings.remove(query=query, doc_ids=["a "], by=case.owner) == 1
    rescore(run, query.pk)
    assert Rating.objects.get().rater == other
    assert ratings.remove(query=query, doc_ids=["a"], by=case.owner) == 0
    rescore(run, query.pk)
    assert ratings.remove(query=query, doc_ids=["a"], by=other) == 1
    rescore(run, query.pk)
    assert stored_case_scores(run)["nDCG@10"][0] is None


def test_latest_rating_wins() -> None:
    case = make_case(1)
    query = query_of(case, "query 1")
    ratings.rate(query=query, doc_id="a", value=1, by=case.owner)
    ratings.rate(query=query, doc_id="a", value=3, by=make_user())
    assert scores.known_grades(case.book, [query.pk]) == {query.pk: {"a": 3}}
    ratings.rate(query=query, doc_id="a", value=2, by=case.owner)
    assert scores.known_grades(case.book, [query.pk]) == {query.pk: {"a": 2}}


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_always_those_of_a_full_recomputation(seed: int) -> None:
    chance = random.Random(seed)
    case = make_case(4, measures=["nDCG@10", "AvgEdit", "P@3", "AP"])
    case.book.rule = ["latest", "mean", "median", "majority"][seed]
    case.book.save()
    run = run_now(make_attempt(case))
    raters = [case.owner, make_user()]
    for _ in range(14):
        query = query_of(case, f"query {chance.randint(1, 4)}")
        by = chance.choice(raters)
        docs = chance.sample("abcxyz", chance.randint(1, 3))
        act = chance.random()
        if act < 0.6:
            ratings.rate_many(query=query, values={doc: chance.randint(0, 3) for doc in docs}, by=by)
            rescore(run, query.pk)
        elif act < 0.85:
            ratings.remove(query=query, doc_ids=docs, by=by)
            rescore(run, query.pk)
        else:
            text = "query,docid,rating\n" + "".join(f"{query.text},{doc},{chance.randint(0, 3)}\n" for doc in docs)
            import_csv(case=case, text=text, by=by)
            scores.rescore_run(run)
        kept = stored_scores(run), stored_case_scores(run)
        fresh = from_scratch(run)
        assert kept[0] == fresh[0]
        assert kept[1] == {name: pytest.approx(row) for name, row in fresh[1].items()}


def rating_statements(queries: int) -> list[str]:
    case = make_case(queries, {f"query {number}": {"a": 2} for number in range(1, queries + 1)})
    run = Run.objects.select_related("case__book").get(pk=run_now(make_attempt(case)).pk)
    query = query_of(case, "query 2")
    with CaptureQueriesContext(
        connection,
    ) as captured:
        ratings.rate(query=query, doc_id="b", value=3, by=case.owner)
        rescore(run, query.pk)
    return [query["sql"].split()[0] for query in captured]


def test_rate_costs_the_same_however_large_the_case_is() -> None:
    small, large = rating_statements(3), rating_statements(300)
    assert small == large
    assert len(small) < 30


@pytest.mark.parametrize("value", [3, 2])
def test_rate_grades_by_the_settings_that_the_book_has_by_then(value: int) -> None:
    """Also where the rating does not change."""
    case = make_case(1, {"query 1": {"a": 2}})
    query = query_of(case, "query 1")
    stored = Book.objects.filter(pk=case.book_id)
    stored.update(rule="mean", relevant_from=2.5, scale=[[0, "bad"], [2, ""], [3, "good"]])
    ratings.rate(query=query, doc_id="a", value=value, by=case.owner)
    assert (query.book.rule, query.book.relevant_from) == ("mean", 2.5)
    assert query.book.scale == [[0, "bad"], [2, ""], [3, "good"]]


def test_rate_two_cases_on_one_book() -> None:
    case = make_case(2, {"query 1": {"b": 1}})
    other = make_case(2, book_of=case)
    runs = [run_now(make_attempt(item)) for item in (case, other)]
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=3, by=case.owner)
    rescore(runs[0], query_of(case, "query 1").pk)
    assert not scores.count_stale(runs[0], ScorerVersion.objects.used_by(case)[0])
    assert scores.count_stale(runs[1], ScorerVersion.objects.used_by(other)[0]) == 1
    score = QueryScore.objects.get(run=runs[1], query__text="query 1")
    assert score.revision < Query.objects.get(text="query 1").revision


def test_rate_book_is_all_or_nothing() -> None:
    case: Case = make_case(2)
    one, two = query_of(case, "query 1"), query_of(case, "query 2")
    with pytest.raises(ratings.InvalidRating):
        ratings.rate_book(book=case.book, values={one.pk: {"a": 1}, two.pk: {"a": 99}}, rater=case.owner, by=case.owner)
    assert not Rating.objects.exists()
    many = {f"d{number}": number % 4 for number in range(1200)}
    assert ratings.rate_book(book=case.book, values={one.pk: many}, rater=case.owner, by=case.owner) == 1200
    assert ratings.remove(query=one, doc_ids=many, by=case.owner) == 1200
    assert (Rating.objects.count(), RatingChange.objects.count()) == (0, 2400)
