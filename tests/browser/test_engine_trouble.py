"""An engine that is down, refuses, returns HTML or is slow: what the page says, and how the run is completed."""

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from relevancy import endpoints
from relevancy.models import Case, User
from tests.contracts.fakes import fake_solr
from tests.contracts.local_server import LocalServer, ReceivedRequest, Reply, json_reply, serving

from . import stage
from .conftest import Opens
from .workbench_page import WorkbenchPage, press

TEMPLATE = "q=#$query##&defType=edismax&qf=title&q.op=OR"
READ_TIMEOUT = 0.4


def _down(received: ReceivedRequest) -> Reply:
    raise ConnectionError("The connection closes without a response.")


def _locked(received: ReceivedRequest) -> Reply:
    return Reply(b"<html><h2>HTTP ERROR 401</h2></html>", 401, {"content-type": "text/html"})


def _html(received: ReceivedRequest) -> Reply:
    return Reply(b"<html><title>Welcome to the proxy</title></html>", 200, {"content-type": "text/html"})


def _slow(received: ReceivedRequest) -> Reply:
    time.sleep(READ_TIMEOUT + 0.3)
    return fake_solr(received)


@pytest.fixture
def solr() -> Iterator[LocalServer]:
    with serving(fake_solr) as server:
        yield server


@pytest.fixture
def case(people: dict[str, User], solr: LocalServer) -> Case:
    """Not run yet."""
    endpoint = endpoints.create(
        name="shop",
        engine="solr",
        url=f"{solr.url}/solr/films",
        by=people["editor"],
        options={"read_timeout": READ_TIMEOUT},
    )
    ratings = {"star wars": {"sw": 10}, "night journey": {"x, y/z": 8}}
    texts = ["star wars", "night journey"]
    return stage.make_case(
        people["editor"], endpoint, texts, TEMPLATE, "id:id title:title year genres", ratings=ratings, run=False
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (_down, "Check that the engine is running"),
        (_locked, "Check the endpoint's credentials"),
        (_html, "Welcome to the proxy"),
        (_slow, "did not complete its response within 0.4 s"),
    ],
    ids=["down", "unauthorised", "html", "slow"],
)
def test_run_fails_with_advice_and_is_completed(
    look: Opens, case: Case, solr: LocalServer, answer: object, words: str
) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    solr.respond = answer  # type: ignore[assignment]
    page.locator("#case-score").get_by_role("button", name="Run").click()
    notice = page.locator("main [role=alert]").first
    expect(notice).to_contain_text("Run 1")
    expect(notice).to_contain_text(words)
    expect(workbench.case_score).to_have_text("–")

    solr.respond = fake_solr
    notice.get_by_role("button").click()
    expect(workbench.case_score).not_to_have_text("–")
    expect(page.locator("main [role=alert]")).to_have_count(0)
    expect(workbench.case_score).to_have_text(stage.shown(stage.case_score(case).score))
    assert case.runs.count() == 1
    assert stage.newest_run(case).status == "complete"


def test_failed_run_does_not_hide_the_last_complete_one(look: Opens, case: Case, solr: LocalServer) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    head, run = page.locator("#case-score"), page.locator("#run-button")
    run.click()
    expect(head).to_contain_text("Run 1 · attempt 1")
    score = workbench.case_score.inner_text()
    workbench.open("star wars")
    workbench.mark_document()

    solr.respond = _down  # type: ignore[assignment]
    run.click()
    notice = page.locator('[data-notice="run-failed"]')
    expect(notice).to_contain_text("This page shows run 1, the last complete one.")
    expect(head).to_contain_text("Run 1 · attempt 1")
    expect(workbench.case_score).to_have_text(score)
    expect(workbench.results("star wars")).not_to_have_count(0)
    notice.get_by_role("link", name="Show run 2").click()
    expect(head).to_contain_text("Run 2 · attempt 1")
    expect(workbench.case_score).to_have_text("–")
    notice.get_by_role("link", name="Back to run 1").click()
    expect(workbench.case_score).to_have_text(score)

    solr.respond = fake_solr
    notice.get_by_role("button", name="Run again").click()
    expect(head).to_contain_text("Run 2 · attempt 1")
    expect(notice).to_have_count(0)
    expect(workbench.case_score).to_have_text(score)
    workbench.expect_no_reload()


def test_one_failed_query_does_not_stop_the_others(look: Opens, case: Case, solr: LocalServer) -> None:
    def choosy(received: ReceivedRequest) -> Reply:
        if b"night" in received.body:
            return json_reply({"error": {"msg": "undefined field <b>tittle</b>", "code": 400}}, 400)
        return fake_solr(received)

    page = look("editor")
    workbench = WorkbenchPage(page, case)
    solr.respond = choosy
    page.locator("#case-score").get_by_role("button", name="Run").click()
    failed = workbench.row("night journey")
    expect(failed).to_have_class(re.compile(r"query\s+failed"))
    expect(failed.locator(".error-text")).to_contain_text("undefined field <b>tittle</b>")
    expect(workbench.score("star wars")).to_have_text(stage.shown(stage.query_score(case, "star wars").score))
    expect(page.locator("main [role=alert]")).to_contain_text("Run 1 is incomplete")
    expect(page.locator("#case-score")).to_contain_text("1 query failed")
    press(page, "e")
    expect(failed).to_have_class(re.compile(r"query\s+failed\s+is-active"))

    page.watch.expect(409)  # type: ignore[attr-defined]
    failed.get_by_role("button", name="Try again").click()
    expect(workbench.toast("“night journey” was not searched")).to_contain_text("undefined field")
    expect(failed.locator(".error-text")).to_contain_text("undefined field")

    solr.respond = fake_solr
    workbench.mark_document()
    failed.get_by_role("button", name="Try again").click()
    expect(workbench.results("night journey")).to_have_count(2)
    expect(workbench.score("night journey")).to_have_text(stage.shown(stage.query_score(case, "night journey").score))
    expect(workbench.case_score).to_have_text(stage.shown(stage.case_score(case).score))
    workbench.expect_no_reload()
    assert stage.newest_run(case).status == "complete"


def test_endpoint_that_does_not_answer_is_reported_in_its_form(
    look: Opens, people: dict[str, User], solr: LocalServer
) -> None:
    page = look("editor")
    page.watch.expect(422)  # type: ignore[attr-defined]
    page.goto("/cases/new/")
    page.get_by_label("Name", exact=True).fill("Shop")
    page.get_by_role("button", name="Next: endpoint").click()
    page.get_by_label("Name of the endpoint").fill("shop")
    page.get_by_label("Solr", exact=True).check()
    page.get_by_label("Try it with the query").fill("star wars")
    for url, words in (
        ("http://127.0.0.1:9/solr/films", "127.0.0.1:9"),
        (f"{solr.url}/solr/nosuch", "404"),
    ):
        page.get_by_label("Address").fill(url)
        page.get_by_role("button", name="Next: fields").click()
        expect(page.get_by_role("alert")).to_contain_text("It did not answer as it should")
        expect(page.get_by_role("alert")).to_contain_text(words)
        expect(page.get_by_label("Address")).to_have_value(url)
    page.get_by_label("Address").fill(f"{solr.url}/solr/films")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#connection-test")).to_contain_text("Solr 9.10.1")
    expect(page.locator("#connection-test li.result").first).to_contain_text("Star Wars")


def test_document_returned_twice_is_rated_once(look: Opens, case: Case, solr: LocalServer) -> None:
    docs = [{"id": id, "title": f"Film {id}", "score": 2.0} for id in ("sw", "sw", "st")]
    answer = {"responseHeader": {"status": 0, "QTime": 1}, "response": {"numFound": 3, "start": 0, "docs": docs}}
    solr.respond = lambda received: json_reply(answer) if "/select" in received.path else fake_solr(received)
    workbench = WorkbenchPage(look("editor"), case)
    workbench.page.locator("#case-score").get_by_role("button", name="Run").click()
    expect(workbench.case_score).to_have_text("100.0")
    results = workbench.open("star wars")
    expect(results).to_have_count(3)
    expect(workbench.row("star wars").get_by_role("note")).to_contain_text("1 document was returned twice")
    expect(results.nth(1).locator(".pill.warn")).to_have_text("repeat")
    expect(results.nth(1).get_by_role("radiogroup")).to_have_count(0)
    workbench.grade(results.nth(2), 6).click()
    expect(workbench.row("star wars").locator("td").nth(6)).to_have_text("")
