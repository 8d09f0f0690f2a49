"""Queries on the workbench: added in several ways, filtered, sorted, paged, edited, removed."""

import pytest
from playwright.sync_api import Page, expect

from relevancy.models import Case, User

from . import stage
from .conftest import Opens
from .workbench_page import WorkbenchPage

SCRIPT = "<script>alert(1)</script>"
ODD = ["🙂 smile", "“curly” and \"straight\" 'quotes'", SCRIPT, "{{ 7|add:7 }} #$query## & <b>"]


@pytest.fixture
def case(people: dict[str, User], films: str) -> Case:
    ratings = {"star wars": {"star-wars-1977": 10}, "alien": {"alien-1979": 3}}
    return stage.film_case(people["editor"], ["star wars", "alien", "zzzzz", "jaws"], ratings=ratings)


def _add(page: Page, text: str) -> None:
    if not page.locator("#add-queries").is_visible():
        page.get_by_role("link", name="Add queries").click()
    page.get_by_label("One query to a line").fill(text)
    page.locator("#add-queries").get_by_role("button", name="Add queries").click()


def test_add_queries_in_several_ways(look: Opens, case: Case) -> None:
    page = look("editor")
    page.watch.expect(422)  # type: ignore[attr-defined]
    page.on("dialog", lambda dialog: pytest.fail(f"A query ran as a script: {dialog.message}"))
    workbench = WorkbenchPage(page, case)
    long, longest = "x" * 2049, "y" * 2048
    _add(page, "\n".join(["", "alien", "  ", *ODD, ODD[0], long, longest, ""]))
    form = page.locator("#add-queries")
    expect(form).to_contain_text("Line 9")
    expect(form).to_contain_text("2,049 characters; a query can have at most 2,048")
    expect(form).to_contain_text("5 queries added")
    expect(page.get_by_label("One query to a line")).to_have_value(long)
    assert case.case_queries.present().count() == 9

    _add(page, "heat")
    expect(workbench.toast("“heat” added")).to_be_visible()
    assert workbench.texts() == ["star wars", "alien", "zzzzz", "jaws", *ODD, longest, "heat"]
    expect(page.get_by_role("note")).to_contain_text("6 queries are new since run 1")
    workbench.opener(SCRIPT).click()
    expect(workbench.row(SCRIPT)).to_contain_text("Search again to see them")
    page.get_by_role("note").get_by_role("button", name="Search the 6 new queries").click()
    expect(page.get_by_role("note")).to_have_count(0)
    expect(page.locator("tbody.query .pill.info")).to_have_count(0)
    expect(workbench.row(longest).locator(".pill")).to_have_text("no results")
    assert stage.newest_run(case).status == "complete"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_adding_existing_queries_says_so(look: Opens, case: Case) -> None:
    page = look("editor")
    page.watch.expect(422)  # type: ignore[attr-defined]
    WorkbenchPage(page, case)
    _add(page, "alien\n\nalien")
    expect(page.locator("#add-queries")).to_contain_text("already in the case: alien")
    assert case.case_queries.count() == 4


def test_remove_with_undo(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    score = workbench.case_score.inner_text()
    workbench.open("star wars")
    workbench.menu("star wars").get_by_role("button", name="Remove").click()
    expect(workbench.row("star wars")).to_have_count(0)
    expect(workbench.case_score).not_to_have_text(score)
    expect(workbench.case_score).to_have_text(stage.shown(stage.case_score(case).score))
    assert case.case_queries.present().count() == 3
    workbench.toast("“star wars” removed").get_by_role("button", name="Undo").click()
    expect(workbench.row("star wars")).to_be_visible()
    expect(workbench.case_score).to_have_text(score)
    assert workbench.texts() == ["star wars", "alien", "zzzzz", "jaws"]


def test_edited_query_is_marked_until_it_is_searched(look: Opens, case: Case) -> None:
    page = look("editor")
    page.watch.expect(422)  # type: ignore[attr-defined]
    workbench = WorkbenchPage(page, case)
    workbench.open("jaws")
    workbench.menu("jaws").get_by_role("link", name="Edit", exact=True).click()
    dialog = page.get_by_role("dialog", name="Edit query")
    text = dialog.get_by_label("Text", exact=True)
    expect(text).to_be_focused()
    text.fill("alien")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator(".bad").first).to_contain_text("The book already has a query “alien”")
    text.fill("star trek")
    dialog.get_by_label("Options").fill('{"lang": }')
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator(".bad").first).to_contain_text("line 1, column 10")
    dialog.get_by_label("Options").fill("")
    dialog.get_by_role("button", name="Save").click()
    expect(workbench.row("star trek").locator(".pill")).to_have_text("edited")
    expect(page.get_by_role("note")).to_contain_text("1 query was edited")
    page.wait_for_load_state(
        "load"
    )  # saving opens the page again; before its scripts run, the form would open another one
    page.get_by_role("note").get_by_role("button", name="Search it").click()
    expect(workbench.row("star trek").locator(".pill")).to_have_count(0)
    expect(workbench.results("star trek").first).to_contain_text("Star Trek")  # it has stayed open


def test_filter_states_and_clear(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    workbench.mark_document()
    page.get_by_label("Filter queries").fill("AL")
    expect(page.locator("tbody.query")).to_have_count(1)
    expect(page).to_have_url(f"/cases/{case.pk}/?q=AL&state=")
    page.get_by_label("Filter queries").fill("nosuchquery")
    expect(page.get_by_text("No query contains “nosuchquery”")).to_be_visible()
    workbench.expect_no_reload()
    page.get_by_role("link", name="Clear").click()
    expect(page.locator("tbody.query")).to_have_count(4)
    expect(page.get_by_label("Filter queries")).to_have_value("")
    page.wait_for_load_state("load")

    page.get_by_label("State").select_option("Only unrated")
    expect(page.locator("tbody.query")).to_have_count(3)
    assert "zzzzz" not in workbench.texts()
    page.get_by_label("State").select_option("No results")
    expect(page.locator("tbody.query")).to_have_count(1)
    expect(workbench.row("zzzzz").locator(".pill")).to_have_text("no results")


def test_sort_by_columns(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    page.get_by_role("link", name="Score", exact=True).click()
    expect(page.get_by_role("columnheader", name="Score")).to_have_attribute("aria-sort", "ascending")
    assert workbench.texts()[:2] == ["alien", "star wars"]
    page.get_by_role("link", name="Score", exact=True).click()
    expect(page.get_by_role("columnheader", name="Score")).to_have_attribute("aria-sort", "descending")
    assert workbench.texts()[:2] == ["star wars", "alien"]
    page.get_by_role("link", name="Query", exact=True).click()
    expect(page.get_by_role("columnheader", name="Query")).to_have_attribute("aria-sort", "ascending")
    assert workbench.texts() == ["alien", "jaws", "star wars", "zzzzz"]
    page.reload()
    assert workbench.texts() == ["alien", "jaws", "star wars", "zzzzz"]


def test_pages_of_many_queries(look: Opens, people: dict[str, User], films: str) -> None:
    case = stage.film_case(people["editor"], [f"alien {number:03}" for number in range(1, 121)])
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    workbench.mark_document()
    expect(page.locator("tbody.query")).to_have_count(50)
    expect(page.get_by_role("navigation", name="Pages")).to_contain_text("1–50 of 120 queries")
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_role("navigation", name="Pages")).to_contain_text("51–100 of 120 queries")
    assert workbench.texts()[0] == "alien 051"
    expect(workbench.row("alien 051").locator(".position")).to_have_text("51")
    page.get_by_role("link", name="Next").click()
    expect(page.locator("tbody.query")).to_have_count(20)
    workbench.grade(workbench.open("alien 120").first, 7).click()
    expect(workbench.score("alien 120")).to_be_visible()
    expect(workbench.row("alien 120").locator(".position")).to_have_text("120")
    page.get_by_label("Filter queries").fill("alien 01")
    expect(page.get_by_role("navigation", name="Pages")).to_have_count(0)
    expect(page.locator("tbody.query")).to_have_count(10)
    workbench.expect_no_reload()
    page.go_back()
    expect(page.get_by_role("navigation", name="Pages")).to_contain_text("101–120 of 120 queries")
