"""Schedules: who may make them, what they start, what their runs show, and who is told."""

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from django.core import mail
from django.core.exceptions import ValidationError
from django.utils import timezone

from relevancy import cases, engines, runs, tasks
from relevancy.models import Activity, Attempt, Case, Role, Run, User
from relevancy.optional.schedules import checks, notifications, schedules, starting
from relevancy.optional.schedules.models import Notification, Schedule, ScheduledCheck
from relevancy.optional.schedules.notifications import payload
from relevancy.optional.schedules.tests.factories import save_schedule
from tests.factories import make_attempt, make_case, make_team, make_user, script_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
GOOD, BAD = ["a", "b", "c"], ["x", "y", "z"]
QUERIES = 12


@pytest.fixture
def attempt() -> Attempt:
    case = make_case(QUERIES, {f"query {number}": {"a": 3, "x": 0} for number in range(1, QUERIES + 1)})
    return make_attempt(case)


@pytest.fixture
def received() -> Iterator[list[tuple[str, bytes]]]:
    """What a webhook on loopback was sent: signatures and bodies. It answers 503 to the first request."""
    messages: list[tuple[str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            messages.append((self.headers["x-relevancy-signature"], body))
            self.send_response(400 if len(messages) == 1 else 200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    messages.append((f"http://127.0.0.1:{server.server_port}/hook", b""))
    yield messages
    server.shutdown()
    thread.join()
    server.server_close()


def make_due(case: Case) -> None:
    assert Schedule.objects.filter(case=case).update(next_at=timezone.now() - timedelta(days=3))


def run_due(case: Case) -> ScheduledCheck:
    """What the worker does when the schedule of a case is due; the newest check."""
    make_due(case)
    tasks.sweep()
    return case.scheduled_checks.first()


def test_due_schedule_starts_one_run_however_many_times_were_missed(attempt: Attempt) -> None:
    save_schedule(attempt.case)
    assert starting.start_due() == []
    make_due(attempt.case)
    [run] = starting.start_due()
    assert (run.attempt, run.requested_by, run.status) == (attempt, attempt.case.owner, "waiting")
    assert starting.start_due() == []
    assert Schedule.objects.get().next_at > timezone.now()


def test_the_first_run_passes_and_the_next_is_compared_with_it(attempt: Attempt) -> None:
    save_schedule(attempt.case)
    script_of(attempt).default = GOOD
    first = run_due(attempt.case)
    assert (first.status, first.runs.get().baseline) == ("passed", None)
    assert first.message == "nDCG@10 100.0. It is the first run to compare with."
    second = run_due(attempt.case)
    assert (second.status, second.runs.get().baseline) == ("passed", first.runs.get().run)
    assert "0.0 points" in second.message and "Run 1 on the same 12 queries" in second.message
    assert not Notification.objects.exists()


def test_a_drop_is_reported_to_those_who_can_see_the_case(
    attempt: Attempt, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.core.mail.message.DNS_NAME", "localhost")  # tests resolve no names
    settings.MAIL_HOST = "mail.example.com"
    team = make_team("Search", Ada=Role.VIEWER, Ben=Role.VIEWER)
    cases.share(case=attempt.case, team=team)
    ada, ben = User.objects.get(name="Ada"), User.objects.get(name="Ben")
    save_schedule(attempt.case, recipients=[ada, ben])
    script_of(attempt).default = GOOD
    run_due(attempt.case)
    script_of(attempt).default = BAD
    team.memberships.filter(user=ben).delete()
    check = run_due(attempt.case)
    assert check.status == "dropped"
    assert "a drop of more than 0 points that is not noise" in check.message
    assert Activity.objects.get(verb=checks.DROPPED).details == {"reason": check.message[:200]}
    tasks.sweep()
    [sent] = mail.outbox
    assert (sent.to, sent.subject) == (["ada@example.com"], f"{attempt.case}: scheduled check dropped")
    assert check.message in sent.body
    errors = dict(check.notifications.values_list("recipient__name", "error"))
    assert errors == {"Ada": "", "Ben": "The recipient can no longer see the case."}


def test_a_drop_within_what_is_allowed_passes(attempt: Attempt) -> None:
    save_schedule(attempt.case, max_drop=100)
    script_of(attempt).default = GOOD
    run_due(attempt.case)
    script_of(attempt).default = BAD
    assert run_due(attempt.case).status == "passed"


def test_a_run_with_failed_searches_never_passes(attempt: Attempt) -> None:
    save_schedule(attempt.case)
    script_of(attempt).answers["query 3"] = engines.EngineError("The index is closed.")
    check = run_due(attempt.case)
    assert check.status == "failed"
    assert check.message.startswith("Run 1 is incomplete")


def test_a_run_that_cannot_be_started_is_a_failed_check(attempt: Attempt) -> None:
    editor = make_user("Editor")
    team = make_team("Search", Editor=Role.EDITOR)
    cases.share(case=attempt.case, team=team)
    save_schedule(attempt.case, by=editor)
    team.memberships.all().delete()
    check = run_due(attempt.case)
    assert (check.status, check.runs.get().run) == ("failed", None)
    assert "The run was not started. Editor is not an editor of" in check.message
    assert not Run.objects.exists()


def test_a_check_whose_worker_stopped_is_finished_later(attempt: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    save_schedule(attempt.case)
    with monkeypatch.context() as broken:
        broken.setattr(checks, "finish_run", lambda run_id: None)
        assert run_due(attempt.case).status == "waiting"
    tasks.sweep()
    assert ScheduledCheck.objects.get().status == "waiting"
    Run.objects.update(finished_at=timezone.now() - timedelta(minutes=2))
    tasks.sweep()
    assert ScheduledCheck.objects.get().status == "passed"


def test_webhook_is_signed_and_repeated_until_it_is_received(
    attempt: Attempt, received: list[Any], settings: Any
) -> None:
    settings.SITE_URL = "https://relevancy.example.com"
    url, _ = received.pop()
    schedule = save_schedule(attempt.case, webhook_url=url)
    script_of(attempt).default = GOOD
    run_due(attempt.case)
    script_of(attempt).default = BAD
    check = run_due(attempt.case)
    [message] = check.notifications.all()
    assert message.delivered_at is None and "400" in message.error
    assert message.next_at > timezone.now()
    check.notifications.update(next_at=timezone.now())
    assert notifications.send_due() == 1
    message.refresh_from_db()
    assert (message.attempts, message.error, message.next_at) == (2, "", None)
    signature, body = received[1]
    seconds = signature.removeprefix("t=").partition(",")[0]
    key = schedule.webhook_secret["key"].encode()
    assert signature == f"t={seconds},v1=" + hmac.new(key, f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    assert json.loads(body) == {
        "id": f"check-{check.pk}",
        "event": "check.dropped",
        "case": {
            "id": attempt.case_id,
            "name": attempt.case.name,
            "url": f"https://relevancy.example.com/cases/{attempt.case_id}/schedule/",
        },
        "run": check.runs.get().run_id,
        "baseline": check.runs.get().baseline_id,
        "message": check.message,
        "finished_at": check.finished_at.isoformat(),
    }


def test_webhook_is_not_tried_a_seventh_time(attempt: Attempt, caplog: pytest.LogCaptureFixture) -> None:
    save_schedule(attempt.case, webhook_url="http://127.0.0.1:9/hook")
    script_of(attempt).answers["query 3"] = engines.EngineError("The index is closed.")
    check = run_due(attempt.case)
    for _ in range(10):
        check.notifications.exclude(next_at=None).update(next_at=timezone.now())
        notifications.send_due()
    [message] = check.notifications.all()
    assert (message.attempts, message.next_at, message.delivered_at) == (6, None, None)
    assert "127.0.0.1:9" in message.error
    assert f"The message {message.pk} was not delivered (EndpointUnreachable)." in caplog.text
    assert "127.0.0.1:9" not in caplog.text  # the address of a webhook may be its secret


def test_removing_a_schedule_keeps_its_checks(attempt: Attempt) -> None:
    save_schedule(attempt.case)
    run_due(attempt.case)
    schedules.remove(scheduled=attempt.case)
    assert attempt.case.scheduled_checks.count() == 1


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"time_zone": "Mars/Olympus"}, "time_zone", "There is no time zone 'Mars/Olympus'."),
        ({"cron": "often"}, "cron", "“often” is not a time"),
        ({"max_drop": 101}, "max_drop", "100"),
        ({"webhook_url": "http://169.254.169.254/latest"}, "webhook_url", "169.254.169.254"),
    ],
)
def test_bad_values_change_nothing(attempt: Attempt, changes: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        save_schedule(attempt.case, **changes)
    assert words in caught.value.message_dict[field][0]
    assert not Schedule.objects.exists()


def test_only_those_who_may_create_endpoints_name_a_webhook(attempt: Attempt) -> None:
    owner = attempt.case.owner
    owner.can_create_endpoints = False
    owner.save()
    with pytest.raises(ValidationError, match="may create endpoints"):
        save_schedule(attempt.case, webhook_url="https://example.com/hook")


def test_strangers_are_not_recipients(attempt: Attempt) -> None:
    with pytest.raises(ValidationError, match=r"Not everyone can see the case: Eve\."):
        save_schedule(attempt.case, recipients=[make_user("Eve")])


def test_a_changed_webhook_gets_a_new_secret_and_an_unchanged_one_keeps_it(attempt: Attempt) -> None:
    first = save_schedule(attempt.case, webhook_url="http://127.0.0.1:9/a").webhook_secret
    assert save_schedule(attempt.case, webhook_url="http://127.0.0.1:9/a", max_drop=1).webhook_secret == first
    assert save_schedule(attempt.case, webhook_url="http://127.0.0.1:9/b").webhook_secret != first
    assert save_schedule(attempt.case).webhook_secret == {}


def test_the_newest_attempt_is_not_that_of_imported_rankings(attempt: Attempt) -> None:
    save_schedule(attempt.case)
    imported = runs.ImportedRankings(name="elsewhere", note="", fields="id:id", hits={})
    runs.import_rankings(case=attempt.case, rankings=[imported], by=attempt.case.owner)
    check = run_due(attempt.case)
    run = check.runs.get().run
    assert run is not None, check.message
    assert run.attempt == attempt
    save_schedule(attempt.case)  # can still be changed


def test_messages_have_no_link_if_the_address_of_the_site_is_not_known(attempt: Attempt, settings: Any) -> None:
    settings.SITE_URL = ""
    save_schedule(attempt.case, webhook_url="http://127.0.0.1:9/hook")
    script_of(attempt).default = GOOD
    run_due(attempt.case)
    script_of(attempt).default = BAD
    run_due(attempt.case)
    message = Notification.objects.get()
    assert payload(message)["case"] == {"id": attempt.case_id, "name": attempt.case.name}


def test_a_test_message_is_sent_at_once(
    attempt: Attempt, received: list[Any], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.core.mail.message.DNS_NAME", "localhost")
    settings.MAIL_HOST, settings.SITE_URL = "mail.example.com", "https://relevancy.example.com"
    url, _ = received.pop()
    owner = attempt.case.owner
    schedule = save_schedule(attempt.case, webhook_url=url, recipients=[owner])
    webhook, email = notifications.send_test_messages(schedule=schedule, by=owner)
    assert webhook.to == url and "400" in webhook.error  # as the first time it is asked
    assert (email.to, email.error) == (owner.email, "")
    assert [message.to for message in mail.outbox] == [[owner.email]]
    assert f"https://relevancy.example.com/cases/{attempt.case_id}/schedule/" in mail.outbox[0].body
    settings.MAIL_HOST = ""
    webhook, email = notifications.send_test_messages(schedule=schedule, by=owner)
    assert webhook.error == ""
    assert "RELEVANCY_MAIL_HOST" in email.error
    assert json.loads(received[1][1])["event"] == "test"
    assert received[1][0].startswith("t=")
    assert not Run.objects.exists() and not Notification.objects.exists()


def test_a_schedule_that_tells_nobody_has_no_test_message(attempt: Attempt) -> None:
    with pytest.raises(ValidationError, match="tells nobody"):
        notifications.send_test_messages(schedule=save_schedule(attempt.case), by=attempt.case.owner)
