"""Jobs of judge models against the fake judge: answers, budgets, stops, repeats; and that no score knows of them until they count."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.utils import timezone

from relevancy import judging, scores, tasks
from relevancy.models import Case, Rating, RatingChange, User
from relevancy.optional.judge_models import counting, jobs, judges
from relevancy.optional.judge_models.counting import AnswerCounts
from relevancy.optional.judge_models.fake_judge import FakeJudge, fake_judge
from relevancy.optional.judge_models.models import JudgeAnswer, JudgeJob, JudgeModel
from tests.factories import make_attempt, make_case, make_user, query_of, rate_all, run_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
State = JudgeAnswer.State
TRUTH = {"a": "3", "b": "1", "c": "0"}  # by document


@pytest.fixture
def server() -> Iterator[FakeJudge]:
    """Grades documents by their titles, which are their ids."""
    with fake_judge(truth=lambda query, document: TRUTH[document["title"]]) as running:
        yield running


@pytest.fixture
def case() -> Case:
    """Two queries with the documents a, b and c, run once; the queue is chosen."""
    case = make_case(2)
    run_now(make_attempt(case))
    judging.build_judging_queue(book=case.book)
    return case


def make_judge(server: FakeJudge, **fields: Any) -> JudgeModel:
    fields = {"name": "Judge", "protocol": "openai", "url": server.url, "model": "m", "key": "sk-123456", **fields}
    return judges.create(by=fields.pop("by", None) or make_user(), **fields)


def judge_book(judge: JudgeModel, case: Case, **options: Any) -> tuple[JudgeJob, AnswerCounts]:
    job = jobs.start(judge=judge, book=case.book, by=case.owner, **options)
    return job, jobs.run(job)


def grades(case: Case) -> dict[int, dict[str, float]]:
    return scores.known_grades(case.book, [query.pk for query in case.book.queries.all()])


def test_every_document_is_answered_and_no_grade_changes(server: FakeJudge, case: Case) -> None:
    job, progress = judge_book(make_judge(server, input_price=Decimal(10), output_price=Decimal(100)), case)
    assert (job.status, progress.rated, progress.open, progress.failed) == (JudgeJob.Status.COMPLETE, 6, 0, 0)
    answer = JudgeAnswer.objects.get(query=query_of(case, "query 1"), doc_id="a")
    assert (answer.value, answer.model, answer.input_tokens, answer.output_tokens) == (3, "m-fake", 400, 20)
    assert answer.cost == Decimal("0.006")  # 400 × 10 + 20 × 100 millionths
    assert progress.spent == Decimal("0.036")
    assert not Rating.objects.exists()
    assert set(map(len, grades(case).values())) == {0}


def test_ratings_count_only_where_nobody_else_has_rated_and_can_be_withdrawn(server: FakeJudge, case: Case) -> None:
    rate_all(case, {"query 1": {"a": 2}}, case.owner)
    judge = make_judge(server)
    judge_book(judge, case)
    counted = counting.let_count(judge=judge, book=case.book, by=case.owner)
    assert (counted.changed, counted.left_out, counted.off_scale) == (5, 1, 0)
    assert counting.describe(counted, judge) == (
        f"5 ratings by {judge.rater} are new or changed. 1 document that others have rated was left out."
    )
    first, second = (query_of(case, text).pk for text in ("query 1", "query 2"))
    assert grades(case) == {first: {"a": 2, "b": 1, "c": 0}, second: {"a": 3, "b": 1, "c": 0}}
    change = RatingChange.objects.filter(rater=judge.rater).first()
    assert change is not None
    assert (change.by, change.source) == (case.owner, "judge")
    assert str(judge.rater) == "Judge (AI judge)"
    revision = query_of(case, "query 1").revision
    assert counting.withdraw(judge=judge, book=case.book, by=case.owner) == 5
    assert grades(case) == {first: {"a": 2}, second: {}}
    assert query_of(case, "query 1").revision > revision
    assert judge.answers.filter(state=State.RATED).count() == 6


def test_the_rater_cannot_sign_in(server: FakeJudge) -> None:
    rater = make_judge(server).rater
    assert (rater.kind, rater.is_active, rater.has_usable_password()) == (User.Kind.MACHINE, False, False)


def test_the_key_is_encrypted(server: FakeJudge) -> None:
    judge = make_judge(server)
    stored = JudgeModel.objects.filter(pk=judge.pk).extra(select={"raw": "secrets"}).values_list("raw", flat=True)[0]
    assert "sk-123456" not in str(stored)
    assert JudgeModel.objects.get(pk=judge.pk).secrets == {"key": "sk-123456"}


def test_answers_are_used_again_by_the_same_judge_model_only(server: FakeJudge, case: Case) -> None:
    judge = make_judge(server)
    judge_book(judge, case)
    estimate = jobs.estimate(judge=judge, book=case.book)
    assert (estimate.documents, estimate.answered) == (0, 6)
    assert estimate.describe() == "No document is left to send. Not sent again: 6 documents answered before."
    job, progress = judge_book(judge, case)
    assert (job.status, progress.rated, len(server.requests)) == (JudgeJob.Status.COMPLETE, 0, 6)
    judge_book(make_judge(server, name="Another prompt", prompt="grade-1"), case)
    assert len(server.requests) == 12


def test_a_budget_is_never_exceeded_and_a_further_job_continues(server: FakeJudge, case: Case) -> None:
    judge = make_judge(server, output_price=Decimal(1000), parameters={"max_tokens": 100})  # 0.1 at most, 0.02 in fact
    job, progress = judge_book(judge, case, budget=Decimal("0.15"))
    assert job.status == JudgeJob.Status.STOPPED
    assert "budget" in job.reason
    assert progress.spent <= Decimal("0.15")
    assert (progress.rated, progress.open) == (3, 3)  # 0.06 spent: another one could cost 0.1
    job, progress = judge_book(judge, case)
    assert (job.status, progress.rated, len(server.requests)) == (JudgeJob.Status.COMPLETE, 3, 6)


def test_the_estimate_covers_the_cost(server: FakeJudge, case: Case) -> None:
    judge = make_judge(server, output_price=Decimal(1000), parameters={"max_tokens": 100})
    estimate = jobs.estimate(judge=judge, book=case.book)
    assert (estimate.documents, estimate.output_tokens, estimate.cost) == (6, 600, Decimal("0.6"))
    assert estimate.input_tokens > 600
    assert judge_book(judge, case)[1].spent <= estimate.cost


@pytest.mark.parametrize(
    ("prefix", "is_sent"),
    [("http://127.0.0.1:9/", True), ("http://169.254.169.254/", False)],
    ids=["allowed", "metadata"],
)
def test_pictures_count_in_estimate_and_budget(server: FakeJudge, prefix: str, is_sent: bool) -> None:
    case = make_case(2)
    field = f'id:id title:id {{"name": "id", "type": "image", "prefix": "{prefix}"}}'
    run_now(make_attempt(case, fields=field))
    judging.build_judging_queue(book=case.book)
    prices = {"input_price": Decimal(1000), "parameters": {"max_tokens": 100}}
    blind, seeing = make_judge(server, **prices), make_judge(server, name="Sees", image_tokens=50_000, **prices)
    without, estimate = (jobs.estimate(judge=judge, book=case.book) for judge in (blind, seeing))
    assert (without.images, estimate.images) == (0, 6)
    assert 300_000 < estimate.input_tokens - without.input_tokens < 301_000  # and the sentence about pictures

    job, progress = judge_book(seeing, case, budget=Decimal(56))
    if is_sent:  # one costs 1.4, and could cost 50 for the picture and 3 for the text: the second or third is not sent
        assert "budget" in job.reason
        assert 0 < progress.rated < 4
        assert progress.spent == Decimal("1.4") * progress.rated
        assert sorted(server.images)[0] == f"{prefix}a"
    else:
        assert (progress.failed, len(server.requests), progress.spent) == (6, 0, 0)
        error = JudgeAnswer.objects.filter(job=job).values_list("error", flat=True)[0]
        assert "picture was not sent" in error
    sent = len(server.images)
    judge_book(blind, case)
    assert sent == len(server.images) == progress.rated


def test_a_refused_key_stops_the_job_and_leaves_the_documents_open(server: FakeJudge, case: Case) -> None:
    server.variant = "401"
    judge = make_judge(server)
    job, progress = judge_book(judge, case)
    assert (job.status, progress.open, progress.failed) == (JudgeJob.Status.STOPPED, 6, 0)
    assert "Incorrect API key provided" in job.reason
    assert "sk-123456" not in job.reason


def test_failed_documents_stay_failed_until_they_are_repeated(server: FakeJudge, case: Case) -> None:
    server.variant = "prose"
    judge = make_judge(server)
    job, progress = judge_book(judge, case)
    assert (job.status, progress.unreadable) == (JudgeJob.Status.COMPLETE, 6)
    answer = job.answers.all()[0]
    assert "contains no JSON object with a grade" in answer.error
    assert answer.text == "This document is quite relevant. I would give it a 2, or perhaps a 3."
    server.variant = ""
    assert judge_book(judge, case)[1].rated == 0
    assert jobs.estimate(judge=judge, book=case.book, choice=jobs.DocumentChoice(repeat_failed=True)).documents == 6
    job, progress = judge_book(judge, case, choice=jobs.DocumentChoice(repeat_failed=True))
    assert (progress.rated, progress.unreadable) == (6, 0)
    assert set(job.answers.values_list("error", "text")) == {("", "")}


def test_ten_failures_in_a_row_stop_the_job(server: FakeJudge) -> None:
    case = make_case(8)
    run_now(make_attempt(case))
    judging.build_judging_queue(book=case.book)
    server.variant = "html"
    job, progress = judge_book(make_judge(server, parallel=1), case)
    assert job.status == JudgeJob.Status.STOPPED
    assert "The last 10 documents failed" in job.reason
    assert 10 <= progress.failed < 14
    assert progress.open == 24 - progress.failed


def test_a_stopped_job_stores_what_was_in_progress(server: FakeJudge, case: Case) -> None:
    judge = make_judge(server, parallel=2)
    job = jobs.start(judge=judge, book=case.book, by=case.owner)
    progress = jobs.run(job, is_stopped=lambda: len(server.requests) >= 2)
    assert (job.status, job.reason) == (JudgeJob.Status.STOPPED, "It was stopped.")
    assert progress.rated == len(server.requests) >= 2
    assert judge_book(judge, case)[1].rated == 6 - progress.rated


def test_off_the_scale_is_not_understood(server: FakeJudge, case: Case) -> None:
    server.variant = "off_scale"
    job, progress = judge_book(make_judge(server), case)
    assert (progress.unreadable, progress.cannot, progress.rated) == (6, 0, 0)
    assert job.answers.all()[0].error == "The grade “99” is not on the scale."


def test_only_unrated_leaves_rated_documents_out(server: FakeJudge, case: Case) -> None:
    rate_all(case, {"query 1": {"a": 2}}, case.owner)
    assert judge_book(make_judge(server), case, choice=jobs.DocumentChoice(only_unrated=True))[1].rated == 5


def test_two_jobs_of_one_judge_model_do_not_work_on_a_book_at_once(server: FakeJudge, case: Case) -> None:
    judge = make_judge(server)
    first = jobs.start(judge=judge, book=case.book, by=case.owner)
    with pytest.raises(ValidationError, match="already"):
        jobs.start(judge=judge, book=case.book, by=case.owner)
    JudgeJob.objects.filter(pk=first.pk).update(heartbeat_at=timezone.now() - 2 * jobs.STALE_AFTER)
    assert judge_book(judge, case)[1].rated == 6
    first.refresh_from_db()
    assert first.status == JudgeJob.Status.STOPPED


def test_a_job_that_another_process_works_on_is_left_alone(server: FakeJudge, case: Case) -> None:
    job = jobs.start(judge=make_judge(server), book=case.book, by=case.owner)
    JudgeJob.objects.filter(pk=job.pk).update(claimed_by="other", heartbeat_at=timezone.now(), status="running")
    assert jobs.run(job).open == 6
    assert server.requests == []


def test_a_job_is_left_when_its_time_is_over_and_continued(server: FakeJudge, case: Case) -> None:
    job = jobs.start(judge=make_judge(server), book=case.book, by=case.owner, is_background=True)
    assert jobs.run(job, seconds=0).open == 6
    assert (job.status, job.claimed_by, job.is_active) == (JudgeJob.Status.RUNNING, "", True)
    assert jobs.run(job, seconds=60).rated == 6
    assert job.status == JudgeJob.Status.COMPLETE


def test_failures_in_a_row_are_counted_across_processes(server: FakeJudge, case: Case) -> None:
    server.variant = "html"
    job = jobs.start(judge=make_judge(server, parallel=1), book=case.book, by=case.owner, is_background=True)
    JudgeJob.objects.filter(pk=job.pk).update(consecutive_failures=8)
    jobs.run(job)
    assert job.status == JudgeJob.Status.STOPPED
    assert "The last 10 documents failed" in job.reason


def test_a_job_that_no_process_works_on_stops_at_once(server: FakeJudge, case: Case) -> None:
    job = jobs.start(judge=make_judge(server), book=case.book, by=case.owner, is_background=True)
    jobs.cancel(job)
    assert jobs.run(job).open == 6
    assert (job.status, job.reason, server.requests) == (JudgeJob.Status.STOPPED, "It was stopped.", [])


def test_the_task_continues_a_job_and_the_sweep_finds_one_that_was_left(server: FakeJudge, case: Case) -> None:
    judge = make_judge(server)
    job = jobs.start(judge=judge, book=case.book, by=case.owner, is_background=True)
    assert jobs.sweep() == []
    long_ago = timezone.now() - 2 * jobs.STALE_AFTER
    JudgeJob.objects.filter(pk=job.pk).update(claimed_by="dead", heartbeat_at=long_ago, status="running")
    assert jobs.sweep() == [job.pk]
    with pytest.raises(ValidationError, match="already"):  # it goes on: another one would pay twice
        jobs.start(judge=judge, book=case.book, by=case.owner)
    tasks.sweep()
    job.refresh_from_db()
    assert (job.status, counting.count_job(job).rated) == (JudgeJob.Status.COMPLETE, 6)


def test_a_job_of_a_command_is_not_continued_by_the_worker(server: FakeJudge, case: Case) -> None:
    job = jobs.start(judge=make_judge(server), book=case.book, by=case.owner)
    JudgeJob.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - 2 * jobs.STALE_AFTER)
    assert jobs.sweep() == []


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"protocol": "soap"}, "protocol"),
        ({"prompt": "grade-99"}, "prompt"),
        ({"parameters": {"max_tokens": 10, "stream": True}}, "parameters"),
        ({"parameters": {}}, "parameters"),
        ({"parameters": {"max_tokens": True}}, "parameters"),
        ({"url": "http://169.254.169.254/v1"}, "url"),
        ({"url": "https://a:b@judge.example.com"}, "url"),
        ({"name": ""}, "name"),
        ({"input_price": Decimal(-1)}, "input_price"),
    ],
)
def test_invalid_settings_name_the_field(server: FakeJudge, fields: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        make_judge(server, **fields)
    assert list(caught.value.message_dict) == [field]
    assert not User.objects.filter(kind=User.Kind.MACHINE).exists()


def test_creating_needs_the_right_to_create_endpoints(server: FakeJudge) -> None:
    with pytest.raises(ValidationError, match="may not create"):
        make_judge(server, by=make_user(can_create_endpoints=False))


def test_the_command_judges_and_counts(server: FakeJudge, case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    owner = case.owner.email
    call_command(
        "judge_model",
        "create",
        "Mini",
        "anthropic",
        server.url,
        "m",
        "--no-key",
        "--output-price",
        "5",
        "--owner",
        owner,
    )
    call_command("judge_model", "judge", "Mini", str(case.book_id), "--budget", "1", "--owner", owner)
    assert "6 rated, 0 cannot judge, 0 not understood, 0 failed, 0 left" in capsys.readouterr().out
    call_command("judge_model", "list")
    assert "6 rated" in capsys.readouterr().out
    call_command("judge_model", "count", "Mini", str(case.book_id), "--owner", owner)
    assert Rating.objects.count() == 6
    call_command("judge_model", "withdraw", "Mini", str(case.book_id), "--owner", owner)
    assert not Rating.objects.exists()
