"""The tune pane: attempts edited and run, previewed, stopped and completed."""

import json

import pytest
from django.contrib.messages import get_messages
from django.db import transaction
from django.utils import timezone

from relevancy import endpoints, engines, queries, runs
from relevancy.models import Attempt
from tests.factories import make_endpoint, run_now, script_of

from .example_cases import (
    HTMX,
    LIST,
    SCRIPT,
    at,
    attributes,
    by_id,
    case_query_of,
    elements,
    make_workbench_case,
    start,
    tree,
    words,
)

KNOBS = '{"query": "#$query##", "boost": ##title##, "tie": ##tie##}'


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team)


@pytest.fixture
def on_commit(django_capture_on_commit_callbacks):
    """What the request enqueues is done at once, as with a worker."""
    return lambda: django_capture_on_commit_callbacks(execute=True)


def pane_of(case, **changes):
    """What the pane sends, with these changes."""
    attempt = case.attempts.first()
    fields = {
        "parent": attempt.number,
        "template": attempt.template.replace("\n", "\r\n"),
        "endpoint": attempt.endpoint_id,
        "fields": attempt.fields,
        "depth": attempt.depth,
        "name": "",
        **{f"knob.{name}": value for name, value in attempt.knobs.items()},
        **({"escape": "1"} if attempt.escape else {}),
        **changes,
    }
    return {name: value for name, value in fields.items() if value is not None}


def test_run_unchanged_is_the_same_attempt(sign_in, case, on_commit):
    client = sign_in("editor")
    with on_commit():
        response = client.post(at(case, "run"), pane_of(case))
    assert response.headers["Location"] == at(case, "case")
    assert [(run.number, run.attempt.number, run.status) for run in case.runs.order_by("number")] == [
        (1, 1, "complete"),
        (2, 1, "complete"),
    ]
    with on_commit():
        assert client.post(at(case, "run"), pane_of(case), headers=HTMX).status_code == 200
    assert (case.runs.count(), case.attempts.count()) == (3, 1)
    assert case.runs.first().created_by.name == "Editor"


def test_run_by_htmx_sends_what_its_start_changes_and_keeps_the_rest_of_the_page(sign_in, case):
    page = {**HTMX, "HX-Current-URL": f"http://testserver{at(case, 'case')}?q=query&sort=score&attempt=1#tune"}
    response = sign_in("editor").post(at(case, "run"), pane_of(case, depth="5"), headers=page)
    head = by_id(response, "case-score")
    assert attributes(head)["hx-trigger"] == "load delay:100ms, every 1s"
    assert attributes(by_id(response, "tune-parent"))["value"] == "2"
    assert words(elements(by_id(response, "tune-header"), _name="h2")[0]) == "Attempt 2"
    assert len(elements(by_id(response, "attempts"), cls="attempt")) == 2
    assert not elements(tree(response), id="queries")
    assert not elements(tree(response), id="tune-form")
    assert response.headers["HX-Replace-Url"] == at(case, "case") + "?q=query&sort=score"
    assert json.loads(response.headers["HX-Trigger-After-Settle"]) == {"run-started": {"attempt": 2, "list_url": ""}}


def test_run_that_has_finished_in_the_request_shows_its_results(sign_in, case, on_commit, monkeypatch):
    """As with RELEVANCY_TASKS=immediate."""
    monkeypatch.setattr(transaction, "on_commit", lambda callback: callback())
    response = sign_in("editor").post(at(case, "run"), pane_of(case), headers=HTMX)
    assert set(json.loads(response.headers["HX-Trigger-After-Settle"])) == {"run-started", "run-finished"}
    assert "Run 2 · attempt 1" in words(by_id(response, "case-score"))


def test_run_from_the_page_of_an_older_run_leads_to_the_newest(sign_in, case, on_commit):
    client = sign_in("editor")
    with on_commit():
        client.post(at(case, "run"), pane_of(case))
    page = {**HTMX, "HX-Current-URL": f"http://testserver{at(case, 'case')}?run=1&state=unrated"}
    response = client.post(at(case, "run"), pane_of(case), headers=page)
    assert "Run 3" in words(by_id(response, "case-score"))
    assert not elements(by_id(response, "list-run"), name="run")
    listed = json.loads(response.headers["HX-Trigger-After-Settle"])["run-started"]["list_url"]
    assert listed == response.headers["HX-Replace-Url"] == at(case, "case") + "?state=unrated"


def test_run_again_of_an_older_attempt_stays_with_it(sign_in, case, on_commit):
    client = sign_in("editor")
    with on_commit():
        client.post(at(case, "run"), pane_of(case, depth="5"))
    first = case.attempts.last()
    response = client.post(at(case, "run"), pane_of(case, parent="1", depth=first.depth), headers=HTMX)
    assert attributes(by_id(response, "tune-parent"))["value"] == "1"
    assert response.headers["HX-Replace-Url"] == at(case, "case") + "?attempt=1"


def test_list_keeps_the_numbers_of_the_run_before_until_a_query_is_searched(sign_in, case):
    client = sign_in("editor")
    before = tree(client.get(at(case, "case")))
    start(case)
    after = tree(client.get(at(case, "case"), headers=LIST))
    for case_query in case.case_queries.all():
        earlier, row = (by_id(page, f"query-row-{case_query.pk}") for page in (before, after))
        assert attributes(row)["data-state"] == "waiting"
        assert words(elements(row, cls="score")[0])[:4] == words(elements(earlier, cls="score")[0])[:4]
        assert [words(cell) for cell in elements(row, cls="num")[1:]] == [
            words(cell) for cell in elements(earlier, cls="num")[1:]
        ]
    case_query = case_query_of(case, "query 1")
    opened = client.get(at(case, "query", case_query.pk), headers=HTMX)
    assert len(elements(tree(opened), cls="result")) == 3


def test_rating_while_a_query_waits_changes_the_result_of_the_run_before(sign_in, case):
    client = sign_in("editor")
    start(case)
    case_query = case_query_of(case, "query 1")
    response = client.post(at(case, "rate", case_query.pk, rank=2), {"doc_id": "b", "value": "3"}, headers=HTMX)
    result = by_id(response, f"rating-{case_query.pk}-2")
    assert attributes(elements(result, **{"data-grade": "3"})[0])["aria-checked"] == "true"


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        (
            {"template": KNOBS, "knob.title": "3", "knob.tie": "0.25"},
            {"template": KNOBS, "knobs": {"title": 3, "tie": 0.25}},
        ),
        (
            {"template": KNOBS, "knob.title": "2<75%", "knob.tie": "AUTO"},
            {"template": KNOBS, "knobs": {"title": "2<75%", "tie": "AUTO"}},
        ),
        ({"fields": "title:name,  year"}, {"fields": "title:name, year"}),
        ({"depth": " 25 "}, {"depth": 25}),
        ({"escape": "1"}, {"escape": True}),
        ({"depth": "5", "name": f"  N{SCRIPT} "}, {"name": f"N{SCRIPT}", "depth": 5}),
    ],
)
def test_run_changed_is_the_next_attempt(sign_in, case, on_commit, changes, kept):
    first = case.attempts.get()
    with on_commit():
        sign_in("editor").post(at(case, "run"), pane_of(case, **changes))
    second = case.attempts.first()
    assert (second.number, second.parent, second.created_by.name) == (2, first, "Editor")
    assert {name: getattr(second, name) for name in kept} == kept
    assert case.runs.first().attempt == second
    assert case.runs.first().status == "complete"
    first_again = Attempt.objects.get(pk=first.pk)
    assert (first_again.template, first_again.depth, first_again.fields) == (first.template, first.depth, first.fields)


def test_run_from_an_older_attempt_makes_a_branch(sign_in, case, on_commit):
    client = sign_in("editor")
    with on_commit():
        client.post(at(case, "run"), pane_of(case, depth="5"))
    with on_commit():
        client.post(at(case, "run"), pane_of(case, depth="7", parent="1"))
    assert [(one.number, one.parent and one.parent.number) for one in case.attempts.order_by("number")] == [
        (1, None),
        (2, 1),
        (3, 1),
    ]
    pane = by_id(client.get(at(case, "case")), "tune")
    assert [words(number) for number in elements(pane, cls="number")] == ["3", "2", "1"]
    assert "results 10 → 7" in words(pane)
    older = by_id(client.get(at(case, "case", attempt=2)), "tune")
    assert words(elements(older, _name="h2")[0]) == "Attempt 2"
    assert attributes(by_id(older, "depth"))["value"] == "5"
    assert attributes(elements(older, name="parent")[0])["value"] == "2"


def test_run_of_an_attempt_that_never_ran_changes_it_in_place(sign_in, people, team, script, on_commit):
    case = make_workbench_case(people, team, run=False)
    with on_commit():
        sign_in("editor").post(at(case, "run"), pane_of(case, depth="5"))
    assert (case.attempts.get().depth, case.runs.get().status) == (5, "complete")


def test_run_of_an_attempt_that_never_ran_takes_the_name(sign_in, people, team, script):
    case = make_workbench_case(people, team, run=False)
    sign_in("editor").post(at(case, "run"), pane_of(case, depth="5", name="Baseline"))
    assert (case.attempts.get().name, case.attempts.get().depth) == ("Baseline", 5)


def test_run_keeps_a_template_that_begins_with_an_empty_line(sign_in, case, on_commit):
    client = sign_in("editor")
    with on_commit():
        client.post(at(case, "run"), pane_of(case, template='\r\n{"query": "#$query##"}'))
    assert case.attempts.first().template.startswith("\n{")
    # A browser leaves out the first line break of a text area: there has to be one more.
    page = client.get(at(case, "case")).content.decode()
    assert ">\n\n{&quot;query&quot;: &quot;#$query##&quot;}</textarea>" in page


REFUSED = [
    ("template", "template", "", "the template is empty", ""),
    ("template", "template", '{"query": ', "Line 1", ""),
    ("template", "template", "x" * 20_001, "20,001 characters", ""),
    ("template", "template", '{\r\n "query": "#$nonsense##"}', "Line 2", "2"),
    ("fields", "fields", "x" * 2001, "2001", ""),
    ("fields", "fields", "id:, title", "Line 1, column", ""),
    ("depth", "depth", "0", "Enter a whole number", ""),
    ("depth", "depth", "1001", "Enter a whole number", ""),
    ("depth", "depth", "ten", "Enter a whole number", ""),
    ("depth", "depth", "", "Enter the number", ""),
    ("depth", "depth", "9" * 5000, "Enter a whole number", ""),
    ("endpoint", "endpoint", "", "Choose an endpoint", ""),
    ("endpoint", "endpoint", "x", "Choose an endpoint", ""),
    ("endpoint", "endpoint", "987654", "Choose an endpoint", ""),
    ("endpoint", "endpoint", "9" * 5000, "Choose an endpoint", ""),
    ("knobs", "knob.title", "1,5", "Knob title is '1,5'", ""),
    ("knobs", "knob.title", "1e99", "Knob title is 1e99", ""),
    ("knobs", "knob.title", "", "Knob title is ''", ""),
]


def test_a_knob_that_is_a_text_has_no_slider(sign_in, case, on_commit):
    client = sign_in("editor")
    with on_commit():
        client.post(at(case, "run"), pane_of(case, template=KNOBS, **{"knob.title": "2<75%", "knob.tie": "0.5"}))
    knobs = {attributes(knob)["data-knob"]: knob for knob in elements(tree(client.get(at(case, "case"))), cls="knob")}
    assert "is-text" in attributes(knobs["title"])["class"]
    assert attributes(elements(knobs["title"], type="text")[0])["value"] == "2<75%"
    assert "is-text" not in attributes(knobs["tie"])["class"]
    assert attributes(elements(knobs["tie"], type="range")[0])["value"] == "0.5"


@pytest.mark.parametrize(("field", "name", "value", "reason", "line"), REFUSED)
def test_run_refused_at_its_field_with_what_was_typed(sign_in, case, on_commit, field, name, value, reason, line):
    client = sign_in("editor")
    with on_commit():
        client.post(at(case, "run"), pane_of(case, template=KNOBS, **{"knob.title": "3", "knob.tie": "1"}))
    entered = pane_of(case, fields="title:typed", name="Typed name", escape="1", depth="17", **{"knob.tie": "0.5"})
    for headers in (HTMX, {}):
        with on_commit():
            response = client.post(at(case, "run"), {**entered, name: value}, headers=headers)
        assert response.status_code == 422
        pane = by_id(response, "tune")
        errors = [error for hint in elements(pane, _name="div", cls="bad") for error in elements(hint, _name="p")]
        assert len(errors) == 1
        assert reason in words(errors[0])
        values = {attributes(part).get("name"): attributes(part).get("value") for part in elements(pane, _name="input")}
        wanted = {"fields": "title:typed", "name": "Typed name", "depth": "17", "knob.tie": "0.5", "knob.title": "3"}
        assert {key: values[key] or "" for key in wanted} == {**wanted, **({name: value} if name in wanted else {})}
        assert "checked" in attributes(elements(pane, name="escape")[0])
        area = elements(pane, _name="textarea")[0]
        if field == "template":
            assert words(area) == " ".join(value.split())
            assert attributes(area)["aria-invalid"] == "true"
            assert attributes(area).get("data-error-line", "") in {line or "1", ""}
        else:
            assert words(area) == KNOBS
        assert (case.attempts.count(), case.runs.count()) == (2, 2)


def test_run_refused_without_htmx_is_a_whole_page_that_leads_on(sign_in, case):
    client = sign_in("editor")
    page = client.post(at(case, "run"), pane_of(case, depth="0"))
    assert page.status_code == 422
    links = [attributes(link).get("href", "") for link in elements(tree(page), _name="a")]
    assert not [link for link in links if link.startswith("?")]  # they would lead to an address that takes no GET
    assert at(case, "case", attempt=1) + "#tune" in links


def test_run_with_an_endpoint_one_may_not_see(sign_in, people, case):
    theirs = make_endpoint(people["stranger"])
    response = sign_in("editor").post(at(case, "run"), pane_of(case, endpoint=theirs.pk), headers=HTMX)
    assert response.status_code == 422
    assert "Choose an endpoint from the list." in words(by_id(response, "tune"))
    assert theirs.name not in response.content.decode()
    mine = make_endpoint(people["editor"])
    assert sign_in("editor").post(at(case, "run"), pane_of(case, endpoint=mine.pk)).status_code == 302
    assert case.attempts.first().endpoint == mine


def test_run_with_an_archived_endpoint(sign_in, case):
    endpoint = case.attempts.get().endpoint
    endpoints.archive(endpoint=endpoint)
    response = sign_in("editor").post(at(case, "run"), pane_of(case), headers=HTMX)
    assert response.status_code == 422
    assert f"Endpoint {endpoint.name} is archived." in words(by_id(response, "tune"))
    assert case.runs.count() == 1


@pytest.mark.parametrize("parent", ["", "x", "7", "9" * 5000])
def test_run_with_an_unknown_parent_is_a_new_root(sign_in, case, parent):
    assert sign_in("editor").post(at(case, "run"), pane_of(case, parent=parent)).status_code == 302
    assert (case.attempts.first().number, case.attempts.first().parent) == (2, None)


def test_run_never_takes_an_attempt_of_another_case_as_parent(sign_in, people, team, case):
    other = make_workbench_case(people, team)
    runs.attempts.save(case=other, endpoint=other.attempts.get().endpoint, template=KNOBS, by=other.owner, depth=3)
    sign_in("editor").post(at(case, "run"), pane_of(case, parent="2", depth="3"))
    assert case.attempts.first().parent is None
    assert other.attempts.count() == 2


def test_run_while_another_is_active_leaves_nothing_behind(sign_in, case):
    start(case)
    client = sign_in("editor")
    response = client.post(at(case, "run"), pane_of(case, depth="5"), headers=HTMX)
    assert (response.status_code, response.headers["Content-Type"]) == (409, "text/plain; charset=utf-8")
    assert response.content.decode().startswith("Run 2 is still waiting.")
    response = client.post(at(case, "run"), pane_of(case, depth="5"))
    assert "Run 2 is still waiting." in words(by_id(response, "toasts"))
    assert attributes(by_id(response, "depth"))["value"] == "5"
    assert (case.attempts.count(), case.runs.count()) == (1, 2)


def test_run_without_queries(sign_in, people, team, script):
    case = make_workbench_case(people, team, [], None, run=False)
    response = sign_in("editor").post(at(case, "run"), pane_of(case, depth="5"), headers=HTMX)
    assert response.status_code == 409
    assert "has no queries" in response.content.decode()
    assert case.attempts.get().depth == 10


# --- preview ---


def test_preview_shows_the_first_query_and_stores_nothing(sign_in, case):
    queries.edit(case_query=case_query_of(case, "query 1"), text=f"first {SCRIPT}")
    client = sign_in("editor")
    searches_before = len(script_of(case.attempts.get()).requests)
    for headers in ({}, HTMX):
        response = client.post(at(case, "attempt_preview"), pane_of(case, template=KNOBS), headers=headers)
        assert response.status_code == 200
        assert "first &lt;script&gt;alert(" in response.content.decode()
        assert "<script>alert(" not in response.content.decode()
    assert (case.attempts.count(), case.runs.count()) == (1, 1)
    assert len(script_of(case.attempts.get()).requests) == searches_before


def test_preview_warns_of_probable_mistakes_in_the_template(sign_in, people, case):
    endpoint = make_endpoint(people["editor"], engine="solr", url="http://127.0.0.1:8983/solr/films")
    fields = {"endpoint": str(endpoint.pk), "template": "q=#$query##\ndeftype=edismax"}
    response = sign_in("editor").post(at(case, "attempt_preview"), pane_of(case, **fields))
    assert response.status_code == 200
    (warning,) = elements(tree(response), data_warning_line="2")
    assert "defType" in words(warning)


def test_preview_of_a_case_without_queries(sign_in, people, team, script):
    case = make_workbench_case(people, team, [], None, run=False)
    response = sign_in("editor").post(at(case, "attempt_preview"), pane_of(case))
    assert "“example”" in words(tree(response))


@pytest.mark.parametrize(
    "change",
    [
        {"template": "{"},
        {"depth": "x"},
        {"endpoint": "x"},
        {"fields": "id:"},
    ],
)
def test_preview_refused(sign_in, case, change):
    client = sign_in("editor")
    for headers in ({}, HTMX):
        response = client.post(at(case, "attempt_preview"), pane_of(case, **change), headers=headers)
        assert response.status_code == 422
        assert elements(tree(response), cls="bad")
    page = client.post(at(case, "attempt_preview"), pane_of(case, **change))
    back = [attributes(link)["href"] for link in elements(tree(page), _name="a") if words(link) == "Back"]
    assert back == [at(case, "case")]


def test_preview_of_a_missing_query_option(sign_in, people, case):
    endpoint = make_endpoint(people["editor"], engine="solr", url="http://127.0.0.1:1/solr/films")
    shape = pane_of(case, endpoint=endpoint.pk, template="q=#$query##&fq=lang:#$qOption.lang##")
    client = sign_in("editor")
    response = client.post(at(case, "attempt_preview"), shape)
    assert response.status_code == 422
    assert "qOption.lang" in words(elements(tree(response), cls="bad")[0])
    queries.edit(case_query=case_query_of(case, "query 1"), text="query 1", options='{"lang": "en"}')
    response = client.post(at(case, "attempt_preview"), shape)
    assert "lang:en" in words(elements(tree(response), cls="console")[0])


# --- stopped, completed ---


def test_cancel(sign_in, case):
    run = start(case)
    client = sign_in("editor")
    response = client.post(at(case, "run_cancel", 2))
    assert [str(message) for message in get_messages(response.wsgi_request)] == [
        "Run 2 is being stopped. Its results so far are kept."
    ]
    run.refresh_from_db()
    assert run.status == "cancelled"
    # A worker that holds the run ends it itself: until then the button says so.
    run = start(case)
    run.parts.update(claimed_by="worker", heartbeat_at=timezone.now())
    client.post(at(case, "run_cancel", 3), headers=HTMX)
    head = by_id(client.get(at(case, "case")), "case-score")
    assert "Stopping…" in words(head)
    run.refresh_from_db()
    assert (run.status, run.cancel_requested) == ("waiting", True)


def test_cancel_of_a_run_that_is_over(sign_in, case):
    response = sign_in("editor").post(at(case, "run_cancel", 1), headers=HTMX)
    assert (response.status_code, response.content.decode()) == (409, "Run 1 has already ended: complete.")
    assert not case.runs.get().cancel_requested


def test_complete_searches_what_failed_is_new_or_edited(sign_in, case, on_commit):
    script = script_of(case.attempts.get())
    script.answers["query 2"] = engines.EndpointUnreachable("Down.")
    run_now(case.attempts.select_related("case", "endpoint").get())
    script.answers.clear()
    script.requests.clear()
    queries.add(case=case, texts=["late"])
    queries.edit(case_query=case_query_of(case, "query 3"), text="query three")
    with on_commit():
        response = sign_in("editor").post(at(case, "run_complete", 2), headers=HTMX)
    assert response.headers["HX-Retarget"] == "#case-score"
    assert not elements(tree(response), id="tune-parent"), "The tune pane keeps the attempt that it shows."
    assert sorted(script.texts) == ["late", "query 2", "query three"]
    run = case.runs.first()
    assert (run.number, run.status, run.done, run.failed) == (2, "complete", 4, 0)


def test_complete_refused(sign_in, case):
    client = sign_in("editor")
    start(case)
    for number, reason in ((1, "not the newest"), (2, "still waiting")):
        response = client.post(at(case, "run_complete", number), headers=HTMX)
        assert response.status_code == 409
        assert reason in response.content.decode()
    assert client.post(at(case, "run_complete", 99)).status_code == 404
