"""Why the results of a query have their scores: bars in every row, which arrive without moving anything, and stay."""

import re

import pytest
from playwright.sync_api import APIResponse, Locator, Page, Route, expect

from relevancy import runs
from relevancy.models import Case, Endpoint, Rating, User
from tests import factories

from . import stage
from .conftest import Opens
from .workbench_page import WorkbenchPage, press

BOXES = """() => [...document.querySelectorAll("#case-score, tbody.query > tr:first-child, li.result, .query-bar, .rating")]
  .map((node) => {
    const box = node.getBoundingClientRect();
    return [node.id || node.className, box.x, box.y, box.width, box.height];
  })"""
ROW_HEIGHT = 94


@pytest.fixture
def case(people: dict[str, User], films: str) -> Case:
    return stage.film_case(people["editor"], ["star wars", "alien"])


def _bars(results: Locator) -> Locator:
    return results.locator("svg[aria-label*='%']")


def _heights(page: Page) -> set[int]:
    return set(page.evaluate("[...document.querySelectorAll('li.result:not(:last-child)')].map((r) => r.offsetHeight)"))


def test_bars_arrive_in_every_row_and_move_nothing(look: Opens, case: Case) -> None:
    page = look("editor", viewport={"width": 1280, "height": 800})
    workbench = WorkbenchPage(page, case)
    held: list[Route] = []
    addresses: list[str] = []
    page.route("**/explanations/**", lambda route: (addresses.append(route.request.url), held.append(route)))
    results = workbench.open("alien")
    expect(results.locator("svg[aria-label='not explained yet']")).to_have_count(results.count())
    before = page.evaluate(BOXES)
    held[0].continue_()
    expect(_bars(results)).to_have_count(results.count())
    assert page.evaluate(BOXES) == before
    assert max(_heights(page)) <= ROW_HEIGHT
    expect(workbench.row("alien").locator(".legend .key")).to_have_count(2)
    expect(results.first.locator(".explain .top")).to_contain_text("title:alien")
    assert len(addresses) == 1
    page.reload()
    workbench.open("alien")
    expect(_bars(results)).to_have_count(results.count())
    assert len(addresses) == 1, "They were kept with the run."


def test_an_explanation_stays_while_its_document_is_rated(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    results = workbench.open("alien")
    expect(_bars(results)).to_have_count(results.count())
    first = results.first
    first.click(position={"x": 5, "y": 5})
    press(page, "x")
    expect(first.locator(".explanation .parts-table")).to_be_visible()
    with page.expect_response("**/rate/**"):
        workbench.grade(first, 7).click()
    page.wait_for_function("() => !document.querySelector('.htmx-request')")
    expect(workbench.grade(first, 7)).to_have_attribute("aria-checked", "true")
    expect(first.locator(".explanation .parts-table")).to_be_visible()
    expect(first.locator("a.explain")).to_have_attribute("aria-expanded", "true")
    expect(_bars(first)).to_have_count(1)
    assert page.evaluate("document.querySelector('#tune').scrollWidth <= document.querySelector('#tune').clientWidth")
    first.get_by_label("Compare with").select_option(index=1)
    first.get_by_role("button", name="Compare").click()
    expect(first.locator(".difference-sentence")).to_contain_text("scores")
    expect(first.locator(".explanation tbody")).not_to_have_count(0)
    expect(first.get_by_label("Compare with").locator("option:checked")).to_contain_text("3.")
    heads = first.locator(".difference-table thead th")
    below = first.locator(".difference-table tbody td").first.bounding_box()
    head = heads.first.bounding_box()
    assert head and below and head["y"] + head["height"] <= below["y"], "The headings of the list stick; these do not."
    first.locator("a.explain").click()
    first.locator("a.explain").click()
    first.get_by_role("link", name="Full explanation").click()
    expect(first.locator(".explanation pre")).to_contain_text("weight(title:alien")
    first.locator("a.explain").click()
    expect(first.locator(".explanation")).to_have_count(0)


def test_bars_that_arrive_before_the_answer_to_a_rating_stay(look: Opens, case: Case) -> None:
    """The answer to the rating arrives after the bars, and leaves them alone."""
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    bars: list[Route] = []
    ratings: list[tuple[Route, APIResponse]] = []
    page.route("**/explanations/**", lambda route: bars.append(route))
    page.route("**/rate/**", lambda route: ratings.append((route, route.fetch())))
    results = workbench.open("alien")
    with page.expect_request("**/rate/**"):
        workbench.grade(results.first, 7).click()
    while not ratings:
        page.wait_for_timeout(50)
    bars[0].continue_()
    expect(_bars(results)).to_have_count(results.count())
    route, response = ratings[0]
    route.fulfill(response=response)
    expect(workbench.score("alien")).to_be_visible()
    page.wait_for_function("() => !document.querySelector('.htmx-request')")
    expect(_bars(results)).to_have_count(results.count())


def test_a_rater_sees_bars_that_an_editor_has_asked_for(look: Opens, case: Case) -> None:
    page = look("rater")
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url) if "/explanations/" in request.url else None)
    results = WorkbenchPage(page, case).open("alien")
    expect(results.locator(".explain svg")).to_have_count(0)
    editor = WorkbenchPage(look("editor"), case)
    expect(_bars(editor.open("alien"))).to_have_count(results.count())
    workbench = WorkbenchPage(page, case)
    workbench.open("alien")
    expect(_bars(results)).to_have_count(results.count())
    results.first.locator("a.explain").click()
    expect(results.first.locator(".parts-table")).to_be_visible()
    assert addresses == []


def test_long_titles_stay_in_their_row(look: Opens, people: dict[str, User], case: Case) -> None:
    """Titles of many words and of one long word, ids without a break, and a picture that cannot be loaded."""
    ranking = stage.newest_run(case).rankings.get(query__text="alien")
    ranking.hits[0][2]["title"] = "Alien " * 60
    ranking.hits[1][2]["title"] = "x" * 400
    ranking.hits[2][2] |= {"directors": ["y" * 300], "year": 1979}
    factories.set_hits([ranking])
    factories.rate_all(case, {"alien": {ranking.hits[0][0]: 5}}, people["owner"])
    page = look("editor", viewport={"width": 1280, "height": 800})
    workbench = WorkbenchPage(page, case)
    results = workbench.open("alien")
    expect(_bars(results)).to_have_count(results.count())
    assert max(_heights(page)) <= ROW_HEIGHT
    assert (
        page.evaluate(
            "(() => { const c = document.querySelector('#content'); return c.scrollWidth - c.clientWidth; })()"
        )
        == 0
    )
    expect(results.nth(2).locator(".field-name").first).to_have_text("year")


def test_the_dialog_of_a_document_rates_and_steps(look: Opens, case: Case) -> None:
    page = look("rater")
    workbench = WorkbenchPage(page, case)
    results = workbench.open("alien")
    titles = results.locator("a.title").all_inner_texts()
    results.first.locator("a.title").click()
    dialog = page.locator("#dialog dialog")
    expect(dialog.get_by_role("heading", level=2)).to_have_text(titles[0])
    with page.expect_response("**/rate/**"):
        workbench.grade(dialog, 7).click()
    expect(workbench.grade(results.first, 7)).to_have_attribute("aria-checked", "true")
    expect(dialog).to_be_visible()
    press(page, "j")
    expect(dialog.get_by_role("heading", level=2)).to_have_text(titles[1])
    with page.expect_response("**/rate/**"):
        press(page, "3")
    expect(workbench.grade(results.nth(1), 3)).to_have_attribute("aria-checked", "true")
    dialog.get_by_role("link", name="Previous").click()
    expect(dialog.get_by_role("heading", level=2)).to_have_text(titles[0])
    expect(workbench.grade(dialog, 7)).to_have_attribute("aria-checked", "true")
    press(page, "Escape")
    expect(dialog).not_to_be_visible()


def test_tabs_of_a_query_stay_through_a_run(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    workbench.open("alien")
    workbench.tab("alien", "Explain")
    table = workbench.row("alien").locator(".explain-table")
    expect(table.locator("tbody tr").first).to_contain_text("title:alien")
    workbench.mark_document()
    page.locator("#run-button").click()
    expect(page.locator("#case-score")).to_contain_text("Run 2")
    expect(table.locator("tbody tr").first).to_contain_text("title:alien")
    expect(workbench.row("alien").get_by_role("tab", name="Explain")).to_have_attribute("aria-selected", "true")
    workbench.tab("alien", "Request")
    expect(workbench.row("alien").locator(".sent-request pre")).to_contain_text('"query": "alien"')
    workbench.tab("alien", "Results")
    expect(_bars(workbench.results("alien"))).to_have_count(workbench.results("alien").count())
    workbench.expect_no_reload()


def test_a_list_that_was_requested_before_another_tab_was_opened_does_not_close_it(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    workbench.open("alien")
    workbench.tab("alien", "Request")
    held: list[Route] = []
    address = re.compile(rf"/cases/{case.pk}/\?.*open=")
    page.route(address, lambda route: route.continue_() if held else held.append(route))
    with page.expect_request(address) as first:
        page.evaluate("htmx.trigger('#queries', 'run-list')")
    assert "tab=" in first.value.url
    workbench.tab("alien", "Results")
    # The answer is not shown; the list is requested again, for the tab that is open now.
    with page.expect_request(lambda request: address.search(request.url) is not None and "tab=" not in request.url):
        held[0].continue_()
    page.wait_for_function("() => !document.querySelector('.htmx-request')")
    expect(workbench.row("alien").get_by_role("tab", name="Results")).to_have_attribute("aria-selected", "true")
    expect(_bars(workbench.results("alien"))).to_have_count(workbench.results("alien").count())


def test_why_a_document_moved_and_a_missing_one_is_found_and_rated(look: Opens, case: Case) -> None:
    """From a query that changed: what moved a document, which one is missing and why, and its rating."""
    attempt = runs.attempts.save(
        case=case,
        endpoint=Endpoint.objects.get(name="films"),
        template='{"query": "#$query##", "fields": {"title": 1, "overview": 20}}',
        fields=stage.FIELDS,
        by=case.owner,
    )
    factories.run_now(attempt)
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    results = workbench.open("alien")
    expect(_bars(results)).to_have_count(results.count())
    moved = results.filter(has=page.locator(".rank small.up, .rank small.down")).first
    moved.locator("a.explain").click()
    moved.get_by_label("Compare with").select_option("run:1")
    moved.get_by_role("button", name="Compare").click()
    expect(moved.locator(".difference-sentence")).to_contain_text("in run 2 than in run 1: overview")

    workbench.tab("alien", "Find")
    part = workbench.row("alien").locator(".find-documents")
    part.get_by_label("Look for any document").fill("solaris")
    part.get_by_role("button", name="Find").click()
    missing = part.locator("li[data-document='solaris-1972']")
    expect(missing.locator("[data-position]")).to_have_text("does not match")
    missing.get_by_role("button", name="Why it matched or did not").click()
    expect(missing.locator("[data-failure='required']")).to_contain_text("title:alien")
    with page.expect_response("**/rate/**"):
        workbench.grade(missing, 8).click()
    expect(workbench.grade(missing, 8)).to_have_attribute("aria-checked", "true")
    assert Rating.objects.get(doc_id="solaris-1972").value == 8
    workbench.tab("alien", "Not returned")
    expect(workbench.row("alien").locator(".unretrieved-list .title")).to_have_text(["Solaris"])
    expect(workbench.row("alien").get_by_role("tab", name="Not returned").locator(".pill")).to_have_text("1")
