"""The history page of a case: chart, table, CSV, and the annotations that are edited from it."""

import csv
import json

import pytest

from relevancy import cases, tasks
from relevancy.models import Annotation, ScorerVersion
from tests.factories import make_attempt, make_case, rate_all, run_now, script_of
from tests.views.workbench.example_cases import HTMX, at, attributes, by_id, elements, tree, words

RATINGS = {"query 1": {"a": 3}, "query 2": {"a": 3}}


@pytest.fixture
def case(people, team, script):
    case = make_case(2, RATINGS, owner=people["admin"], measures=("P@1", "RR@10"))
    cases.share(case=case, team=team)
    return case


@pytest.fixture
def runs(case):
    """Six runs of an attempt, and six of another one that is better."""
    attempt = make_attempt(case, name="first <b>")
    script_of(attempt).default = ("x", "a")
    result = [run_now(attempt) for _ in range(6)]
    better = make_attempt(case, attempt.endpoint, parent=attempt, depth=7)
    script_of(attempt).default = ("a", "x")
    return [*result, *(run_now(better) for _ in range(6))]


def figure(response):
    return json.loads(attributes(by_id(response, "chart-history"))["data-chart"])


def rows(response):
    body = elements(by_id(response, "runs"), _name="tbody")[0]
    return {attributes(row)["data-run"]: row for row in elements(body, _name="tr")}


def test_a_case_without_runs_says_what_to_do(sign_in, case):
    response = sign_in("viewer").get(at(case, "history"))
    assert "has not been run yet" in response.content.decode()
    assert elements(tree(response), id="history-runs") == []


def test_chart_and_table(sign_in, case, runs):
    client = sign_in("viewer")
    client.get(at(case, "history"))  # the differences under the second scorer are computed
    response = client.get(at(case, "history"))
    names = [trace.get("name") for trace in figure(response)["data"]]
    assert {"P@1", "RR@10"} <= set(names)
    dots = [trace for trace in figure(response)["data"] if trace["mode"] == "markers"]
    assert [(len(trace["x"]), trace["meta"]["color"]) for trace in dots] == [(6, "--series-1"), (6, "--series-2")]
    assert "&lt;b&gt;" in dots[0]["hovertext"][0]
    assert list(rows(response)) == [str(number) for number in range(12, 0, -1)]
    seventh = rows(response)["7"]
    assert "+100.0" in words(seventh)
    assert "+50.0" in words(seventh)
    links = [attributes(link)["href"] for link in elements(seventh, _name="a")]
    assert any("compare/?run=6&run=7&scorer=" in link for link in links)
    assert elements(tree(response), **{"data-rescoring": ""}) == []


def test_one_run(sign_in, case):
    run_now(make_attempt(case))
    response = sign_in("viewer").get(at(case, "history"))
    assert list(rows(response)) == ["1"]


def test_chosen_scorers(sign_in, case, runs):
    second = ScorerVersion.objects.used_by(case)[1]
    response = sign_in("viewer").get(at(case, "history", scorer=second.scorer_id))
    heads = [words(head) for head in elements(by_id(response, "runs"), _name="th")]
    assert "RR@10" in heads
    assert "P@1" not in heads


def test_what_is_being_rescored_is_no_number_and_the_page_polls(sign_in, case, runs, monkeypatch):
    client = sign_in("viewer")
    client.get(at(case, "history"))
    queued = []
    monkeypatch.setattr(tasks, "send", lambda task, pk, **_: queued.append((task.name, pk)))
    rate_all(case, {"query 1": {"x": 3}}, case.owner)
    response = client.get(at(case, "history"))
    assert queued == [("rescore_history", case.pk)]
    assert "12 of 12 runs are being rescored" in words(by_id(response, "history-state"))
    for row in rows(response).values():
        assert elements(row, cls="score") == []
        assert elements(row, cls="delta") == []
    assert all(trace["mode"] != "markers" for trace in figure(response)["data"])
    state = attributes(by_id(response, "history-state"))
    polled = client.get(state["hx-get"], headers=HTMX)
    assert "hx-get" in attributes(by_id(polled, "history-state"))
    assert "HX-Trigger-After-Settle" not in polled
    assert len(queued) == 1
    monkeypatch.undo()
    tasks.rescore_history.func(case.pk)
    polled = client.get(state["hx-get"], headers=HTMX)
    assert polled["HX-Trigger-After-Settle"] == "history-ready"
    part = client.get(at(case, "history"), headers={**HTMX, "HX-Target": "history-runs"})
    assert "<html" not in part.content.decode()
    assert "50.0" in words(rows(part)["1"])


def test_csv(sign_in, case, runs):
    client = sign_in("viewer")
    client.get(at(case, "history"))
    cases.annotations.add(case=case, run=runs[6], text="=New index", by=case.owner)
    response = client.get(at(case, "history_csv"))
    content = b"".join(response.streaming_content).decode()
    lines = list(csv.DictReader(content.splitlines()))
    assert [line["run"] for line in lines] == [str(number) for number in range(12, 0, -1)]
    seventh = lines[5]
    assert seventh["annotations"] == "'=New index"
    assert (seventh["P@1 score"], seventh["P@1 difference"], seventh["P@1 compared_with"]) == ("100.0", "100.0", "6")
    assert {line["RR@10 state"] for line in lines} == {"current"}
    rate_all(case, {"query 1": {"x": 3}}, case.owner)
    monkey = client.get(at(case, "history_csv"))
    rescored = list(csv.DictReader(b"".join(monkey.streaming_content).decode().splitlines()))
    assert {line["P@1 state"] for line in rescored} <= {"current", "rescoring"}
    assert all(not line["P@1 score"] for line in rescored if line["P@1 state"] == "rescoring")


def test_annotations_lead_back_to_the_history(sign_in, case, runs):
    client = sign_in("editor")
    page = client.get(at(case, "history"))
    (link,) = [
        attributes(link)
        for link in elements(rows(page)["7"], _name="a")
        if attributes(link).get("aria-label") == "Annotate run 7"
    ]
    dialog = client.get(link["href"], headers=HTMX)
    assert [attributes(field)["value"] for field in elements(tree(dialog), name="back")] == ["history"]
    home = at(case, "history")
    added = client.post(at(case, "annotations"), {"at": "7", "text": "New index", "back": "history"}, headers=HTMX)
    assert added["HX-Redirect"] == home
    note = Annotation.objects.get()
    response = client.get(home)
    assert "A New index" in words(rows(response)["7"])
    assert [note["text"] for note in figure(response)["layout"]["annotations"]] == ["A"]
    changed = {"text": "Newer index", "back": "history"}
    assert client.post(at(case, "annotation_change", note.pk), changed, headers=HTMX)["HX-Redirect"] == home
    removed = client.post(at(case, "annotation_remove", note.pk), {"back": "history"})
    assert removed["Location"] == home
    undo = at(case, "annotation_restore", note.pk, back="history")
    assert undo in client.get(home).content.decode()
    assert client.post(undo)["Location"] == home
    assert "A Newer index" in words(rows(client.get(home))["7"])
    assert "Annotate run" not in sign_in("viewer").get(home).content.decode()


def test_constant_number_of_statements(sign_in, case, runs, django_assert_max_num_queries):
    client = sign_in("viewer")
    client.get(at(case, "history"))
    with django_assert_max_num_queries(13):
        client.get(at(case, "history"))


def test_the_workbench_leads_to_the_history(sign_in, case):
    page = sign_in("viewer").get(at(case, "case"))
    assert attributes(by_id(page, "history-tab"))["href"] == at(case, "history")


def test_a_score_that_ratings_have_changed_says_what_it_was_and_which_ratings(sign_in, people, case, runs):
    rate_all(case, {"query 1": {"x": 3}, "query 2": {"x": 3}}, people["admin"])
    client = sign_in("editor")
    for _ in range(2):  # a worker has rescored all runs then
        response = client.get(at(case, "history"))
    first = rows(response)["1"]
    url, _ = [attributes(link)["href"] for link in elements(first, _name="a") if "2 ratings since" in words(link)]
    assert "100.0 was 0.0 at" in words(first)
    assert "was" not in words(rows(response)["7"])  # P@1 was 100 and is 100
    (trace,) = [trace for trace in figure(response)["data"] if trace.get("name") == "was"]
    assert trace["y"][:2] == [0, 100]
    assert "Run 1 was 0.0 at" in trace["hovertext"][0]

    response = client.get(url)
    assert [attributes(row)["data-change"] for row in elements(by_id(response, "changed-ratings"), _name="tr")[1:]]
    known = elements(by_id(response, "known-scores"), _name="tr")[1:]
    assert [words(row).split()[0] for row in known] == ["0.0", "100.0"]

    raters = sign_in("rater").get(at(case, "history"))
    assert "2 ratings since" in words(rows(raters)["1"])
    assert url not in raters.content.decode()
    assert sign_in("rater").get(url).status_code == 403


def test_the_head_of_the_case_says_what_its_score_was(sign_in, people, case, runs):
    rate_all(case, {"query 1": {"x": 3}, "query 2": {"x": 3}}, people["admin"])
    client = sign_in("editor")
    client.get(at(case, "history"))
    response = client.get(at(case, "case") + "?run=3")
    assert "was 0.0 at" in words(by_id(response, "former-score"))
    assert len(elements(by_id(response, "case-score"), cls="former")) == 6
    assert elements(tree(client.get(at(case, "case") + "?run=8")), id="former-score") == []
