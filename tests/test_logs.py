"""The log: one line for each event, with the id of its request, and without queries, ratings and secrets."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpRequest
from django.test import Client
from django.urls import reverse

from relevancy import events, judging, logs, runs, tasks
from relevancy.accounts import api_tokens
from relevancy.models import ApiToken, Endpoint, Rating
from relevancy.views.home import pages as home_pages
from tests.factories import make_attempt, make_case, make_user, run_now

QUERY, DOCUMENT, GRADE = "zanzibar cushions", "doc-4711-x", "2"
PASSWORD, WRONG, KEY, HEADER = "correct-horse-51", "wrong-horse-52", "engine-key-53", "header-key-54"


class Log:
    """What was logged: its lines, as JSON or text."""

    def __init__(self, formatter: logging.Formatter) -> None:
        self.stream = io.StringIO()
        self.handler = logging.StreamHandler(self.stream)
        self.handler.setFormatter(formatter)

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    def of(self, logger: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["logger"] == f"relevancy.{logger}"]


def _listening(formatter: logging.Formatter) -> Iterator[Log]:
    log = Log(formatter)
    logging.getLogger().addHandler(log.handler)
    yield log
    logging.getLogger().removeHandler(log.handler)


@pytest.fixture
def json_log() -> Iterator[Log]:
    yield from _listening(logs.JSONFormatter())


@pytest.fixture
def text_log() -> Iterator[Log]:
    yield from _listening(logs.TextFormatter())


def record_of(message: str, *args: object, **fields: Any) -> logging.LogRecord:
    record = logging.LogRecord("relevancy.x", logging.INFO, __file__, 1, message, args, None)
    record.__dict__.update(fields)
    return record


def test_json_is_one_line_with_fields_and_traceback() -> None:
    try:
        raise ValueError("line 1\nline 2")
    except ValueError as error:
        record = record_of("two\nlines", fields={"view": "home"})
        record.exc_info = (ValueError, error, error.__traceback__)
    with logs.within_request("abc"):
        text = logs.JSONFormatter().format(record)
    line = json.loads(text)
    assert "\n" not in text
    assert (line["message"], line["view"], line["request_id"], line["level"]) == ("two\nlines", "home", "abc", "INFO")
    assert line["traceback"].endswith("ValueError: line 1\nline 2")


def test_text_is_one_line_however_many_a_message_has() -> None:
    with logs.within_request("abc"):
        assert (
            logs.TextFormatter()
            .format(record_of("forged\n2026-01-01 INFO %s", "x"))
            .endswith("INFO relevancy.x: forged 2026-01-01 INFO x [abc]")
        )
    assert logs.request_id() == ""


def test_a_request_inside_another_one_does_not_end_it() -> None:
    with logs.within_request() as outer:
        with logs.within_request() as inner:
            assert logs.request_id() == inner != outer
        assert logs.request_id() == outer


@pytest.mark.django_db
def test_every_answer_has_an_id_and_a_line(client: Client, json_log: Log) -> None:
    user = make_user("Ann")
    client.force_login(user)
    case = make_case(1, owner=user)
    response = client.get(reverse("case", args=[case.pk]) + "?q=zanzibar", headers={"x-request-id": "forged"})
    (line,) = json_log.of("requests")
    assert line["request_id"] == response.headers["X-Request-ID"] != "forged"
    assert (line["view"], line["method"], line["status"], line["user"]) == ("case", "GET", 200, user.pk)
    assert line["message"].startswith(f"GET case case_id={case.pk}: 200 in ")
    assert client.get(reverse("home")).headers["X-Request-ID"] != response.headers["X-Request-ID"]


@pytest.mark.django_db
def test_health_checks_are_not_logged(client: Client, json_log: Log) -> None:
    assert client.get(reverse("healthz")).status_code == 200
    assert json_log.lines == []


@pytest.mark.django_db
@pytest.mark.parametrize("status", [404, 500])
def test_a_page_about_an_error_shows_the_id_of_its_lines(
    client: Client, json_log: Log, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    client.raise_request_exception = False
    client.force_login(make_user("Ann"))
    if status == 404:
        response = client.get("/nothing/")
    else:
        monkeypatch.setattr(home_pages, "render", fail)
        response = client.get(reverse("home"))
        (django_line,) = [line for line in json_log.lines if line["logger"] == "django.request"]
        assert django_line["message"] == "Internal Server Error: GET home"
        assert django_line["traceback"].endswith("RuntimeError: a bug")
    reference = response.headers["X-Request-ID"]
    assert response.status_code == status
    assert f'data-reference="{reference}"' in response.content.decode()
    assert {line["request_id"] for line in json_log.lines} == {reference}


@pytest.mark.django_db
def test_a_form_with_a_wrong_token_shows_the_id(json_log: Log) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_user("Ann"))
    token = "invitation-token-55"
    response = client.post(reverse("invitation", args=[token]))
    assert response.status_code == 403
    assert f'data-reference="{response.headers["X-Request-ID"]}"' in response.content.decode()
    assert token not in json_log.text


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("script")
def test_tasks_carry_the_id_of_the_request_on(client: Client, json_log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run has several chunks, each of which enqueues the next one."""
    whole = runs.continue_run
    monkeypatch.setattr(runs, "continue_run", lambda pk, **options: whole(pk, limit=2, **options))
    user = make_user("Ann")
    client.force_login(user)
    attempt = make_attempt(make_case(3, owner=user))
    judging.judging_queue(attempt.case.book)
    body = {"parent": "1", "endpoint": attempt.endpoint_id, "template": '{"q": "#$query##"}', "depth": "10"}
    response = client.post(reverse("run", args=[attempt.case_id]), body)
    assert response.status_code == 302
    lines = json_log.of("tasks")
    assert [line["task"] for line in lines].count("run_chunk") == 2
    assert {"run_chunk", "build_judging_queue"} <= {line["task"] for line in lines}
    assert {line["request_id"] for line in lines} == {response.headers["X-Request-ID"]}
    assert all(line["outcome"] == "done" and line["seconds"] >= 0 for line in lines)


@pytest.mark.django_db
def test_a_task_that_fails_says_so_with_an_id_of_its_own(json_log: Log) -> None:
    tasks.prune_display_fields.enqueue(4711)
    (line,) = json_log.of("tasks")
    assert (line["task"], line["ids"], line["outcome"]) == ("prune_display_fields", [4711], "failed")
    assert len(line["request_id"]) == 12
    assert "DoesNotExist" in line["traceback"]
    assert [line["logger"] for line in json_log.lines] == ["relevancy.tasks"]  # and no second one by Django


@pytest.mark.django_db
def test_events_have_names_of_views_and_no_paths(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded: list[tuple[str, dict[str, str]]] = []
    monkeypatch.setattr(events, "_listeners", [lambda name, seconds, labels: recorded.append((name, dict(labels)))])
    client.get("/nothing/at/all/")
    client.generic("BREW", reverse("healthz"))
    assert recorded == [
        ("request", {"view": "", "method": "GET", "status": "404"}),
        ("request", {"view": "healthz", "method": "other", "status": "405"}),
    ]


def test_an_error_of_a_listener_changes_nothing(monkeypatch: pytest.MonkeyPatch, json_log: Log) -> None:
    def fail(*_: object) -> None:
        raise OSError("disk full")

    heard: list[str] = []
    monkeypatch.setattr(events, "_listeners", [fail, lambda name, *_: heard.append(name)])
    events.record("task", 1.0, task="x", outcome="done")
    assert heard == ["task"]
    assert "disk full" in json_log.lines[0]["traceback"]


def test_texts_in_addresses_are_not_described() -> None:
    request = HttpRequest()
    request.method = "GET"
    assert logs.describe_request(request) == "GET (no page)"


FORM = {
    "name": "films",
    "engine": "solr",
    "url": "http://127.0.0.1:1/solr/films",
    "parallel": "8",
    "per_minute": "0",
    "username": "u",
    "password": KEY,
    "headers": f"X-Key: {HEADER}",
}


@pytest.mark.django_db
@pytest.mark.usefixtures("script")
@pytest.mark.parametrize("formatter", ["json_log", "text_log"])
def test_no_query_no_rating_and_no_secret_is_logged(
    client: Client, request: pytest.FixtureRequest, formatter: str
) -> None:
    """Everything that users enter, with what goes wrong with it, at the level INFO."""
    client.raise_request_exception = False
    log: Log = request.getfixturevalue(formatter)
    assert client.post(reverse("login"), {"username": "ann@example.org", "password": WRONG}).status_code == 200
    user = make_user("Ann", superuser=True)
    user.set_password(PASSWORD)
    user.save()
    signed_in = client.post(reverse("login"), {"username": user.email, "password": PASSWORD})
    assert signed_in.status_code == 302
    case = make_case(1, owner=user)
    assert client.post(reverse("queries_add", args=[case.pk]), {"queries": QUERY}).status_code < 400
    case_query = case.case_queries.get(query__text=QUERY)
    attempt = make_attempt(case)
    run_now(attempt)
    rate = reverse("rate", args=[case.pk, case_query.pk])
    assert client.post(rate, {"doc_id": DOCUMENT, "value": GRADE}).status_code < 400
    client.post(rate, {"doc_id": f"{DOCUMENT}-2", "value": "77"})  # not on the scale
    assert Rating.objects.get(doc_id__startswith=DOCUMENT).value == float(GRADE)
    assert client.get(reverse("case", args=[case.pk]), {"q": QUERY}).status_code == 200
    assert client.post(reverse("endpoint_new"), FORM).status_code == 302
    endpoint = Endpoint.objects.get(name="films")
    assert endpoint.credentials["password"] == KEY
    assert client.post(reverse("endpoint_try", args=[endpoint.pk]), {"text": QUERY}).status_code == 200  # unreachable
    _, token = api_tokens.create(user=user, name="x", scope=ApiToken.Scope.WRITE, days=None)
    headers = {"authorization": f"Bearer {token}"}
    path = f"/api/v1/cases/{case.pk}/queries"
    assert client.post(path, {"text": f"{QUERY} 2"}, "application/json", headers=headers).status_code == 201
    assert client.post(path, {"txt": QUERY}, "application/json", headers=headers).status_code == 422
    client.get(f"/nothing/{token}/", headers=headers)
    secrets = [QUERY, QUERY.split()[0], DOCUMENT, PASSWORD, WRONG, KEY, HEADER, token, client.session.session_key]
    assert len(log.text.splitlines()) > 8
    assert [secret for secret in secrets if secret in log.text] == []
