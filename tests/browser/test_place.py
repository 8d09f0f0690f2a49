"""The list keeps the user's place: after a run that sorts it again, after back and reload, and in the address."""

import re

import pytest
from playwright.sync_api import Page, expect

from relevancy.models import Case, User

from . import stage
from .conftest import Opens
from .presses import Presses
from .workbench_page import WorkbenchPage

# With the boost of the title the order of the scores turns round.
TEXTS = [f"star {word}" for word in ("wars", "trek", "man", "dust", "born", "light", "night", "gate", "fall", "ship")]


@pytest.fixture
def case(people: dict[str, User], films: str) -> Case:
    ratings = {text: {"star-wars-1977": 10 - number, "solaris-1972": 1 + number} for number, text in enumerate(TEXTS)}
    return stage.film_case(people["editor"], TEXTS, ratings=ratings, knobs={"title_boost": 10})


def _top(page: Page, text: str) -> float:
    box = WorkbenchPage(page).row(text).locator("tr").first.bounding_box()
    assert box is not None
    return box["y"]


def test_an_opened_query_stays_where_it_is_when_a_run_sorts_the_list_again(look: Opens, case: Case) -> None:
    page = look("editor", viewport={"width": 1280, "height": 700})
    workbench = WorkbenchPage(page, case, "?sort=score")
    query = workbench.texts()[0]
    workbench.open(query)
    page.locator("#content").evaluate("content => { content.scrollTop = 40 }")
    before = _top(page, query)
    presses = Presses(page)
    presses.type(page.locator("[data-knob=title_boost] input[type=text]"), "0.1")
    presses.key("Control+Enter")
    expect(page.locator(".run-state")).to_contain_text("Run 2")
    expect(page.locator("#queries.is-outdated, tbody.waiting")).to_have_count(0)
    expect(workbench.results(query).first).to_be_in_viewport()
    assert abs(_top(page, query) - before) <= 1 or page.locator("#content").evaluate("it => it.scrollTop") == 0
    assert presses.count == 2


def test_opened_queries_are_in_the_address_and_come_back(look: Opens, case: Case) -> None:
    page = look("editor", viewport={"width": 1280, "height": 700})
    workbench = WorkbenchPage(page, case)
    workbench.open("star trek")
    workbench.tab("star trek", "Notes")
    pk = case.case_queries.get(query__text="star trek").pk
    expect(page).to_have_url(re.compile(rf"open={pk}&tab={pk}-notes"))
    page.locator("#content").evaluate("content => { content.scrollTop = 60 }")
    page.get_by_role("link", name="Report").or_(page.get_by_role("link", name="Settings")).first.click()
    page.wait_for_url(lambda url: "open=" not in url)
    page.go_back()
    expect(page).to_have_url(re.compile(f"open={pk}"))
    expect(workbench.row("star trek").get_by_role("tab", name="Notes")).to_have_attribute("aria-selected", "true")
    assert page.locator("#content").evaluate("it => it.scrollTop") == 60
    page.reload()
    expect(workbench.row("star trek").get_by_role("tab", name="Notes")).to_be_visible()
    workbench.opener("star trek").click()
    expect(page).not_to_have_url(re.compile("open="))
