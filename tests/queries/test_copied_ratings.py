"""The ratings of a query are copied to those that it is linked with: once, with a log, and without changing what is rated there."""

from datetime import timedelta

import pytest
from django.utils import timezone

from relevancy import books, judging, queries, ratings, scores
from relevancy.models import Case, Query, Rating, RatingChange, User, Verdict
from tests.factories import make_attempt, make_case, make_user, query_of, run_now, script_of, stored_scores

pytestmark = pytest.mark.django_db


@pytest.fixture
def case() -> Case:
    return make_case(4, {"query 1": {"a": 3, "b": 1}, "query 2": {"c": 2}, "query 3": {"a": 1}})


def link(case: Case, *numbers: int) -> None:
    queries.link(queries=[query_of(case, f"query {number}") for number in numbers])


def copy(case: Case, number: int) -> int:
    return books.copy_to_linked(query=query_of(case, f"query {number}"), by=case.owner)


def grades(case: Case, number: int) -> dict[str, float]:
    """The grades of a query, which the two ways to read them agree on."""
    query = query_of(case, f"query {number}")
    known = scores.known_grades(case.book, [query.pk])[query.pk]
    assert scores.QueryRatings.read(query.pk).grades(query.book) == known
    return known


def rate(case: Case, number: int, doc_id: str, value: float, by: User) -> None:
    ratings.rate(query=query_of(case, f"query {number}"), doc_id=doc_id, value=value, by=by)


def test_linking_changes_no_grade(case: Case) -> None:
    before = [grades(case, number) for number in (1, 2, 3)]
    link(case, 1, 2, 3)
    assert [grades(case, number) for number in (1, 2, 3)] == before
    rate(case, 2, "d", 1, make_user())
    assert "d" not in grades(case, 1)


def test_copies_go_to_every_linked_query_and_documents_with_a_grade_keep_it(case: Case) -> None:
    link(case, 1, 2, 3)
    previewed = books.preview_copies(query_of(case, "query 1").link)
    assert previewed == {query_of(case, f"query {number}").pk: count for number, count in ((1, 3), (2, 2), (3, 1))}
    assert copy(case, 1) == 3
    assert grades(case, 2) == {"a": 3, "b": 1, "c": 2}
    assert grades(case, 3) == {"a": 1, "b": 1}
    assert grades(case, 1) == {"a": 3, "b": 1}
    assert grades(case, 4) == {}


def test_copying_again_copies_only_what_was_rated_since(case: Case) -> None:
    link(case, 1, 2)
    assert (copy(case, 1), copy(case, 1)) == (2, 0)
    rate(case, 1, "a", 0, case.owner)
    rate(case, 1, "e", 2, case.owner)
    assert copy(case, 1) == 1
    assert grades(case, 2) == {"a": 3, "b": 1, "c": 2, "e": 2}


def test_a_query_that_is_not_linked_is_copied_nowhere(case: Case) -> None:
    link(case, 1, 2)
    assert copy(case, 4) == copy(case, 3) == 0
    queries.unlink(query=query_of(case, "query 1"))
    assert copy(case, 1) == 0


def test_raters_notes_times_and_decisions_stay_and_the_log_says_who_copied(case: Case) -> None:
    judge, editor = make_user(), make_user()
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=2, note="Mine", by=judge)
    judging.adjudicate(query=query_of(case, "query 1"), doc_id="b", value=0, by=judge)
    link(case, 1, 4)
    books.copy_to_linked(query=query_of(case, "query 1"), by=editor)
    columns = ("doc_id", "rater_id", "value", "note", "updated_at", "is_adjudication")
    of_query = [
        list(Rating.objects.filter(query__text=text).order_by("updated_at", "pk").values_list(*columns))
        for text in ("query 1", "query 4")
    ]
    assert of_query[0] == of_query[1]
    assert len(of_query[0]) == 4
    assert grades(case, 4) == grades(case, 1) == {"a": 2, "b": 0}
    log = RatingChange.objects.filter(query__text="query 4")
    assert set(log.values_list("by", "source", "old_verdict")) == {(editor.pk, "copy", "")}
    assert ratings.undo(by=editor, case=case) is None


def test_of_ratings_of_one_moment_the_same_decides_for_the_copy(case: Case) -> None:
    first, second = make_user(), make_user()
    for number, (doc_id, raters) in enumerate({"x": (first, second), "y": (second, first)}.items()):
        for value, rater in enumerate(raters, start=1):
            rate(case, 1, doc_id, value + number, rater)
    Rating.objects.filter(doc_id__in=["x", "y"]).update(updated_at=timezone.now() - timedelta(days=1))
    link(case, 1, 4)
    copy(case, 1)
    assert grades(case, 4) == grades(case, 1) == {"a": 3, "b": 1, "x": 2, "y": 3}


def test_who_could_not_judge_or_put_a_document_off_gets_no_grade_there(case: Case) -> None:
    rater = make_user()
    rate(case, 1, "a", 1, rater)
    for doc_id, verdict in (("a", Verdict.CANNOT), ("b", Verdict.LATER)):
        judging.judge(query=query_of(case, "query 4"), doc_id=doc_id, verdict=verdict, by=case.owner)
    link(case, 1, 4)
    assert copy(case, 1) == 1
    assert grades(case, 4) == {"a": 1}
    assert set(Rating.objects.filter(query__text="query 4").values_list("doc_id", "rater", "verdict")) == {
        ("a", rater.pk, "rated"),
        ("a", case.owner.pk, "cannot"),
        ("b", case.owner.pk, "later"),
    }
    assert copy(case, 4) == 0  # no verdict is copied


@pytest.mark.usefixtures("script")
def test_scores_of_the_queries_that_got_ratings_are_stale_and_of_others_are_not(case: Case) -> None:
    attempt = make_attempt(case)
    script_of(attempt).default = "abc"
    run = run_now(attempt)
    link(case, 1, 2)
    before = dict(Query.objects.values_list("text", "revision"))
    copy(case, 1)
    after = dict(Query.objects.values_list("text", "revision"))
    assert {text for text in after if after[text] != before[text]} == {"query 2"}
    assert scores.rescore_case(case, seconds=60)
    rescored = stored_scores(run)
    scores.rescore_run(run)
    assert stored_scores(run) == rescored
    copy(case, 1)
    assert dict(Query.objects.values_list("text", "revision")) == after
