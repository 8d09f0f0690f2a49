"""What becomes of answers and judge models with books, accounts and the activity log."""

from collections.abc import Mapping
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from relevancy import accounts, books, judging, scores
from relevancy.models import Activity, Book, Case, Query, User
from relevancy.optional.judge_models import calibration, counting, jobs, judges
from relevancy.optional.judge_models.automatic import set_automatic
from relevancy.optional.judge_models.models import (
    AutomaticJudging,
    CalibrationSample,
    JudgeAnswer,
    JudgeJob,
    JudgeModel,
)
from tests.activity.test_recording import Recorder
from tests.factories import make_case, make_user, query_of, rate_all

pytestmark = pytest.mark.django_db
ZERO_TO_TEN = [[grade, ""] for grade in range(11)]
TIMES_THREE = {0: 0, 1: 3, 2: 6, 3: 9}


def fresh(case: Case) -> Book:
    book: Book = Book.objects.get(pk=case.book_id)
    return book


def grades(case: Case) -> dict[str, float]:
    """The grades of the first query."""
    query = query_of(case, "query 1")
    return scores.known_grades(fresh(case), [query.pk])[query.pk]


def remap(case: Case, new_grades: Mapping[float, float] = TIMES_THREE) -> int:
    book = fresh(case)
    settings = books.book_settings(rule=book.rule, scale=ZERO_TO_TEN)
    return books.change_settings(book=book, settings=settings, new_grades=new_grades, by=case.owner)


def make_judge(by: User) -> JudgeModel:
    return judges.create(name="Judge", protocol="openai", url="http://localhost/", model="m", by=by)


def ask(case: Case, judge: JudgeModel, values: Mapping[str, float | None]) -> None:
    """Stores answers of a judge model for documents of query 1: without a grade, the request failed."""
    job = JudgeJob.objects.create(judge=judge, book=case.book, created_by=case.owner, status="complete")
    for doc_id, value in values.items():
        JudgeAnswer.objects.create(
            judge=judge,
            job=job,
            query=query_of(case, "query 1"),
            doc_id=doc_id,
            value=value,
            state="failed" if value is None else "rated",
            answered_at=timezone.now(),
        )


def answers(case: Case) -> dict[str, float | None]:
    return dict(JudgeAnswer.objects.filter(query__book=case.book_id).values_list("doc_id", "value"))


def test_answers_of_judge_models_get_the_new_grades() -> None:
    case = make_case(1, {"query 1": {"a": 1}})
    judge = make_judge(case.owner)
    ask(case, judge, {"b": 2, "c": 0, "d": None})
    book = fresh(case)
    settings = books.book_settings(rule=book.rule, scale=ZERO_TO_TEN)
    assert books.suggest_grades(book, settings).keys() == {0, 1, 2}
    with pytest.raises(ValidationError, match="rated 0 meanwhile"):
        remap(case, {1: 3})
    assert remap(case) == 1
    assert answers(case) == {"b": 6, "c": 0, "d": None}
    assert counting.let_count(judge=judge, book=book, by=case.owner).changed == 2
    assert grades(case) == {"a": 3, "b": 6, "c": 0}


def test_answers_of_judge_models_come_with_a_merge() -> None:
    case = make_case(1)
    other = make_case(["query 1", "yours"], owner=case.owner)
    judge = make_judge(case.owner)
    ask(case, judge, {"a": 3, "b": None, "c": 1})
    ask(other, judge, {"a": None, "b": 2, "c": 2, "d": 0})
    CalibrationSample.objects.create(book=other.book, query_ids=[1], seed=1, created_by=case.owner)
    books.merge_books(book=fresh(case), other=fresh(other), by=case.owner)
    assert answers(case) == {"a": 3, "b": 2, "c": 2, "d": 0}
    assert {job.book_id for job in JudgeJob.objects.all()} == {case.book_id}
    assert not CalibrationSample.objects.exists()
    assert Query.objects.count() == 2


def test_decision_counts_as_the_grade_of_people() -> None:
    case = make_case(1, {"query 1": {"a": 0}})
    rate_all(case, {"query 1": {"a": 3}}, make_user())
    query = query_of(case, "query 1")
    judging.adjudicate(query=query, doc_id="a", value=1, by=case.owner)
    rate_all(case, {"query 1": {"a": 3}}, make_user())
    people = calibration.people_grades(case.book, [query.pk])
    assert people.values == {query.pk: {"a": 1}}


def test_grades_do_not_change_while_a_judge_model_works_on_the_book() -> None:
    case = make_case(1, {"query 1": {"a": 1}})
    job = JudgeJob.objects.create(judge=make_judge(case.owner), book=case.book, created_by=case.owner)
    with pytest.raises(ValidationError, match="is rating documents of"):
        remap(case)
    JudgeJob.objects.filter(pk=job.pk).update(status="stopped")
    assert remap(case) == 1


def test_grades_of_machines_are_not_those_of_people() -> None:
    case = make_case(1)
    query = query_of(case, "query 1")
    rate_all(case, {"query 1": {"a": 3}}, User.objects.create(email="m@x.invalid", kind=User.Kind.MACHINE))
    assert grades(case) == {"a": 3}
    assert calibration.people_grades(case.book, [query.pk]).values == {query.pk: {}}


def test_what_is_done_is_recorded() -> None:
    ann, ben = make_user("Ann", superuser=True), make_user("Ben")
    check = Recorder()
    case = make_case(1, owner=ann)
    book = case.book
    book.name = "Movies"
    book.save()
    judge = judges.create(name="Judge", protocol="openai", url="http://127.0.0.1:9/v1", model="m", by=ann)
    text = "Started a job of the judge model Judge in the book “Movies”"
    check(lambda: jobs.start(judge=judge, book=book, by=ben), text, case=case, by=ben)
    text = "Let answers of the judge model Judge count in the book “Movies”: 0 ratings"
    check(lambda: counting.let_count(judge=judge, book=book, by=ben), text, case=case, by=ben)
    text = "Removed the ratings of the judge model Judge from the book “Movies”: 0"
    check(lambda: counting.withdraw(judge=judge, book=book, by=ben), text, case=case, by=ben)
    text = "Switched automatic judging by Judge in the book “Movies” on, with a budget of 2.5"
    automatic = {"judge": judge, "book": book, "by": ann}
    check(lambda: set_automatic(**automatic, is_on=True, budget=Decimal("2.50")), text, case=case, by=ann)
    check(lambda: set_automatic(**automatic, is_on=True, budget=Decimal("2.5")), case=case, by=ann)
    text = "Switched automatic judging by Judge in the book “Movies” off"
    check(lambda: set_automatic(**automatic, is_on=False, budget=None), text, case=case, by=ann)
    jobs.cancel(jobs.latest_job(judge, book))
    started = jobs.start(**automatic, automatic=AutomaticJudging.objects.get())
    line = Activity.objects.order_by("-pk")[0]
    assert (line.verb, line.by) == (jobs.STARTED, None)
    jobs.cancel(started)


def test_what_nobody_else_sees_is_archived_without_its_key_when_an_account_is_deleted() -> None:
    ann = make_user("Ann", superuser=True)
    make_user("Root", superuser=True)
    judge = judges.create(name="Judge", protocol="openai", url="http://localhost/", model="m", key="k", by=ann)
    (loss,) = accounts.deletion.contents(ann).losses
    assert (loss.outcome, loss.kind, loss.text) == ("archived", "judge models", "judge models: Judge")
    accounts.deletion.delete(user=ann)
    judge.refresh_from_db()
    assert (judge.archived_at is not None, judge.secrets) == (True, {})
