"""The first steps of a new user: from signing in, through a new case, to a rated query whose score changes."""

import pytest
from playwright.sync_api import Page, expect

from relevancy.models import Case, Rating, StoredIndex, User

from . import stage
from .bench_page import BenchPage, press
from .conftest import Opens

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
    expect(page.locator("#trial")).to_contain_text("tantivy")
    expect(page.locator("#trial li.result")).to_have_count(3)
    page.get_by_label("Name of the endpoint").focus()
    press(page, "Enter")

    expect(page.get_by_label("Title", exact=True)).to_have_value("title")
    expect(page.get_by_label("Document id")).to_have_value("id")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#trial li.result").first).to_contain_text("Star Wars")
    page.get_by_label("Title", exact=True).focus()
    press(page, "Enter")

    page.get_by_label("Queries").fill(QUERIES)
    page.get_by_role("button", name="Create and run").click()
    expect(page.get_by_role("heading", name="Movies", level=1)).to_be_visible()


def test_walk_from_sign_in_to_a_changed_score(look: Opens, people: dict[str, User], films: str) -> None:
    StoredIndex.objects.create(engine="embedded", name=films, owner=people["editor"])
    page = look()
    _sign_in(page, people["editor"])
    _new_case(page)
    case = Case.objects.get(name="Movies")
    bench = BenchPage(page)
    assert bench.texts() == ["star wars", "star trek", "tom hanks", "alien"]
    assert [grade for grade, _ in case.book.scale] == list(range(1, 11))
    expect(bench.case_score).to_have_text("–")
    bench.mark_document()

    press(page, "j")
    press(page, "Enter")
    expect(bench.results("star wars")).to_have_count(10)
    press(page, "j")
    press(page, "8")
    expect(bench.score("star wars")).to_be_visible()
    first = stage.query_score(case, "star wars").score
    expect(bench.score("star wars")).to_have_text(stage.shown(first))
    expect(bench.case_score).to_have_text(stage.shown(stage.case_score(case).score))
    assert first is not None
    assert stage.case_score(case).scored == 1
    expect(bench.row("star wars").locator("td").nth(6)).to_have_text("9")

    press(page, "j")
    press(page, "2")
    expect(bench.score("star wars")).not_to_have_text(stage.shown(first))
    second = stage.query_score(case, "star wars").score
    assert second is not None and second < first
    expect(bench.score("star wars")).to_have_text(stage.shown(second))
    expect(bench.case_score).to_have_text(stage.shown(stage.case_score(case).score))

    press(page, "Backspace")
    expect(bench.score("star wars")).to_have_text(stage.shown(first))
    expect(bench.case_score).to_have_text(stage.shown(first))
    assert stage.query_score(case, "star wars").score == pytest.approx(first)
    press(page, "k")
    press(page, "Backspace")
    bench.expect_no_score("star wars")
    expect(bench.case_score).to_have_text("–")
    assert not Rating.objects.exists()
    bench.expect_no_reload()


def test_rate_by_mouse_and_take_back(look: Opens, people: dict[str, User], films: str) -> None:
    case = stage.film_case(people["editor"], ["star wars", "alien"])
    bench = BenchPage(look("editor"), case)
    bench.mark_document()
    first = bench.open("alien").first
    expect(first).to_contain_text("Alien")
    bench.grade(first, 10).click()
    expect(bench.score("alien")).to_be_visible()
    expect(bench.grade(first, 10)).to_have_attribute("aria-checked", "true")
    expect(first.locator(".judgments")).to_have_count(0)  # only other raters are named, and there are none
    score = stage.query_score(case, "alien").score
    expect(bench.score("alien")).to_have_text(stage.shown(score))
    expect(bench.case_score).to_have_text(stage.shown(score))

    bench.grade(first, 3).click()
    expect(bench.score("alien")).not_to_have_text(stage.shown(score))
    expect(bench.score("alien")).to_have_text(stage.shown(stage.query_score(case, "alien").score))
    bench.grade(first, 3).click()
    bench.expect_no_score("alien")
    expect(bench.case_score).to_have_text("–")
    assert not Rating.objects.exists()
    bench.expect_no_reload()


def test_rate_all_shown_keeps_what_is_rated(look: Opens, people: dict[str, User], films: str) -> None:
    case = stage.film_case(people["editor"], ["star wars"])
    bench = BenchPage(look("editor"), case)
    bench.mark_document()
    results = bench.open("star wars")
    bench.grade(results.nth(2), 10).click()
    expect(bench.score("star wars")).to_be_visible()
    all_shown = bench.row("star wars").get_by_role("group", name="Rate all shown")
    expect(bench.row("star wars")).to_contain_text("9 documents not rated by you")
    all_shown.get_by_role("button", name="4", exact=True).click()
    expect(bench.toast("9 documents rated 4")).to_be_visible()
    expect(bench.results("star wars").get_by_role("radio", name="4", checked=True)).to_have_count(9)
    expect(bench.results("star wars").get_by_role("radio", name="10", checked=True)).to_have_count(1)
    expect(bench.row("star wars").locator("td").nth(6)).to_have_text("")
    expect(bench.case_score).to_have_text(stage.shown(stage.case_score(case).score))
    assert sorted(Rating.objects.values_list("value", flat=True)) == [4.0] * 9 + [10.0]
    bench.expect_no_reload()
