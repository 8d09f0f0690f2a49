"""The keyboard: the keys of the help, typing in fields, and single-letter keys switched off."""

import pytest
from playwright.sync_api import Page, expect

from relevancy.models import Case, Rating, User

from . import stage
from .conftest import Opens
from .workbench_page import WorkbenchPage, press


@pytest.fixture
def case(people: dict[str, User], films: str) -> Case:
    """A case whose first query is completely rated."""
    case = stage.film_case(people["editor"], ["solaris", "star wars", "alien"])
    ranking = stage.newest_run(case).rankings.get(query__text="solaris")
    stage.rate(case, "solaris", {hit[0]: 5 for hit in ranking.hits})
    return case


def _here(page: Page) -> str:
    """The id of the element that the keys act on."""
    return page.locator("[data-key-item].is-active").evaluate("node => node.id")


def test_help_lists_the_keys_and_closes(look: Opens, case: Case) -> None:
    page = look("editor")
    WorkbenchPage(page, case)
    press(page, "?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    for line in ("Next unrated", "Rate (0 is 10)", "Take the rating back", "Open, close", "Run"):
        expect(dialog.get_by_text(line, exact=True)).to_be_visible()
    press(page, "j")
    expect(page.locator("[data-key-item].is-active")).to_have_count(0)
    press(page, "Escape")
    expect(dialog).to_be_hidden()


def test_move_open_and_out(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    ids = {case_query.query.text: f"query-{case_query.pk}" for case_query in case.case_queries.select_related("query")}
    for key, text in (("j", "solaris"), ("j", "star wars"), ("j", "alien"), ("k", "star wars")):
        press(page, key)
        assert _here(page) == ids[text]
    press(page, "Enter")
    expect(workbench.results("star wars")).to_have_count(10)
    press(page, "j")
    expect(workbench.results("star wars").first).to_have_class("result is-active")
    expect(workbench.results("star wars").first).to_be_focused()
    press(page, "k")
    press(page, "Enter")
    expect(workbench.results("star wars")).to_have_count(0)
    press(page, "Enter")
    expect(workbench.results("star wars")).to_have_count(10)
    press(page, "j")
    press(page, "Escape")
    assert _here(page) == ids["star wars"]
    menu = page.locator(f"#{ids['star wars']}").get_by_text("More about star wars").locator("xpath=../..")
    menu.locator("summary").press("Enter")
    expect(menu).to_have_attribute("open", "")
    press(page, "Escape")
    expect(menu).not_to_have_attribute("open", "")
    expect(menu.locator("summary")).to_be_focused()
    expect(workbench.results("star wars")).to_have_count(10)
    press(page, "Escape")
    expect(workbench.results("star wars")).to_have_count(0)
    assert _here(page) == ids["star wars"]
    press(page, "Escape")
    expect(page.locator("[data-key-item].is-active")).to_have_count(0)


def test_next_unrated_skips_rated_documents(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    press(page, "u")
    assert _here(page) == workbench.row("star wars").get_attribute("id")
    press(page, "Enter")
    expect(workbench.results("star wars")).to_have_count(10)
    press(page, "u")
    expect(workbench.results("star wars").first).to_have_class("result is-active")
    press(page, "0")
    expect(workbench.grade(workbench.results("star wars").first, 10)).to_have_attribute("aria-checked", "true")
    expect(workbench.score("star wars")).to_be_visible()
    press(page, "u")
    expect(workbench.results("star wars").nth(1)).to_have_class("result is-active")


def test_letters_in_fields_are_not_shortcuts(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    workbench.grade(workbench.open("star wars").first, 3).click()
    expect(workbench.score("star wars")).to_be_visible()
    before = Rating.objects.count()
    press(page, "f")
    expect(page.get_by_label("Filter queries")).to_be_focused()
    page.keyboard.type("7 ju?", delay=10)
    expect(page.get_by_label("Filter queries")).to_have_value("7 ju?")
    expect(page.get_by_text("No query contains “7 ju?”")).to_be_visible()
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    assert Rating.objects.count() == before
    press(page, "Escape")
    expect(page.get_by_label("Filter queries")).not_to_be_focused()


def test_add_run_and_template_by_key(look: Opens, case: Case) -> None:
    page = look("editor")
    WorkbenchPage(page, case)
    press(page, "a")
    expect(page.get_by_role("dialog", name="Add queries")).to_be_visible()
    press(page, "Escape")
    press(page, "g")
    press(page, "t")
    expect(page.get_by_role("textbox", name="Template")).to_be_focused()
    press(page, "Control+Enter")
    expect(page.locator("#case-score")).to_contain_text("Run 2 · attempt 1")


def test_theme_stays_after_a_reload(look: Opens, case: Case) -> None:
    page = look("editor", color_scheme="light")
    WorkbenchPage(page, case)
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    press(page, "t")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    dark = page.evaluate(paper)
    assert dark != light
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate(paper) == dark
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    assert page.evaluate(paper) == light


def test_everything_works_without_single_letter_keys(look: Opens, case: Case, people: dict[str, User]) -> None:
    page = look("editor")
    page.goto("/account/")
    keys = page.get_by_role("checkbox")
    expect(keys).to_be_checked()
    keys.uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Account saved.")).to_be_visible()
    workbench = WorkbenchPage(page, case)
    for key in ("?", "j", "t", "f", "a"):
        press(page, key)
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("[data-key-item].is-active")).to_have_count(0)
    expect(page.locator("html")).not_to_have_attribute("data-theme", "dark")

    workbench.opener("star wars").focus()
    press(page, "Enter")
    first = workbench.results("star wars").first
    expect(first).to_be_visible()
    workbench.grade(first, 1).focus()
    press(page, "7")
    press(page, "ArrowRight")
    expect(workbench.grade(first, 2)).to_be_focused()
    press(page, "Enter")
    expect(workbench.grade(first, 2)).to_have_attribute("aria-checked", "true")
    expect(workbench.score("star wars")).to_be_visible()
    expect(workbench.score("star wars")).to_have_text(stage.shown(stage.query_score(case, "star wars").score))
    page.get_by_role("textbox", name="Template").press("Control+Enter")
    expect(page.locator("#case-score")).to_contain_text("Run 2 · attempt 1")


def test_jump_opens_what_was_typed(look: Opens, case: Case) -> None:
    page = look("editor")
    page.goto("/scorers/")
    press(page, "/")
    box = page.get_by_role("search", name="Jump to").get_by_role("searchbox")
    expect(box).to_be_focused()
    results = page.locator("#jump-results")
    page.keyboard.type("star w")
    expect(results.get_by_role("link")).to_have_count(1)
    press(page, "ArrowDown")
    expect(results.get_by_role("link")).to_be_focused()
    press(page, "Escape")
    expect(box).to_be_focused()
    expect(results.get_by_role("link")).to_have_count(0)
    box.fill("solar")
    expect(results.get_by_role("link")).to_have_count(1)
    press(page, "Enter")
    case_query = case.case_queries.get(query__text="solaris")
    expect(page.locator(f"#query-{case_query.pk}.is-open")).to_be_visible()
