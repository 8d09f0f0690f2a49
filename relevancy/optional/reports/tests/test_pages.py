"""The report of a case: its figures, its links, its files, and what it says while there is nothing to say."""

import csv
import json

import pytest

from relevancy import cases, queries, tasks
from relevancy.engines import EngineError
from tests.comparison.conftest import run_with
from tests.factories import make_case, query_of, rate_all, run_now, script_of
from tests.views.workbench.example_cases import at, attributes, by_id, case_query_of, elements, tree, words

RATINGS = {"query 1": {"a": 3, "b": 1}, "query 2": {"a": 2}, "query 3": {"a": 3}}
LISTS = {"query 1": "abc", "query 2": "xya", "query 3": "cab", "query 4": ""}


@pytest.fixture
def case(people, team, script):
    case = make_case(4, RATINGS, owner=people["admin"], measures=("nDCG@3", "P@1"))
    cases.share(case=case, team=team)
    return case


@pytest.fixture
def runs(case):
    return [run_with(case, LISTS), run_with(case, {**LISTS, "query 2": "axy"})]


def figure(response, key):
    (element,) = elements(tree(response), **{"data-figure": key})
    return words(elements(element, _name="dd")[0])


def links(part):
    return [attributes(link)["href"] for link in elements(part, _name="a")]


def test_a_case_without_a_run_says_what_to_do(sign_in, case):
    client = sign_in("viewer")
    response = client.get(at(case, "report"))
    assert "has no finished run yet" in response.content.decode()
    assert client.get(at(case, "report_csv"))["Location"] == at(case, "report")


def test_figures_and_links(sign_in, case, runs):
    queries.tags.set_tags(query=query_of(case, "query 1"), tags="short & sweet")
    response = sign_in("viewer").get(at(case, "report"))
    assert figure(response, "coverage") == "4 of 9"
    assert figure(response, "scored") == "3 of 4"
    assert figure(response, "empty") == "1"
    empty = by_id(response, "report-empty")
    assert at(case, "query", case_query_of(case, "query 4").pk, run=2) in links(empty)
    assert at(case, "case", run=2, state="empty") in links(empty)
    (tag,) = elements(by_id(response, "report-tags"), **{"data-tag": "short & sweet"})
    assert at(case, "case", run=2, tag="short & sweet") in links(tag)
    assert "2 of 3" in words(tag)
    candidates = by_id(response, "report-rate-next")
    assert at(case, "query", case_query_of(case, "query 1").pk, run=2) in links(candidates)
    assert "run/" not in words(by_id(response, "report-plan"))
    assert "none of the last five comparisons has five queries that differ" in words(by_id(response, "report-plan"))
    assert "No search failed." in words(by_id(response, "report-failed"))
    times = elements(by_id(response, "report-times"), _name="tr")
    assert [attributes(row).get("data-run") for row in times] == [None, "2", "1"]


def test_another_run_scorer_and_difference(sign_in, case, runs):
    second = case.case_scorers.get(scorer__name="P@1").scorer_id
    client = sign_in("viewer")
    response = client.get(at(case, "report", run=1, scorer=second, delta="7.5"))
    assert words(elements(by_id(response, "report-summary"), _name="h2")[0]).startswith("Run 1")
    assert "P@1" in words(by_id(response, "report-summary"))
    rows = elements(by_id(response, "report-plan"), _name="tr")
    assert [attributes(row).get("data-difference") for row in rows][1:] == ["1.0", "2.0", "3.0", "5.0", "7.5", "10.0"]
    for wrong in ("0", "x", "-3", "1e9", "nan"):
        page = client.get(at(case, "report", delta=wrong))
        assert page.status_code == 200
        assert len(elements(by_id(page, "report-plan"), _name="tr")) == 6
    assert client.get(at(case, "report", run="99", scorer="99")).status_code == 200


def test_the_comparison_to_plan_with_is_named_and_can_be_chosen(sign_in, people, team, script):
    texts = [f"query {number}" for number in range(1, 7)]
    case = make_case(6, {text: {"a": 3} for text in texts}, owner=people["admin"], measures=("RR@3",))
    cases.share(case=case, team=team)
    for lists in (
        ["a", "xa"] * 3,
        ["xa", "a"] * 3,
        ["xxa", "a", "xa", "a", "yxa", "a"],
        ["a", "ya", "a", "ya", "a", "y"],
    ):
        run_with(case, dict(zip(texts, lists, strict=True)))
    client = sign_in("viewer")
    page = by_id(client.get(at(case, "report")), "report-plan")
    assert "differences between Run 4 and Run 3, in which 6 queries differ" in words(page)
    options = [attributes(option) for option in elements(page, _name="option")]
    assert [(option["value"], "selected" in option) for option in options] == [("", False), ("4", False), ("2", False)]
    chosen = client.get(at(case, "report", compared=2))
    assert "differences between Run 2 and Run 1, in which 6 queries differ" in words(by_id(chosen, "report-plan"))
    assert [attributes(option).get("value") for option in elements(by_id(chosen, "report-compared"), selected="")] == [
        "2"
    ]
    assert at(case, "report_json", compared=2) in links(by_id(chosen, "content"))
    data = json.loads(client.get(at(case, "report_json", compared=2)).content)["plan"]
    assert data["chosen"] == data["comparisons"][1]
    for wrong in ("3", "x", "99"):
        page = by_id(client.get(at(case, "report", compared=wrong)), "report-plan")
        assert "between Run 4 and Run 3" in words(page)


def test_failed_searches_are_named(sign_in, case):
    refusal = EngineError("The engine says <no>.")
    attempt = run_with(case, LISTS).attempt
    script_of(attempt).answers["query 1"] = refusal
    run_now(attempt)
    response = sign_in("viewer").get(at(case, "report", run=2))
    failed = by_id(response, "report-failed")
    assert "says &lt;no&gt;" in response.content.decode()
    assert at(case, "query", case_query_of(case, "query 1").pk, run=2) in links(failed)


def test_no_number_while_scores_are_computed(sign_in, case, runs, monkeypatch):
    queued = []
    monkeypatch.setattr(tasks, "send", lambda task, pk, **_: queued.append((task.name, pk)))
    rate_all(case, {"query 1": {"c": 2}}, case.owner)
    client = sign_in("viewer")
    response = client.get(at(case, "report"))
    assert queued == [("rescore_run", runs[1].pk)]
    page = attributes(by_id(response, "content"))
    assert page["hx-get"] == at(case, "report")
    assert figure(response, "score") == "…"
    assert figure(response, "coverage") == "5 of 9"
    for part in ("report-rate-next", "report-plan", "report-distribution"):
        assert "Known once the scores have been computed." in words(by_id(response, part))
    tasks.rescore_run.func(runs[1].pk)
    response = client.get(at(case, "report"))
    assert queued[1:] == [("rescore_run", runs[0].pk)]  # the plan needs the scores of the baseline
    assert figure(response, "score") != "…"
    tasks.rescore_run.func(runs[0].pk)
    response = client.get(at(case, "report"))
    assert "hx-get" not in attributes(by_id(response, "content"))
    assert len(queued) == 2


def test_files(sign_in, case, runs):
    client = sign_in("viewer")
    response = client.get(at(case, "report_csv"))
    rows = {row["query"]: row for row in csv.DictReader(response.content.decode().splitlines())}
    assert (rows["query 1"]["documents"], rows["query 1"]["rated"], rows["query 4"]["hits"]) == ("3", "2", "0")
    data = json.loads(client.get(at(case, "report_json")).content)
    assert (data["run"], data["scored"], data["rated"], data["documents"]) == (runs[1].pk, 3, 4, 9)
    assert data["no_results"] == ["query 4"]
    assert (data["plan"]["chosen"], data["plan"]["comparisons"]) == (None, [])
    assert data["per_query"]["query 1"]["rated"] == 2
    assert data["rescoring"] is False


def test_constant_number_of_statements(sign_in, case, runs, django_assert_max_num_queries):
    for _ in range(5):
        run_with(case, LISTS)
    client = sign_in("viewer")
    with django_assert_max_num_queries(32):
        client.get(at(case, "report"))


def test_the_workbench_leads_to_the_report_of_the_run_shown(sign_in, case, runs):
    client = sign_in("viewer")
    assert attributes(by_id(client.get(at(case, "case")), "report-link"))["href"] == at(case, "report")
    page = client.get(at(case, "case", run=1))
    assert attributes(by_id(page, "report-link"))["href"] == at(case, "report", run=1)


def test_the_history_leads_to_the_report(sign_in, case, runs):
    page = sign_in("viewer").get(at(case, "history"))
    assert attributes(by_id(page, "report-link"))["href"] == at(case, "report")


def test_a_long_report_comes_after_its_page(sign_in, case, runs, monkeypatch):
    monkeypatch.setattr("relevancy.optional.reports.pages.MAX_AT_ONCE", 3)
    client = sign_in("viewer")
    page = client.get(at(case, "report"))
    assert "Computing the report of 4 queries" in words(by_id(page, "report-coming"))
    content = attributes(by_id(page, "content"))
    assert content["hx-trigger"] == "load"
    for response in (
        client.get(content["hx-get"], headers={"HX-Request": "true"}),
        client.get(at(case, "report") + "?now=1"),
    ):
        assert figure(response, "scored") == "3 of 4"
        assert elements(tree(response), id="report-coming") == []
