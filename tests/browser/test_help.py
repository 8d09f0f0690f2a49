"""The help, words with an explanation, the menu of a phone, and the keys that lead to tabs."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from relevancy.models import Case, User

from . import stage
from .conftest import Opens
from .workbench_page import press

TOOLTIP = "node => getComputedStyle(node, '::after').content"


def add_term(page: Page) -> None:
    """Puts a word into a table that scrolls, as pages have them; styles by script are allowed, those of HTML are not."""
    page.evaluate(
        """() => {
          const box = document.createElement("div");
          box.id = "box";
          box.style.cssText = "overflow: auto; height: 24px; width: 200px; margin-left: auto";
          box.innerHTML = '<a class="term" id="word" href="#p" aria-description="A sentence that explains it.">p</a>';
          document.querySelector("main").prepend(box);
        }"""
    )


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_a_word_is_explained_on_focus_and_on_hover_outside_of_what_scrolls(look: Opens, size: tuple[int, int]) -> None:
    page = look("rater", viewport={"width": size[0], "height": size[1]})
    page.goto("/help/statistics/")
    add_term(page)
    word = page.locator("#word")
    assert word.evaluate(TOOLTIP) == "none"
    before = page.locator("h1").bounding_box()
    word.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(word).to_be_focused()
    assert word.evaluate(TOOLTIP).startswith('"A sentence')
    assert page.locator("h1").bounding_box() == before
    assert page.locator("#box").evaluate("box => box.scrollHeight <= box.clientHeight")
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]
    word.evaluate("node => node.blur()")
    word.hover()
    assert word.evaluate(TOOLTIP).startswith('"A sentence')


def test_help_opens_at_its_section_and_is_searched(look: Opens) -> None:
    page = look("rater")
    page.goto("/books/")
    press(page, "?")
    page.get_by_role("dialog", name="Keys").get_by_role("link", name="Help on this page").click()
    expect(page).to_have_url("/help/judging/")
    press(page, "f")
    page.keyboard.type("adjudicator")
    page.keyboard.press("Enter")
    page.locator(".help-hits a").first.click()
    expect(page.locator("mark").first).to_be_visible()


def test_the_menu_of_a_phone_leads_everywhere(look: Opens) -> None:
    """G43."""
    page = look("owner", viewport={"width": 390, "height": 844})
    page.goto("/")
    expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
    page.get_by_text("Menu", exact=True).click()
    page.get_by_role("navigation", name="Menu").get_by_role("link", name="Scorers").click()
    expect(page).to_have_url("/scorers/")


def test_g_c_compares(look: Opens, people: dict[str, User], films: str) -> None:
    """G49."""
    case: Case = stage.film_case(people["owner"], ["star wars"])
    page = look("owner")
    page.goto(f"/cases/{case.pk}/history/")
    press(page, "g")
    press(page, "c")
    expect(page).to_have_url(f"/cases/{case.pk}/compare/")
    press(page, "g")
    press(page, "q")
    expect(page.locator("#queries-tab")).to_have_attribute("aria-current", "page")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_in_the_help(look: Opens, width: int, scheme: str) -> None:
    page = look("owner", viewport={"width": width, "height": 844}, color_scheme=scheme)
    for address in ("/help/", "/help/?q=interval", "/help/statistics/?q=interval#interval", "/help/commands/"):
        page.goto(address)
        menu = ".main-menu > summary" if width < 900 else ".account > summary"
        page.locator(menu).click()
        violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        assert [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in violations] == [], address
        assert page.evaluate("document.documentElement.scrollWidth") == width, address
