"""The tabs of an opened query, and what the run sent."""

import subprocess

import pytest

from relevancy.models import Query
from relevancy.views.workbench.query_tabs import parse_tabs
from relevancy.views.workbench.sent_request import SentRequest

from .example_cases import HTMX, at, attributes, by_id, case_query_of, elements, make_workbench_case, tree, words

HOSTILE = ["it's", 'a "b"', "$(touch x) `id` $HOME", "a\nb", "\\", "!!", "", "ä 星", "-x", "@file", "a=b&c"]


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team)


def current(page):
    return [words(tab) for tab in elements(tree(page), role="tab") if attributes(tab)["aria-selected"] == "true"]


def test_tabs_lead_to_their_parts(sign_in, case):
    client, case_query = sign_in("editor"), case_query_of(case, "query 1")
    opened = client.get(at(case, "query", case_query.pk), headers=HTMX)
    assert current(opened) == ["Results"]
    tabs = {attributes(tab)["data-tab-name"]: attributes(tab)["hx-get"] for tab in elements(tree(opened), role="tab")}
    assert list(tabs) == ["results", "unretrieved", "best", "find", "request", "notes"], "This engine does not explain."
    for name, cls in (
        ("results", "results"),
        ("unretrieved", "tab-slot"),
        ("best", "tab-slot"),
        ("find", "tab-slot"),
        ("request", "tab-slot"),
        ("notes", "query-notes"),
    ):
        page = client.get(tabs[name], headers=HTMX)
        assert len(elements(tree(page), cls=cls)) == 1, name
        assert len(elements(tree(page), cls="query-scores")) == 1, name
        (field,) = elements(tree(page), _name="input", name="open")
        assert attributes(field).get("data-tab", "") == ("" if name == "results" else f"{case_query.pk}-{name}")


def test_tab_without_javascript_and_after_a_reload(sign_in, case):
    client, case_query = sign_in("editor"), case_query_of(case, "query 1")
    page = client.get(at(case, "query", case_query.pk, tab=f"{case_query.pk}-notes"), follow=True)
    assert current(page) == ["Notes"]
    (list_url, _) = page.redirect_chain[-1]
    assert f"tab={case_query.pk}-notes" in list_url


def test_tab_of_a_query_without_results(sign_in, people, team, script):
    case = make_workbench_case(people, team, run=False)
    case_query = case_query_of(case, "query 1")
    page = sign_in("editor").get(at(case, "query", case_query.pk, tab=f"{case_query.pk}-request"), headers=HTMX)
    assert [attributes(tab)["data-tab-name"] for tab in elements(tree(page), role="tab")] == ["results", "notes"]
    assert current(page) == ["Results"]


def test_need_and_notes_are_one_line_each(sign_in, case):
    Query.objects.filter(text="query 1").update(information_need="All <b>\nfilms", notes="one\n\ntwo")
    page = sign_in("viewer").get(at(case, "query", case_query_of(case, "query 1").pk), headers=HTMX)
    needs = elements(tree(page), cls="need")
    assert [words(line) for line in needs] == ["Needs: All <b> films", "Notes: one two"]
    assert elements(needs[0], _name="b")[1:] == []


@pytest.mark.parametrize(
    ("values", "tabs"),
    [
        (["12-explain"], {12: "explain"}),
        (["12-explain", "13-notes", "14-edit"], {12: "explain", 13: "notes", 14: "edit"}),
        (["12", "-", "x-explain", "12-nothing", "9" * 5000 + "-explain"], None),
    ],
)
def test_parse_tabs(values, tabs):
    result = parse_tabs(values)
    assert result == tabs if tabs is not None else 12 not in result


def arguments(command):
    """What a shell makes of a command."""
    script = "curl() { printf '%s\\0' \"$@\"; }\n" + command
    done = subprocess.run(["sh", "-c", script], capture_output=True, check=True, cwd="/")
    return done.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize("value", HOSTILE)
def test_curl_survives_a_shell(value):
    params = [["q", value], ["f.title.x", "1"]]
    sent = SentRequest.of({"method": "POST", "url": "http://h:1/solr/films/select", "params": params})
    url, *data = arguments(sent.curl)
    assert url == "http://h:1/solr/films/select"
    assert data == ["--data-urlencode", f"q={value}", "--data-urlencode", "f.title.x=1"]
    body = {"query": {"match": {"title": value}}}
    sent = SentRequest.of({"method": "POST", "url": "http://h:1/films/_search", "body": body})
    url, *data = arguments(sent.curl)
    assert data == ["-H", "Content-Type: application/json", "--data-raw", sent.body]


def test_sent_request_puts_the_parameters_of_the_template_first():
    params = [["hl", "true"], ["hl.fl", "*"], ["q", "star"], ["fl", "id"], ["qf", "title"]]
    sent = SentRequest.of({"method": "GET", "url": "http://h/solr/a/select", "params": params})
    assert [name for name, _ in sent.parameters] == ["q", "qf", "hl", "hl.fl", "fl"]
    assert sent.url == "http://h/solr/a/select?q=star&qf=title&hl=true&hl.fl=%2A&fl=id"
    assert arguments(sent.curl)[:2] == ["--get", "http://h/solr/a/select"]
    assert SentRequest.of({"index": "films", "body": {}}).curl == ""


def test_as_sent_is_a_part_with_copies(sign_in, case):
    page = sign_in("viewer").get(at(case, "query_request", case_query_of(case, "query 1").pk), headers=HTMX)
    (part,) = elements(tree(page), cls="sent-request")
    assert len(elements(part, **{"data-copy": ""})) == len(elements(part, _name="pre")) > 0
    assert by_id(sign_in("viewer").get(at(case, "query_request", case_query_of(case, "query 1").pk)), "content")
