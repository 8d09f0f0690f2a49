"""The first steps of a new user: from signing in, through a new case, to a rated query whose score changes."""

import pytest
from playwright.sync_api import Page, expect

from relevancy.models import Case, Rating, StoredIndex, User

from . import stage
from .conftest import Opens
from .workbench_page import WorkbenchPage, press

QUERIES = "star wars\nstar trek\ntom hanks\n\nalien\n"


def _sign_in(page: Page, who: User) -> None:
    page.goto("/")
    expect(page).to_have_url("/login/?next=/")
    page.get_by_label("E-mail").fill(who.email)
    page.get_by_label("Password").fill(stage.PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="No cases yet")).to_be_visible()


def _new_case(page: Page) -> None:
    page.locator(".panel > header").get_by_role("link", name="New case").click()
    page.get_by_label("Name", exact=True).fill("Movies")
    page.get_by_label("Another scale").check()
    page.get_by_label("Scale", exact=True).fill("1:10")
    press(page, "Enter")  # continues, in every step: the first button in the markup would be “Back”

    page.get_by_label("Name of the endpoint").fill("films")
    page.get_by_label("Embedded").check()
    page.get_by_label("Address").fill("films")
    page.get_by_label("Try it with the query").fill("star wars")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#connection-test")).to_contain_text("tantivy")
    expect(page.locator("#connection-test li.result")).to_have_count(3)
    page.get_by_label("Name of the endpoint").focus()
    press(page, "Enter")

    expect(page.get_by_label("Title", exact=True)).to_have_value("title")
    expect(page.get_by_label("Document id")).to_have_value("id")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#connection-test li.result").first).to_contain_text("Star Wars")
    page.get_by_label("Title", exact=True).focus()
    press(page, "Enter")

    page.get_by_role("textbox", name="Queries").fill(QUERIES)
    page.get_by_role("button", name="Create and run").click()
    expect(page.get_by_role("heading", name="Movies", level=1)).to_be_visible()


def test_walk_from_sign_in_to_a_changed_score(look: Opens, people: dict[str, User], films: str) -> None:
    StoredIndex.objects.create(engine="embedded", name=films, owner=people["editor"])
    page = look()
    _sign_in(page, people["editor"])
    _new_case(page)
    case = Case.objects.get(name="Movies")
    workbench = WorkbenchPage(page)
    assert workbench.texts() == ["star wars", "star trek", "tom hanks", "alien"]
    assert [grade for grade, _ in case.book.scale] == list(range(1, 11))
    expect(workbench.case_score).to_have_text("–")
    workbench.mark_document()

    press(page, "j")
    press(page, "Enter")
    expect(workbench.results("star wars")).to_have_count(10)
    press(page, "j")
    press(page, "8")
    expect(workbench.score("star wars")).to_be_visible()
    first = stage.query_score(case, "star wars").score
    expect(workbench.score("star wars")).to_have_text(stage.shown(first))
    expect(workbench.case_score).to_have_text(stage.shown(stage.case_score(case).score))
    assert first is not None
    assert stage.case_score(case).scored == 1
    expect(workbench.row("star wars").locator("td").nth(6)).to_have_text("9")

    press(page, "j")
    press(page, "2")
    expect(workbench.score("star wars")).not_to_have_text(stage.shown(first))
    second = stage.query_score(case, "star wars").score
    assert second is not None and second < first
    expect(workbench.score("star wars")).to_have_text(stage.shown(second))
    expect(workbench.case_score).to_have_text(stage.shown(stage.case_score(case).score))

    press(page, "Backspace")
    expect(workbench.score("star wars")).to_have_text(stage.shown(first))
    expect(workbench.case_score).to_have_text(stage.shown(first))
    assert stage.query_score(case, "star wars").score == pytest.approx(first)
    press(page, "k")
    press(page, "Backspace")
    workbench.expect_no_score("star wars")
    expect(workbench.case_score).to_have_text("–")
    assert not Rating.objects.exists()
    workbench.expect_no_reload()


def test_rate_by_mouse_and_take_back(look: Opens, people: dict[str, User], films: str) -> None:
    case = stage.film_case(people["editor"], ["star wars", "alien"])
    workbench = WorkbenchPage(look("editor"), case)
    workbench.mark_document()
    first = workbench.open("alien").first
    expect(first).to_contain_text("Alien")
    workbench.grade(first, 10).click()
    expect(workbench.score("alien")).to_be_visible()
    expect(workbench.grade(first, 10)).to_have_attribute("aria-checked", "true")
    expect(first.locator(".judgments")).to_have_count(0)  # only other raters are named, and there are none
    score = stage.query_score(case, "alien").score
    expect(workbench.score("alien")).to_have_text(stage.shown(score))
    expect(workbench.case_score).to_have_text(stage.shown(score))

    workbench.grade(first, 3).click()
    expect(workbench.score("alien")).not_to_have_text(stage.shown(score))
    expect(workbench.score("alien")).to_have_text(stage.shown(stage.query_score(case, "alien").score))
    workbench.grade(first, 3).click()
    workbench.expect_no_score("alien")
    expect(workbench.case_score).to_have_text("–")
    assert not Rating.objects.exists()
    workbench.expect_no_reload()


def test_rate_all_shown_keeps_what_is_rated(look: Opens, people: dict[str, User], films: str) -> None:
    case = stage.film_case(people["editor"], ["star wars"])
    workbench = WorkbenchPage(look("editor"), case)
    workbench.mark_document()
    results = workbench.open("star wars")
    workbench.grade(results.nth(2), 10).click()
    expect(workbench.score("star wars")).to_be_visible()
    all_shown = workbench.row("star wars").get_by_role("group", name="Rate all shown")
    expect(workbench.row("star wars")).to_contain_text("9 documents not rated by you")
    all_shown.get_by_role("button", name="4", exact=True).click()
    expect(workbench.toast("9 documents rated 4")).to_be_visible()
    expect(workbench.results("star wars").get_by_role("radio", name="4", checked=True)).to_have_count(9)
    expect(workbench.results("star wars").get_by_role("radio", name="10", checked=True)).to_have_count(1)
    expect(workbench.row("star wars").locator("td").nth(6)).to_have_text("")
    expect(workbench.case_score).to_have_text(stage.shown(stage.case_score(case).score))
    assert sorted(Rating.objects.values_list("value", flat=True)) == [4.0] * 9 + [10.0]
    workbench.expect_no_reload()
