"""What Prometheus reads, and who may."""

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from django.conf import settings as django_settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_tasks_db.models import DBTaskResult, get_date_max
from prometheus_client.parser import text_string_to_metric_families

from relevancy import engines, events, ratings, sandbox
from relevancy.accounts import api_tokens
from relevancy.endpoints import connection
from relevancy.engines.transport import client as http_client
from relevancy.models import ApiToken, CaseScore, RatingChange
from relevancy.optional.metrics import event_metrics
from tests.factories import make_attempt, make_case, make_endpoint, make_user, query_of, run_now

pytestmark = pytest.mark.django_db
TOKEN = "a-token-of-24-characters"
OWN = {"authorization": f"Bearer {TOKEN}"}
DASHBOARD = Path(django_settings.BASE_DIR) / "docs" / "grafana-dashboard.json"


@pytest.fixture
def counted(settings, tmp_path, monkeypatch):
    """A site whose settings have a token."""
    settings.METRICS_TOKEN, settings.METRICS_ADDRESSES, settings.METRICS_DIR = TOKEN, [], tmp_path / "metrics"
    monkeypatch.setattr(events, "_listeners", [event_metrics.count_event])
    yield
    event_metrics.process_files(tmp_path / "metrics").close()


def samples(text: str) -> dict[tuple[str, ...], float]:
    """The value of each sample by its name and the values of its labels."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scrape(client: Client, path: str = "/metrics", **headers: str) -> dict[tuple[str, ...], float]:
    response = client.get(path, headers=headers or OWN)
    assert response.status_code == 200, response.content
    return samples(response.content.decode())


@pytest.mark.parametrize(
    ("token", "addresses", "sent", "status"),
    [
        ("", [], TOKEN, 404),
        (TOKEN, [], TOKEN, 200),
        (TOKEN, [], "", 403),
        (TOKEN, [], f"{TOKEN}x", 403),
        ("", ["127.0.0.1"], "", 200),
        ("", ["127.0.0.0/8", "2001:db8::/32"], "", 200),
        ("", ["10.0.0.0/8"], "", 403),
        (TOKEN, ["10.0.0.0/8"], TOKEN, 200),
    ],
)
def test_metrics_are_for_a_token_or_an_address(client, settings, tmp_path, token, addresses, sent, status):
    settings.METRICS_TOKEN, settings.METRICS_ADDRESSES, settings.METRICS_DIR = token, addresses, tmp_path
    headers = {"authorization": f"Bearer {sent}"} if sent else {}
    assert client.get("/metrics", headers=headers).status_code == status


def test_a_session_is_not_enough(client, counted):
    client.force_login(make_user("Ann", superuser=True))
    assert client.get("/metrics").status_code == 403
    assert client.get("/metrics/cases").status_code == 401


def test_requests_are_counted_by_view_method_and_status(client, counted):
    case = make_case(1)
    client.force_login(case.owner)
    for _ in range(2):
        client.get(f"/cases/{case.pk}/?q=secret-query")
    client.get("/cases/999999/")
    client.get("/secret-path/")
    found = scrape(client)
    assert found["relevancy_requests_total", "GET", "200", "case"] == 2
    assert found["relevancy_requests_total", "GET", "404", "case"] == 1
    assert found["relevancy_requests_total", "GET", "404", ""] == 1
    assert found["relevancy_request_seconds_count", "case"] == 3
    assert "secret" not in str(found)


@pytest.mark.usefixtures("script")
def test_tasks_and_ratings_are_counted(client, counted):
    case = make_case(2)
    run_now(make_attempt(case))
    before = scrape(client)["relevancy_rating_changes_total",]
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=3, by=case.owner)
    client.force_login(case.owner)
    client.post(f"/cases/{case.pk}/queries/{case.case_queries.first().pk}/rate/", {"doc_id": "b", "value": "1"})
    found = scrape(client)
    assert found["relevancy_rating_changes_total",] == before + 2 == RatingChange.objects.latest("pk").pk
    assert found["relevancy_tasks_ended_total", "done", "rescore_book"] == 1
    assert found["relevancy_task_seconds_count", "rescore_book"] == 1


def test_requests_to_engines_are_counted_by_endpoint_and_outcome(client, counted, monkeypatch):
    endpoint = make_endpoint(make_user("Ann"), engine="solr", url="http://127.0.0.1:1/solr/films")
    answers = iter([200, 500, 404])

    def answer(self, *_):
        return http_client.Response(next(answers), {}, b"{}")

    with engines.connect(connection(endpoint)) as engine:
        with pytest.raises(engines.EndpointUnreachable):
            engine.version()
        monkeypatch.setattr(http_client.HttpClient, "_send_once", answer)
        monkeypatch.setattr(http_client, "delay_after_response", lambda *_: None)
        for _ in range(3):
            engine._http.fetch("GET", "/")
    found = scrape(client)
    outcomes = {key[2]: value for key, value in found.items() if key[0] == "relevancy_engine_requests_total"}
    assert {key[1] for key in found if key[0] == "relevancy_engine_requests_total"} == {str(endpoint.pk)}
    assert outcomes["unreachable"] >= 1
    assert {name: outcomes[name] for name in ("ok", "5xx", "4xx")} == {"ok": 1, "5xx": 1, "4xx": 1}


def test_scripts_that_are_stopped_are_counted(client, counted):
    limits = sandbox.Limits(seconds_per_query=0.2)
    (outcome,) = sandbox.score(
        "while (true) {}", [sandbox.ScriptQuery("x", [], [], {})], scale=[0, 1], depth=10, limits=limits
    )
    assert outcome.stopped == "time"
    assert scrape(client)["relevancy_sandbox_stops_total", "time"] == 1


@pytest.fixture
def database_queue(settings):
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": ["default"]}}


def make_task(status: str, *, age: float = 0.0, **fields):
    task = DBTaskResult.objects.create(
        task_path="relevancy.tasks.run_chunk",
        args_kwargs={"args": [1], "kwargs": {}},
        backend_name="default",
        run_after=fields.pop("run_after", get_date_max()),
        status=status,
        **fields,
    )
    DBTaskResult.objects.filter(pk=task.pk).update(enqueued_at=timezone.now() - timedelta(seconds=age))


def test_the_queue_is_read_from_the_database(client, counted, database_queue):
    assert scrape(client)["relevancy_oldest_waiting_task_seconds",] == 0
    make_task("READY", age=100)
    make_task("READY", age=900, run_after=timezone.now() + timedelta(hours=1))  # it is not its turn
    make_task("RUNNING")
    make_task("FAILED")
    make_task("SUCCESSFUL")
    found = scrape(client)
    assert [found["relevancy_tasks", status] for status in ("waiting", "running", "failed")] == [2, 1, 1]
    assert found["relevancy_oldest_waiting_task_seconds",] == pytest.approx(100, abs=20)


def test_without_the_database_as_queue_there_are_no_tasks(client, counted):
    assert not [key for key in scrape(client) if key[0] in {"relevancy_tasks", "relevancy_oldest_waiting_task_seconds"}]


@pytest.mark.usefixtures("script")
def test_runs_have_every_status(client, counted):
    run_now(make_attempt(make_case(2)))
    found = scrape(client)
    assert {key[1]: value for key, value in found.items() if key[0] == "relevancy_runs"} == {
        "complete": 1,
        **dict.fromkeys(["waiting", "running", "incomplete", "cancelled", "failed"], 0),
    }
    assert found["relevancy_run_queries_left",] == 0


def test_a_scrape_costs_few_statements(client, counted, database_queue, django_assert_max_num_queries):
    client.get("/metrics", headers=OWN)
    with django_assert_max_num_queries(8):
        client.get("/metrics", headers=OWN)


def test_openmetrics_is_returned_to_those_who_accept_it(client, counted):
    accepted = {"accept": "application/openmetrics-text; version=1.0.0"}
    response = client.get("/metrics", headers={**OWN, **accepted})
    assert response.headers["Content-Type"].startswith("application/openmetrics-text")
    assert response.content.endswith(b"# EOF\n")


# --- cases ---


def token_of(user) -> dict[str, str]:
    _, text = api_tokens.create(user=user, name="grafana", scope=ApiToken.Scope.READ, days=None)
    return {"authorization": f"Bearer {text}"}


@pytest.mark.usefixtures("script")
def test_cases_are_those_of_the_token(client, counted):
    ann, ben = make_user("Ann"), make_user("Ben")
    case = make_case(2, {"query 1": {"a": 3}}, owner=ann)
    run = run_now(make_attempt(case))
    other = make_case(3, owner=ben)
    found = scrape(client, "/metrics/cases", **token_of(ann))
    scorer = case.scorers.get().name
    score = CaseScore.objects.get(run=run)
    labels = (str(case.pk), case.name, scorer)
    assert {key[1] for key in found} == {str(case.pk)}
    assert found["relevancy_case_score", *labels] == pytest.approx(score.score)
    assert found["relevancy_case_score_low", *labels] == pytest.approx(score.low)
    assert found["relevancy_case_score_high", *labels] == pytest.approx(score.high)
    assert found["relevancy_case_coverage_ratio", *labels] == score.scored / 2
    assert found["relevancy_case_unrated_results", *labels] == score.unrated
    assert found["relevancy_case_queries", *labels] == 2
    assert found["relevancy_case_last_run_timestamp_seconds", *labels] == pytest.approx(run.finished_at.timestamp())
    assert {key[:2] for key in scrape(client, "/metrics/cases", **token_of(ben))} == {
        ("relevancy_case_queries", str(other.pk))  # it has no run
    }


def test_a_name_with_quotes_and_line_breaks_is_escaped(client, counted):
    case = make_case(1)
    case.name = 'a "b" \\ c'
    case.save()
    assert [key[2] for key in scrape(client, "/metrics/cases", **token_of(case.owner))] == [case.name]


@pytest.mark.parametrize("sent", ["", "Bearer x", "Bearer rlv_aaaaaaaa_" + "x" * 43])
def test_cases_need_a_valid_token(client, counted, sent):
    response = client.get("/metrics/cases", headers={"authorization": sent} if sent else {})
    assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, "Bearer")


def test_statements_do_not_grow_with_cases(client, counted, django_assert_num_queries):
    ann = make_user("Ann")
    headers = token_of(ann)
    make_case(1, owner=ann)
    scrape(client, "/metrics/cases", **headers)
    for number in (1, 4):
        for _ in range(number):
            make_case(1, owner=ann)
        with django_assert_num_queries(4):
            scrape(client, "/metrics/cases", **headers)


# --- dashboard and guide ---


def existing_names(client) -> set[str]:
    """The names of all metrics that there can be."""
    for name, labels in {
        "request": {"view": "home", "method": "GET", "status": "200"},
        "task": {"task": "run_chunk", "outcome": "done"},
        "engine_request": {"endpoint": "1", "outcome": "ok"},
        "sandbox_stop": {"reason": "time"},
    }.items():
        events.record(name, 1.0, **labels)
    case = make_case(1, {"query 1": {"a": 3}})
    run_now(make_attempt(case))
    site, of_cases = scrape(client), scrape(client, "/metrics/cases", **token_of(case.owner))
    return {key[0] for key in (*site, *of_cases)}


@pytest.mark.usefixtures("script", "database_queue")
def test_the_dashboard_names_metrics_that_exist(client, counted, settings):
    names = existing_names(client)
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    expressions = [target["expr"] for panel in panels for target in panel["targets"]]
    used = {name for expression in expressions for name in re.findall(r"\brelevancy_\w+", expression)}
    assert len(expressions) > 15
    assert used - names == set()
    # Each metric is on the dashboard; of a histogram, one of its series.
    parts = {re.sub(r"_(bucket|sum|count)$", "", name) for name in used}
    assert {re.sub(r"_(bucket|sum|count|created)$", "", name) for name in names} - parts == set()
    assert len({panel["id"] for panel in panels}) == len(panels)


@pytest.mark.usefixtures("script", "database_queue")
def test_the_guide_lists_the_metrics(client, counted):
    guide = (Path(event_metrics.__file__).parent / "docs" / "metrics.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`(relevancy_\w+)(?:\{[^}]*\})?`", guide))
    assert listed == {re.sub(r"_(bucket|sum|count)$", "", name) for name in existing_names(client)}


def test_the_configuration_of_the_guide_reads_the_metrics(client, counted):
    """Prometheus reads `/metrics` and sends a bearer token, unless its configuration says otherwise."""
    guide = (Path(event_metrics.__file__).parent / "docs" / "metrics.md").read_text(encoding="utf-8")
    (job,) = yaml.safe_load(re.search(r"```yaml\n(.*?)```", guide, re.DOTALL)[1])["scrape_configs"]
    assert job.keys() == {"job_name", "authorization", "static_configs", "scheme"}
    assert job["authorization"].keys() == {"credentials_file"}
    assert reverse("metrics") == "/metrics"
    assert scrape(client, authorization=f"Bearer {TOKEN}")
