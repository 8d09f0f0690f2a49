"""Permissions in the browser: controls that a role does not see, and requests that the server refuses anyway."""

from typing import Any

from playwright.sync_api import Page, expect

from relevancy.models import Case, Rating, User

from . import stage
from .conftest import Opens
from .workbench_page import WorkbenchPage, press

_POST = """async ([url, body]) => {
  const headers = {"X-CSRFToken": JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"]};
  return (await fetch(url, {method: "POST", headers, body: new URLSearchParams(body), redirect: "manual"})).status;
}"""


def _post(page: Page, url: str, **body: Any) -> int:
    """The response of the server to a request that no control of the page sends."""
    return int(page.evaluate(_POST, [url, body]))


def _writes(case: Case) -> list[str]:
    """Every address that changes the case."""
    case_query, run = case.case_queries.first(), stage.newest_run(case)
    inside = [f"queries/{case_query.pk}/{what}/" for what in ("edit", "remove", "restore", "search")]
    return [f"/cases/{case.pk}/{what}" for what in ("run/", "queries/", f"runs/{run.number}/cancel/", *inside)]


def _expect_nothing_to_edit(page: Page) -> None:
    for name in ("Add queries", "Edit", "Share"):
        expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
    for name in ("Run", "Search again", "Remove"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    expect(page.get_by_label("Scorer", exact=True)).to_have_count(0)
    expect(page.get_by_role("textbox", name="Template")).to_have_count(0)
    expect(page.locator("#attempt-text pre")).to_be_visible()


def test_rater_rates_but_changes_nothing_else(look: Opens, people: dict[str, User], films: str) -> None:
    case = stage.film_case(people["editor"], ["star wars", "alien"])
    page = look("rater")
    page.goto("/")
    page.get_by_role("link", name="Movies", exact=True).first.click()
    workbench = WorkbenchPage(page)
    expect(page.get_by_text("Rater", exact=True)).to_be_visible()
    results = workbench.open("alien")
    _expect_nothing_to_edit(page)
    workbench.grade(results.first, 9).click()
    expect(workbench.score("alien")).to_be_visible()
    expect(workbench.case_score).to_have_text(stage.shown(stage.case_score(case).score))
    assert Rating.objects.get().rater == people["rater"]

    page.watch.expect(403, 404)  # type: ignore[attr-defined]
    refused = {url: _post(page, url, queries="jaws", text="jaws", weight="1") for url in _writes(case)}
    assert set(refused.values()) == {403}, refused
    assert _post(page, f"/cases/{case.pk}/scorer/", scorer="1") in {403, 404}
    assert case.case_queries.present().count() == 2
    assert case.runs.count() == 1


def test_viewer_reads_but_cannot_rate(look: Opens, people: dict[str, User], films: str) -> None:
    case = stage.film_case(people["editor"], ["alien"], ratings={"alien": {"alien-1979": 10}})
    page = look("viewer")
    workbench = WorkbenchPage(page, case)
    expect(page.get_by_text("Viewer", exact=True)).to_be_visible()
    results = workbench.open("alien")
    _expect_nothing_to_edit(page)
    expect(page.get_by_role("radiogroup")).to_have_count(0)
    expect(page.get_by_role("group", name="Rate all shown")).to_have_count(0)
    expect(results.first.locator(".grade")).to_have_text("10")
    press(page, "j")
    press(page, "5")

    page.watch.expect(403)  # type: ignore[attr-defined]
    case_query = case.case_queries.get()
    base = f"/cases/{case.pk}/queries/{case_query.pk}/"
    assert _post(page, f"{base}rate/", doc_id="alien-1979", value="1") == 403
    assert _post(page, f"{base}rate-shown/", value="1", all="1") == 403
    assert list(Rating.objects.values_list("value", flat=True)) == [10.0]


def test_stranger_does_not_learn_that_the_case_exists(look: Opens, people: dict[str, User], films: str) -> None:
    case = stage.film_case(people["editor"], ["alien"])
    case_query = case.case_queries.get()
    page = look("stranger")
    page.watch.expect(404)  # type: ignore[attr-defined]
    page.goto("/")
    expect(page.get_by_text("Movies")).to_have_count(0)
    for url in (f"/cases/{case.pk}/", f"/cases/{case.pk}/queries/{case_query.pk}/", f"/cases/{case.pk + 1}/"):
        answer = page.goto(url)
        assert answer is not None and answer.status == 404
    page.goto("/")
    assert {_post(page, url) for url in _writes(case)} == {404}
    assert _post(page, f"/cases/{case.pk}/queries/{case_query.pk}/rate/", doc_id="alien-1979", value="1") == 404
    expect(page.get_by_role("link", name="New case").first).to_be_visible()


def test_shared_case_is_seen_by_the_team(look: Opens, people: dict[str, User], films: str) -> None:
    case = stage.film_case(people["editor"], ["alien"], team="")
    rater = look("rater")
    rater.watch.expect(404)  # type: ignore[attr-defined]
    answer = rater.goto(f"/cases/{case.pk}/")
    assert answer is not None and answer.status == 404
    page = look("editor")
    WorkbenchPage(page, case)
    page.get_by_role("link", name="Share").click()
    page.get_by_label("Share with the team").select_option("Search")
    page.locator("form", has=page.get_by_label("Share with the team")).get_by_role("button", name="Share").click()
    expect(page.get_by_text("Movies is now shared with Search.")).to_be_visible()
    WorkbenchPage(rater, case)
    expect(rater.get_by_text("Rater", exact=True)).to_be_visible()


def test_public_link_is_created_opened_without_an_account_and_withdrawn(
    look: Opens, people: dict[str, User], films: str
) -> None:
    case = stage.film_case(people["owner"], ["alien", "solaris"], ratings={"alien": {"alien-1979": 10}})
    page, anonymous = look("owner"), look()
    anonymous.watch.expect(404)  # type: ignore[attr-defined]
    WorkbenchPage(page, case)
    page.locator("#settings-tab").click()
    page.get_by_label("Valid for").select_option("7 days")
    page.get_by_role("button", name="Create public link").click()
    address = page.get_by_label("The new public link").input_value()
    anonymous.goto(address)
    expect(anonymous.get_by_role("heading", name="Movies")).to_be_visible()
    expect(anonymous.locator("#public-score .big-score > b")).to_have_text(stage.shown(stage.case_score(case).score))
    expect(anonymous.locator("#public-queries tbody tr")).to_have_count(2)
    anonymous.get_by_role("link", name="alien").click()
    results = anonymous.locator(".public-results > li")
    expect(results.filter(has_text="Alien").locator(".grade").get_by_text("10", exact=True)).to_have_count(1)
    anonymous.get_by_role("link", name="Movies").click()
    expect(anonymous.locator("#public-queries")).to_be_visible()
    for name in ("owner", "Owner", "films"):
        expect(anonymous.locator("main").get_by_text(name, exact=True)).to_have_count(0)

    page.goto(f"/cases/{case.pk}/share/")
    expect(page.get_by_label("The new public link")).to_have_count(0)
    page.get_by_role("button", name="Withdraw").click()
    expect(page.locator("#public-link-list")).to_have_count(0)
    anonymous.goto(address)
    expect(anonymous.get_by_role("heading", level=1)).to_contain_text("was withdrawn")
