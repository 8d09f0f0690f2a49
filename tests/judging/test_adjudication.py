"""Documents that raters disagree on, and decisions that count instead of all ratings."""

import pytest
from django.utils import timezone

from relevancy import books, judging, ratings, scores
from relevancy.formats.ratings import book_ratings_csv
from relevancy.models import Book, Case, JudgingPair, Query, Rating, RatingChange, User
from tests.factories import (
    make_attempt,
    make_case,
    make_user,
    query_of,
    rate_all,
    run_now,
    set_rule,
    stored_case_scores,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def case() -> Case:
    """Two queries, rated by three raters; query 1: a 3 0 1, b 2 1; query 2: a 3 3."""
    case = make_case(2, {"query 1": {"a": 3, "b": 2, "c": 1}, "query 2": {"a": 3}})
    rate_all(case, {"query 1": {"a": 0, "b": 1}, "query 2": {"a": 3}}, make_user("Second"))
    rate_all(case, {"query 1": {"a": 1}}, make_user("Third"))
    run_now(make_attempt(case))
    return case


@pytest.fixture
def judge() -> User:
    return make_user("Judge")


def conflicts(case: Case, difference: float = 1, state: str = judging.OPEN) -> list[tuple[str, str, float]]:
    rows = judging.find_conflicts(book=case.book, difference=difference, state=state)
    result = judging.read_conflicts(case.book, rows)
    return [(item.query.text[-1], item.doc_id, item.difference) for item in result]


def grade(case: Case, doc_id: str = "a") -> float | None:
    """The grade of a document of query 1: by both ways to read it."""
    query = query_of(case, "query 1")
    book = Book.objects.get(pk=case.book_id)
    known = scores.known_grades(book, [query.pk])[query.pk].get(doc_id)
    assert known == scores.QueryRatings.read(query.pk).grades(book).get(doc_id)
    return known


def test_conflicts_are_sorted_by_their_difference(case: Case) -> None:
    assert conflicts(case) == [("1", "a", 3), ("1", "b", 1)]
    assert conflicts(case, 2) == [("1", "a", 3)]
    assert conflicts(case, 4) == []
    assert conflicts(case, 0) == [("1", "a", 3), ("1", "b", 1), ("2", "a", 0)]
    judging.judge(query=query_of(case, "query 1"), doc_id="b", by=case.owner, verdict="cannot", note="Unclear")
    assert conflicts(case) == [("1", "a", 3)]


def test_documents_are_counted_once_however_many_rated_them(case: Case, judge: User) -> None:
    rate_all(case, {"query 2": {"b": 1}}, judge)
    assert books.count_judgments(case.book).documents == 5
    judging.adjudicate(query=query_of(case, "query 1"), doc_id="c", value=2, by=judge)
    assert books.count_judgments(case.book).documents == 5
    Query.objects.filter(pk=query_of(case, "query 2").pk).update(retired_at=timezone.now())
    assert books.count_judgments(case.book).documents == 3


@pytest.mark.parametrize("rule", ["latest", "mean", "median", "majority", "quepid"])
def test_a_decision_counts_with_every_rule_and_after_later_ratings(case: Case, judge: User, rule: str) -> None:
    set_rule(book=case.book, rule=rule)
    query = query_of(case, "query 1")
    assert judging.adjudicate(query=query, doc_id="a", value=2, by=judge, note="See the guidelines")
    assert grade(case) == 2
    ratings.rate(query=query, doc_id="a", value=0, by=make_user())
    assert grade(case) == 2
    assert conflicts(case) == [("1", "b", 1)]
    assert conflicts(case, state=judging.DECIDED) == [("1", "a", 3)]
    assert judging.count_adjudications(case.book) == 1
    result = judging.read_conflict(query, "a")
    assert (len(result.ratings), result.adjudication and result.adjudication.note) == (4, "See the guidelines")


def test_scores_follow_a_decision_and_its_withdrawal(case: Case, judge: User) -> None:
    def score() -> float:
        assert scores.rescore_case(Case.objects.get(pk=case.pk), seconds=60)
        value: float = stored_case_scores(case.runs.get())["nDCG@10"][0]
        return value

    before = score()
    query = query_of(case, "query 1")
    judging.adjudicate(query=query, doc_id="a", value=0, by=judge)
    decided = score()
    assert decided != before
    assert judging.withdraw_adjudication(query=query, doc_id="a", by=make_user())
    assert score() == before
    assert not judging.withdraw_adjudication(query=query, doc_id="a", by=judge)


def test_taking_back_restores_the_rating_of_before(case: Case) -> None:
    query = query_of(case, "query 1")
    before = Rating.objects.get(query=query, doc_id="a", rater=case.owner)
    judging.adjudicate(query=query, doc_id="a", value=1, by=case.owner)
    ratings.rate(query=query, doc_id="a", value=2, by=case.owner)  # changes the decision
    assert (grade(case), judging.count_adjudications(case.book)) == (2, 1)
    judging.withdraw_adjudication(query=query, doc_id="a", by=make_user("Other"))
    after = Rating.objects.get(pk=before.pk)
    assert (after.value, after.note, after.updated_at) == (before.value, before.note, before.updated_at)
    assert not after.is_adjudication
    log = RatingChange.objects.filter(query=query, doc_id="a", rater=case.owner).order_by("pk")
    kinds = [(change.source, change.new_value, change.new_is_adjudication) for change in log]
    assert kinds[1:] == [("adjudication", 1, True), ("page", 2, True), ("adjudication", 3, False)]


def test_undoing_a_rating_restores_the_decision(case: Case, judge: User) -> None:
    query = query_of(case, "query 1")
    judging.adjudicate(query=query, doc_id="a", value=2, by=judge)
    ratings.remove(query=query, doc_ids=["a"], by=judge)
    assert judging.count_adjudications(case.book) == 0
    ratings.undo(by=judge, book=case.book)
    assert (grade(case), judging.count_adjudications(case.book)) == (2, 1)
    judging.judge(query=query, doc_id="a", by=judge, verdict="cannot", note="Unclear")
    assert judging.count_adjudications(case.book) == 0


def test_a_second_adjudicator_replaces_the_first(case: Case, judge: User) -> None:
    query = query_of(case, "query 1")
    judging.adjudicate(query=query, doc_id="a", value=2, by=case.owner)
    judging.adjudicate(query=query, doc_id="a", value=0, by=judge)
    assert (grade(case), judging.count_adjudications(case.book)) == (0, 1)
    assert Rating.objects.get(query=query, doc_id="a", rater=case.owner).value == 3
    assert not judging.adjudicate(query=query, doc_id="a", value=0, by=judge)


def test_a_decision_from_before_another_scale_keeps_its_grade_when_taken_back(case: Case) -> None:
    query = query_of(case, "query 1")
    judging.adjudicate(query=query, doc_id="a", value=2, by=case.owner)
    book = Book.objects.get(pk=case.book_id)
    settings = books.book_settings(rule="latest", scale=[[value, ""] for value in range(31)])
    books.change_settings(
        book=book, settings=settings, new_grades={0.0: 0.0, 1.0: 10.0, 2.0: 20.0, 3.0: 30.0}, by=case.owner
    )
    assert grade(case) == 20
    judging.withdraw_adjudication(query=query, doc_id="a", by=case.owner)
    own = Rating.objects.get(query=query, doc_id="a", rater=case.owner)
    assert (own.value, own.is_adjudication) == (20, False)


def test_decisions_off_the_scale_are_refused(case: Case, judge: User) -> None:
    with pytest.raises(ratings.InvalidRating, match="7 is not on the scale"):
        judging.adjudicate(query=query_of(case, "query 1"), doc_id="a", value=7, by=judge)
    assert judging.count_adjudications(case.book) == 0


def test_a_decision_is_a_rating_of_the_queue(case: Case, judge: User) -> None:
    judging.set_judging(book=case.book, depth=3, ratings_per_pair=4, order="query")
    judging.build_judging_queue(book=case.book)
    judging.adjudicate(query=query_of(case, "query 1"), doc_id="a", value=2, by=judge)
    assert JudgingPair.objects.get(query__text="query 1", doc_id="a").level is None


def test_exports_name_who_decided(case: Case, judge: User) -> None:
    judging.adjudicate(query=query_of(case, "query 1"), doc_id="a", value=2, by=judge)
    judging.judge(query=query_of(case, "query 2"), doc_id="=x", by=judge, verdict="cannot", note="No, really")
    lines = "".join(book_ratings_csv.export_book_ratings(book=case.book)).splitlines()
    assert lines[0] == "query,docid,grade,decided_by,rater,verdict,rating,note,rated_at"
    cells = [line.rsplit(",", 1)[0] for line in lines[1:]]
    assert "query 1,a,2,Judge,Judge,rated,2," in cells
    assert "query 1,a,2,Judge,Second,rated,0," in cells
    assert "query 1,b,1,,Second,rated,1," in cells
    assert 'query 2,\'=x,,,Judge,cannot,,"No, really"' in cells


def test_copies_of_books_keep_decisions(case: Case, judge: User) -> None:
    judging.adjudicate(query=query_of(case, "query 1"), doc_id="a", value=2, by=judge)
    settings = books.BookSettings.of(case.book)
    copy = books.copy_book(book=case.book, name="Copy", settings=settings, by=judge)
    assert judging.count_adjudications(copy) == 1
