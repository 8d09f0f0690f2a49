"""The pages of judge models, against the fake judge: adding one, a job within a budget, what counts, and calibration."""

import re
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone

from relevancy import judging
from relevancy.models import Rating, Team, User
from relevancy.optional.judge_models import jobs, judges
from relevancy.optional.judge_models.automatic import start_automatic
from relevancy.optional.judge_models.fake_judge import FakeJudge, fake_judge
from relevancy.optional.judge_models.jobs import write_amount
from relevancy.optional.judge_models.models import CalibrationSample, JudgeJob, JudgeModel
from tests.factories import make_case, rate_all
from tests.views.workbench.example_cases import make_workbench_case

pytestmark = pytest.mark.django_db
KEY = "sk-not-to-be-shown"


@pytest.fixture
def server() -> Iterator[FakeJudge]:
    with fake_judge(truth=lambda query, document: "2") as running:
        yield running


@pytest.fixture
def case(people, team, script):
    """Three queries with three results each, chosen for judging."""
    case = make_workbench_case(people, team, 3, {"query 1": {"a": 3}})
    judging.build_judging_queue(book=case.book)
    User.objects.filter(pk=people["editor"].pk).update(can_create_endpoints=True)
    people["editor"].refresh_from_db()
    return case


def at(name, case, *args):
    return reverse(name, args=[case.book_id, *args])


def fields(server, **changes):
    values = {
        "name": "Mini",
        "protocol": "openai",
        "url": server.url,
        "model": "mini-1",
        "key": KEY,
        "prompt": "reason-1",
        "max_tokens": "100",
        "image_tokens": "0",
        "input_price": "1",
        "output_price": "10",
        "parallel": "2",
        "per_minute": "0",
    }
    return values | changes


def make_judge(server, by, **options):
    options = {"output_price": Decimal(10), "parameters": {"max_tokens": 100}, **options}
    return judges.create(name="Mini", protocol="openai", url=server.url, model="mini-1", key=KEY, by=by, **options)


def test_editor_adds_a_judge_model_whose_key_is_never_shown(sign_in, server, case, people, team):
    client = sign_in("editor")
    response = client.post(at("judge_model_new", case), fields(server, teams=[team.pk]), follow=True)
    judge = JudgeModel.objects.get()
    assert response.redirect_chain[-1][0] == at("judge_model", case, judge.pk)
    assert (judge.owner, judge.secrets, list(judge.teams.all())) == (people["editor"], {"key": KEY}, [team])
    assert (judge.parameters, judge.rater.name) == ({"max_tokens": 100, "temperature": 0}, "Mini (AI judge)")
    assert server.requests == []
    refused = client.post(at("judge_model_new", case), fields(server, name=""))
    assert refused.status_code == 422
    for page in (response, refused, client.get(at("judge_models", case))):
        assert KEY not in page.content.decode()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("url", "http://169.254.169.254/v1", "169.254"),
        ("url", "file:///etc/passwd", "http"),
        ("protocol", "soap", "available choices"),
        ("prompt", "grade-99", "available choices"),
        ("max_tokens", "0", "greater than or equal to 1"),
        ("input_price", "-1", "greater than or equal to 0"),
        ("teams", "999", "available choices"),
    ],
)
def test_invalid_judge_model_is_not_added(sign_in, server, case, name, value, words):
    response = sign_in("editor").post(at("judge_model_new", case), fields(server, **{name: value}))
    assert response.status_code == 422
    assert words in response.content.decode()
    assert not JudgeModel.objects.exists()


def test_editor_without_the_right_to_enter_addresses_cannot_add_one(sign_in, server, case, people, team):
    User.objects.filter(pk=people["editor"].pk).update(can_create_endpoints=False)
    Team.objects.filter(pk=team.pk).update(can_create_endpoints=False)
    client = sign_in("editor")
    assert client.post(at("judge_model_new", case), fields(server)).status_code == 403
    assert "add-judge-model" not in client.get(at("judge_models", case)).content.decode()


def test_job_is_estimated_started_within_a_budget_and_counted(sign_in, server, case, people):
    judge = make_judge(server, people["editor"])
    client, url = sign_in("editor"), at("judge_model", case, judge.pk)
    page = client.get(url)
    estimate = jobs.estimate(judge=judge, book=case.book)
    assert page.context["estimate"] == estimate
    assert f"{estimate.input_tokens:,} tokens" in page.content.decode()
    unrated = client.get(url, {"estimate": "1", "only_unrated": "on"}, headers={"HX-Request": "true"})
    assert unrated.context["estimate"].documents == estimate.documents - 1
    assert b"<html" not in unrated.content

    without_budget = client.post(at("judge_model_start", case, judge.pk), {})
    assert without_budget.status_code == 422
    assert "Enter the most that the job may cost" in without_budget.content.decode()
    assert not JudgeJob.objects.exists()

    page = client.post(at("judge_model_start", case, judge.pk), {"budget": "1"}, follow=True)
    job = JudgeJob.objects.get()
    assert (job.status, job.created_by, job.budget) == (JudgeJob.Status.COMPLETE, people["editor"], 1)
    assert page.context["progress"].rated == 9
    assert not Rating.objects.filter(rater=judge.rater).exists()
    again = client.post(at("judge_model_start", case, judge.pk), {"budget": "1"}, follow=True)
    assert "No document is left to send" in again.content.decode()
    assert JudgeJob.objects.count() == 1

    page = client.post(at("judge_model_count", case, judge.pk), {"do": "count"}, follow=True)
    assert 'data-counting="8"' in page.content.decode()
    assert Rating.objects.filter(rater=judge.rater, value=2).count() == 8
    client.post(at("judge_model_count", case, judge.pk), {"do": "withdraw"})
    assert not Rating.objects.filter(rater=judge.rater).exists()


def test_budget_stops_the_job_and_says_so(sign_in, server, case, people):
    judge = make_judge(server, people["editor"], output_price=Decimal(1000))  # 0.1 at most for each
    page = sign_in("editor").post(at("judge_model_start", case, judge.pk), {"budget": "0.11"}, follow=True)
    job = JudgeJob.objects.get()
    assert job.status == JudgeJob.Status.STOPPED
    assert job.spent <= Decimal("0.11")
    assert "does not cover another document" in page.content.decode()


def test_failed_documents_are_listed_and_repeated(sign_in, server, case, people):
    judge = make_judge(server, people["editor"])
    server.variant = "prose"
    client = sign_in("editor")
    page = client.post(at("judge_model_start", case, judge.pk), {"budget": "1"}, follow=True)
    assert page.context["counts"].unreadable == 9
    listed = client.get(at("judge_model_answers", case, judge.pk), {"state": "unreadable"})
    assert len(listed.context["rows"]) == 9
    assert "contains no JSON object with a grade" in listed.content.decode()
    assert "I would give it a 2, or perhaps a 3." in listed.content.decode()  # the answer as it came
    server.variant = ""
    page = client.post(at("judge_model_start", case, judge.pk), {"budget": "1", "repeat_failed": "on"}, follow=True)
    assert (page.context["counts"].rated, page.context["counts"].unreadable) == (9, 0)


def test_active_job_is_shown_to_all_and_stopped_by_editors(sign_in, server, case, people):
    judge = make_judge(server, people["admin"])
    job = jobs.start(judge=judge, book=case.book, by=people["admin"], is_background=True)
    url = at("judge_model", case, judge.pk)
    page = sign_in("viewer").get(url)
    assert (page.context["job"].is_active, "form" in page.context) == (True, False)
    polled = sign_in("editor").get(url, headers={"HX-Request": "true"})
    assert re.search(r'data-job="waiting"\s+hx-get', polled.content.decode())
    sign_in("editor").post(at("judge_model_stop", case, judge.pk))
    job.refresh_from_db()
    assert (job.status, job.reason) == (JudgeJob.Status.STOPPED, "It was stopped.")
    assert "HX-Refresh" in sign_in("editor").get(url, headers={"HX-Request": "true"}).headers
    assert server.requests == []


def test_key_of_another_owner_is_not_spent(sign_in, server, case, people, team):
    judge = make_judge(server, people["admin"])
    client = sign_in("editor")
    assert client.get(at("judge_model", case, judge.pk)).status_code == 404
    assert client.post(at("judge_model_start", case, judge.pk), {"budget": "1"}).status_code == 404
    judge.teams.add(team)
    assert client.post(at("judge_model_key", case, judge.pk), {"key": "mine"}).status_code == 403
    assert client.post(at("judge_model_start", case, judge.pk), {"budget": "1"}).status_code == 302
    judge.teams.clear()
    page = client.get(at("judge_model", case, judge.pk))  # it has answered for a book of the editor
    assert (page.status_code, "form" in page.context) == (200, False)
    assert server.url not in page.content.decode()


def test_owner_replaces_the_key_and_archives(sign_in, server, case, people):
    judge = make_judge(server, people["editor"])
    client = sign_in("editor")
    client.post(at("judge_model_key", case, judge.pk), {"key": "sk-another"})
    judge = JudgeModel.objects.get()
    assert judge.secrets == {"key": "sk-another"}
    client.post(at("judge_model_archive", case, judge.pk))
    judge.refresh_from_db()
    assert judge.archived_at is not None
    assert client.post(at("judge_model_start", case, judge.pk), {"budget": "1"}).status_code == 404


def test_calibration_has_the_corrected_score_of_the_service(sign_in, server, case, people):
    judge = make_judge(server, people["editor"])
    jobs.run(jobs.start(judge=judge, book=case.book, by=people["editor"]))
    client, url = sign_in("editor"), at("judge_model_calibration", case, judge.pk)
    assert client.get(url).context["sample"] is None
    refused = client.post(at("judge_model_sample", case, judge.pk), {"size": "100"}, follow=True)
    assert "has 3 queries to judge" in refused.content.decode()
    client.post(at("judge_model_sample", case, judge.pk), {"size": "2"})
    sample = CalibrationSample.objects.get()
    target = client.get(url).context["form"].fields["by"].choices[0][0]
    page = client.get(url, {"by": target})
    assert "People have not rated all results of 2 of 2 sampled queries" in page.context["summary"]
    assert page.context["reliability"].startswith("It is not known whether Mini can be relied on, because")
    named = {text for text, _ in page.context["open_by_people"]}
    assert named == set(case.book.queries.filter(pk__in=sample.query_ids).values_list("text", flat=True))
    assert all(client.get(address).status_code == 200 for _, address in page.context["open_by_people"])
    assert client.get(url).context["reliability"] == page.context["reliability"]  # without being asked for

    grades = [{"a": 3, "b": 1, "c": 0}, {"a": 2, "b": 3, "c": 0}]
    texts = dict(case.book.queries.values_list("pk", "text"))
    rate_all(case, {texts[pk]: row for pk, row in zip(sample.query_ids, grades, strict=True)}, people["rater"])
    page = client.get(url, {"by": target})
    result = page.context["result"]
    assert result.corrected is not None
    assert f'data-corrected="{result.corrected.value}"' in page.content.decode()
    assert "Corrected by the 2 queries" in page.context["summary"]
    assert "do not rely on the interval" in page.context["summary"]
    assert "for the 3 queries of the case themselves it is cautious" in page.context["summary"]
    assert (len(page.context["scored"]), result.agreement.items) == (2, 6)
    assert page.context["open_by_people"] == []
    differences = [abs(row.difference) for _, _, row in page.context["scored"]]
    assert differences == sorted(differences, reverse=True)
    assert client.get(url, {"by": "1-999"}).status_code == 422


@pytest.mark.parametrize(
    ("amount", "text"),
    [("0", "0.00"), ("2.5", "2.50"), ("1234.5", "1,234.50"), ("0.00321", "0.003"), ("0.00000004", "0.000000")],
)
def test_write_amount(amount, text):
    assert write_amount(Decimal(amount)) == text


def test_editor_lets_new_results_be_judged_automatically(sign_in, server, case, people):
    judge = make_judge(server, people["editor"])
    client = sign_in("editor")
    page = client.get(at("judge_model", case, judge.pk)).content.decode()
    assert 'id="automatic-form"' in page
    assert 'id="automatic-note"' not in page
    change = at("judge_model_automatic", case, judge.pk)
    assert client.post(change, {"is_on": "on"}).status_code == 422  # the judge model has a price
    assert client.post(change, {"is_on": "on", "budget": "1"}).status_code == 302
    start_automatic(case.book)
    page = client.get(at("judge_model", case, judge.pk)).content.decode()
    assert 'id="automatic-note"' in page
    client.logout()
    page = sign_in("viewer").get(at("judge_model", case, judge.pk)).content.decode()
    assert 'id="automatic-form"' not in page


def test_pages_warn_if_the_model_ranks_what_it_judges(sign_in, server, case, people):
    judge = make_judge(server, people["editor"])
    client = sign_in("editor")
    addresses = [at(name, case, judge.pk) for name in ("judge_model", "judge_model_calibration")]
    assert all('data-notice="same-model"' not in client.get(address).content.decode() for address in addresses)
    run = case.runs.get()
    run.config["template"] = '{"rerank": {"model": "mini-1"}}'
    run.save(update_fields=["config"])
    pages = [client.get(address).content.decode() for address in addresses]
    assert all('data-notice="same-model"' in page and case.name in page for page in pages)


def test_answers_are_listed_beside_the_grades_of_people_the_largest_difference_first(sign_in, server, case, people):
    judge = make_judge(server, people["editor"])
    jobs.run(jobs.start(judge=judge, book=case.book, by=people["editor"]))
    rate_all(case, {"query 2": {"a": 0, "b": 2}}, people["rater"])
    client, url = sign_in("editor"), at("judge_model_answers", case, judge.pk)
    page = client.get(url)
    shown = [(row.document.title, row.people, row.difference) for row in page.context["rows"]]
    assert shown[:2] == [("a", 0, 2), ("a", 3, 1)]
    assert len(shown) == 9
    assert page.context["states"] == [("differs", "Differs from people", 2), ("rated", "Rated", 9)]
    assert page.content.decode().count("Invented by fake_judge.") == 9  # the reason
    assert [row.difference for row in client.get(url, {"state": "differs"}).context["rows"]] == [2, 1]
    assert len(client.get(url, {"text": "query 2"}).context["rows"]) == 3
    assert client.get(url, {"text": "nothing"}).status_code == 200
    for name in ("rater", "viewer"):  # it would lead them
        assert sign_in(name).get(url).status_code == 403


def test_a_try_shows_five_answers_and_stores_no_rating(sign_in, server, case, people):
    judge = make_judge(server, people["editor"])
    client, url = sign_in("editor"), at("judge_model", case, judge.pk)
    assert "5 requests, 0.0" in client.get(url).content.decode()
    page = client.post(at("judge_model_trial", case, judge.pk), follow=True)
    first = {(row.query_id, row.doc_id) for row in page.context["rows"]}
    assert (len(first), len(server.requests)) == (5, 5)
    assert page.context["rows"][0].people == 3  # a document that people have rated
    assert "Invented by fake_judge." in page.content.decode()
    assert not Rating.objects.filter(rater=judge.rater).exists()
    assert page.context["estimate"].documents == 4  # what was answered is not paid for twice
    client.post(at("judge_model_instructions", case, judge.pk), {"instructions": "Grades:\n{scale}"})
    page = client.post(at("judge_model_trial", case, judge.pk), follow=True)
    assert {(row.query_id, row.doc_id) for row in page.context["rows"]} == first  # the same ones can be compared
    assert server.requests[-1]["messages"][0]["content"].startswith("Grades:\n- 0")


def test_instructions_are_edited_checked_and_restored_and_every_job_keeps_its_own(sign_in, server, case, people):
    judge = make_judge(server, people["editor"])
    jobs.run(jobs.start(judge=judge, book=case.book, by=people["editor"]))
    client, url = sign_in("editor"), at("judge_model_instructions", case, judge.pk)
    refused = client.post(url, {"instructions": "Grades: {scala}"})
    assert (refused.status_code, "no placeholder {scala}" in refused.content.decode()) == (422, True)
    page = client.post(url, {"instructions": "Be strict.\n{scale}"}, follow=True)
    assert page.context["former"] == 9
    assert page.context["prompt"].instructions.startswith("Be strict.\n- 0")
    assert '"title": "a"' in page.context["prompt"].data
    page = client.get(
        at("judge_model", case, judge.pk), {"estimate": 1, "repeat_former": "on"}, headers={"HX-Request": "true"}
    )
    assert page.context["estimate"].documents == 9
    client.post(at("judge_model_start", case, judge.pk), {"budget": "1", "repeat_former": "on"})
    first, second = JudgeJob.objects.order_by("pk")
    assert (first.answers.count(), second.answers.count()) == (0, 9)
    assert first.instructions.startswith("You judge how relevant")
    assert second.instructions.startswith("Be strict.")
    client.post(url, {"do": "restore"})
    judge.refresh_from_db()
    assert judge.instructions == ""
    rows = client.get(at("judge_model_answers", case, judge.pk)).context["rows"]
    assert all(row.is_former for row in rows)


def test_progress_says_pace_and_time_left(sign_in, server, case, people):
    judge = make_judge(server, people["editor"])
    job = jobs.start(judge=judge, book=case.book, by=people["editor"], is_background=True)
    now = timezone.now()
    job.answers.filter(doc_id="a").update(state="rated", value=2, answered_at=now)
    JudgeJob.objects.update(created_at=now - timedelta(minutes=5))
    page = sign_in("viewer").get(at("judge_model", case, judge.pk))
    assert page.context["progress_text"] == "3 of 9 · 3 rated · 0.00 spent · 6 a minute · 60 s left"


@pytest.mark.parametrize("whose", ["owner", "stranger"])
def test_a_name_that_is_taken_does_not_say_whose_it_is(sign_in, people, server, whose):
    User.objects.filter(pk=people["stranger"].pk).update(can_create_endpoints=True)
    own = make_case(1, owner=people["stranger"])
    JudgeModel.objects.create(name="Secret Plan", owner=people[whose], rater=people["viewer"])
    response = sign_in("stranger").post(at("judge_model_new", own), fields(server, name="Secret Plan"))
    assert response.status_code == 422
    assert dict(response.context["form"].errors) == {"name": ["This name cannot be used. Choose another one."]}
