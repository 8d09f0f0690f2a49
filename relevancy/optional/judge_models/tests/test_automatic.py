"""Judge models that judge new results by themselves: only what is wanted, within the budget, and they say what they did."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from relevancy import judging, tasks
from relevancy.models import Case, Rating, User
from relevancy.optional.judge_models import jobs, judges
from relevancy.optional.judge_models.automatic import (
    count_spent,
    find_automatic,
    find_left,
    set_automatic,
    start_automatic,
)
from relevancy.optional.judge_models.fake_judge import FakeJudge, fake_judge
from relevancy.optional.judge_models.models import AutomaticJudging, JudgeAnswer, JudgeJob, JudgeModel
from tests.factories import make_attempt, make_case, make_user, rate_all, run_now, script_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def server() -> Iterator[FakeJudge]:
    with fake_judge(truth=lambda query, document: "2") as running:
        yield running


@pytest.fixture
def case() -> Case:
    """Two queries with three documents each, of which one is rated, run once; the queue is chosen."""
    case = make_case(2, {"query 1": {"a": 3}})
    run_now(make_attempt(case))
    judging.build_judging_queue(book=case.book)
    return case


def make_judge(server: FakeJudge, by: User, **fields: Any) -> JudgeModel:
    return judges.create(name="Judge", protocol="openai", url=server.url, model="m", key="sk-123456", by=by, **fields)


def switch_on(judge: JudgeModel, case: Case, budget: Decimal | None = None, by: User | None = None) -> None:
    set_automatic(judge=judge, book=case.book, is_on=True, budget=budget, by=by or case.owner)


def run_again(case: Case, documents: list[str]) -> None:
    """Another run, after which the documents to judge are chosen again."""
    attempt = case.attempts.get()
    script_of(attempt).default = documents
    run_now(attempt)
    tasks.build_judging_queue.func(case.book_id)


def answered(judge: JudgeModel) -> list[tuple[str, str]]:
    rows = JudgeAnswer.objects.filter(judge=judge, state="rated").values_list("query__text", "doc_id")
    return sorted(rows)


def note(judge: JudgeModel) -> str:
    return AutomaticJudging.objects.get(judge=judge).note


def test_nothing_is_sent_unless_it_is_switched_on(server: FakeJudge, case: Case) -> None:
    judge = make_judge(server, case.owner)
    run_again(case, ["a", "d"])
    assert not JudgeJob.objects.exists()
    switch_on(judge, case)
    set_automatic(judge=judge, book=case.book, is_on=False, budget=None, by=case.owner)
    run_again(case, ["a", "e"])
    assert not JudgeJob.objects.exists()


def test_new_results_without_a_rating_are_judged_and_stand_apart(server: FakeJudge, case: Case) -> None:
    judge = make_judge(server, case.owner)
    switch_on(judge, case)
    run_again(case, ["a", "d"])
    assert answered(judge) == [("query 1", "d"), ("query 2", "a"), ("query 2", "d")]
    job = JudgeJob.objects.get()
    assert (job.status, job.automatic, job.created_by) == ("complete", AutomaticJudging.objects.get(), case.owner)
    assert Rating.objects.count() == 1
    # After the job it looked once more.
    assert note(judge) == "No result without a rating or an answer."
    run_again(case, ["d", "e"])
    assert answered(judge)[1:] == [("query 1", "e"), ("query 2", "a"), ("query 2", "d"), ("query 2", "e")]


def test_the_budget_is_that_of_all_jobs_together(server: FakeJudge, case: Case) -> None:
    judge = make_judge(server, case.owner, output_price=Decimal("100.0005"), parameters={"max_tokens": 99})
    with pytest.raises(ValidationError, match="Enter the most"):
        switch_on(judge, case)
    # Each answer has 20 tokens and costs 0.00200001; a request is sent if the budget covers 99 tokens, 0.0099.
    switch_on(judge, case, Decimal("0.013"))
    run_again(case, ["d"])
    assert len(answered(judge)) == 2
    automatic = find_automatic(judge, case.book)
    assert automatic is not None
    assert (count_spent(automatic), find_left(automatic)) == (Decimal("0.00400002"), Decimal("0.0089"))
    run_again(case, ["e"])
    assert len(answered(judge)) == 2
    assert JudgeJob.objects.first().reason.startswith("The budget of 0.0089")
    switch_on(judge, case, Decimal("0.003"))
    run_again(case, ["f"])
    assert note(judge) == "The budget of 0.0030 is spent; 2 results wait."
    switch_on(judge, case, Decimal(1))
    run_again(case, ["g"])
    assert ("query 1", "g") in answered(judge)


def test_a_job_that_runs_is_not_disturbed(server: FakeJudge, case: Case) -> None:
    judge = make_judge(server, case.owner)
    switch_on(judge, case)
    job = jobs.start(judge=judge, book=case.book, by=case.owner, is_background=True)
    assert start_automatic(case.book) == []
    assert note(judge) == "A job is running; new results are judged after it."
    assert JudgeJob.objects.get() == job


def test_an_editor_who_left_spends_nothing(server: FakeJudge, case: Case) -> None:
    judge = make_judge(server, case.owner)
    switch_on(judge, case, by=make_user("Nobody"))
    run_again(case, ["d"])
    assert not JudgeJob.objects.exists()
    assert note(judge).startswith("Nobody, who switched this on, may no longer start jobs.")


def test_an_archived_judge_model_and_rated_results_are_left_alone(server: FakeJudge, case: Case) -> None:
    judge = make_judge(server, case.owner)
    switch_on(judge, case)
    rate_all(case, {"query 1": {"d": 1}, "query 2": {"d": 1}}, case.owner)
    run_again(case, ["d"])
    assert not JudgeJob.objects.exists()
    judges.archive(judge=judge)
    run_again(case, ["e"])
    assert not JudgeJob.objects.exists()
