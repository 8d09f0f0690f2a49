"""The page of a case's schedule."""

import pytest
from django.urls import reverse

from relevancy.optional.schedules.models import Schedule, ScheduledCheck
from relevancy.optional.schedules.tests.factories import save_schedule
from tests.factories import make_attempt
from tests.views.workbench.example_cases import make_workbench_case

pytestmark = pytest.mark.django_db
FIELDS = {"cron": "0 2 * * *", "time_zone": "Europe/Berlin", "is_active": "on", "max_drop": "1.5"}


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team, 2, {"query 1": {"a": 3, "x": 0}})


def url_of(case, name="case_schedule"):
    return reverse(name, args=[case.pk])


def test_editor_saves_and_removes_a_schedule(sign_in, case, people):
    client = sign_in("editor")
    page = client.post(url_of(case, "case_schedule_save"), FIELDS, follow=True).content.decode()
    schedule = Schedule.objects.get()
    assert (schedule.case, schedule.author, schedule.max_drop) == (case, people["editor"], 1.5)
    assert "At 02:00 every day" in page and "runs are made in the name of Editor" in " ".join(page.split())
    page = client.post(url_of(case, "case_schedule_remove"), follow=True).content.decode()
    assert "The schedule is removed." in page
    assert not Schedule.objects.exists()


@pytest.mark.parametrize(
    ("days", "at", "cron"),
    [("*", "06:00", "0 6 * * *"), ("1-5", "18:30", "30 18 * * 1-5"), ("1", "00:05", "5 0 * * 1")],
)
def test_times_of_days_need_no_cron(sign_in, case, days, at, cron):
    client = sign_in("editor")
    form = client.get(url_of(case)).context["form"]
    assert (form["days"].value(), f"{form['at'].value():%H:%M}") == ("*", "06:00")
    client.post(url_of(case, "case_schedule_save"), {**FIELDS, "cron": "", "days": days, "at": at, "max_drop": ""})
    schedule = Schedule.objects.get()
    assert (schedule.cron, schedule.max_drop) == (cron, 0)
    form = client.get(url_of(case)).context["form"]
    assert (form["days"].value(), f"{form['at'].value():%H:%M}", form["max_drop"].value()) == (days, at, None)


def test_e_mail_is_offered_only_with_a_mail_server(sign_in, case, settings):
    client, url = sign_in("editor"), url_of(case)
    settings.MAIL_HOST = ""
    assert "recipients" not in client.get(url).context["form"].fields
    settings.MAIL_HOST = "mail.example.com"
    assert "recipients" in client.get(url).context["form"].fields


def test_switched_off_schedule_has_no_next_time(sign_in, case):
    client = sign_in("editor")
    page = client.post(url_of(case, "case_schedule_save"), {**FIELDS, "is_active": ""}, follow=True).content.decode()
    assert Schedule.objects.get().next_at is None
    assert "switched off" in page


def test_key_of_a_webhook_is_shown_once(sign_in, case):
    client = sign_in("admin")
    fields = {**FIELDS, "webhook_url": "http://127.0.0.1:9/hook"}
    page = client.post(url_of(case, "case_schedule_save"), fields, follow=True).content.decode()
    key = Schedule.objects.get().webhook_secret["key"]
    assert key in page
    assert key not in client.post(url_of(case, "case_schedule_save"), fields, follow=True).content.decode()


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("cron", "", "Enter the times"),
        ("cron", "* * * * *", "is due every minute. There have to be at least 10 minutes"),
        ("cron", "at night", "is not a time"),
        ("time_zone", "Mars", "not one of the available choices"),
        ("max_drop", "1000", "less than or equal to 100"),
        ("attempt", "999", "not one of the available choices"),
        ("webhook_url", "ftp://example.com", "ftp"),
    ],
)
def test_bad_input_is_refused_beside_its_field(sign_in, case, field, value, words):
    response = sign_in("admin").post(url_of(case, "case_schedule_save"), {**FIELDS, field: value})
    assert response.status_code == 422
    assert words in str(response.context["form"].errors[field])
    assert not Schedule.objects.exists()


def test_viewer_sees_checks_and_no_form(sign_in, case, people):
    attempt = case.attempts.first() or make_attempt(case)
    save_schedule(case, people["admin"], attempt=attempt)
    ScheduledCheck.objects.create(case=case, status="failed", message="The run was not started. <b>Why</b>")
    page = sign_in("viewer").get(url_of(case)).content.decode()
    assert "The run was not started. &lt;b&gt;Why&lt;/b&gt;" in page
    assert reverse("case_schedule_save", args=[case.pk]) not in page


def test_test_message(sign_in, case):
    client, url = sign_in("admin"), url_of(case, "case_schedule_test")
    assert client.post(url).status_code == 404  # there is no schedule
    client.post(url_of(case, "case_schedule_save"), FIELDS)
    assert "it tells nobody" in client.post(url, follow=True).content.decode()
    Schedule.objects.update(webhook_url="http://127.0.0.1:9/hook", webhook_secret={"key": "k"})
    page = client.post(url, follow=True).content.decode()
    assert "Send a test message" in page
    assert "Not delivered to http://127.0.0.1:9/hook" in page
