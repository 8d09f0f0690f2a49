"""Rating one document after the other: nothing moves, the score stays visible, and wrong ratings are taken back."""

import re

from playwright.sync_api import Page, expect

from relevancy.models import Case, Rating, User
from tests import factories

from . import stage
from .bench_page import BenchPage, press
from .conftest import Opens

BOXES = """() => [...document.querySelectorAll(
    "#case-score, tbody.query > tr:first-child, li.result, .query-bar, .query-scores")].map((node) => {
  const box = node.getBoundingClientRect();
  return [node.id || node.className, box.x, box.y, box.width, box.height];
})"""


def _case(people: dict[str, User]) -> Case:
    return stage.film_case(people["editor"], ["star wars", "alien", "solaris"])


def _values(case: Case) -> dict[str, float]:
    return dict(Rating.objects.filter(query__book=case.book_id).values_list("doc_id", "value"))


def _rate(page: Page, bench: BenchPage, text: str, place: int, grade: int) -> None:
    bench.grade(bench.results(text).nth(place), grade).click()
    expect(bench.grade(bench.results(text).nth(place), grade)).to_have_attribute("aria-checked", "true")


def test_z_takes_back_the_last_rating_then_the_ones_before(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("rater")
    bench = BenchPage(page, case)
    bench.open("alien")
    _rate(page, bench, "alien", 0, 7)
    expect(bench.score("alien")).to_be_visible()
    press(page, "j")
    bench.row("alien").get_by_role("group", name="Rate all shown").get_by_role("button", name="3", exact=True).click()
    toast = bench.toast("documents rated 3")
    expect(toast.get_by_role("button", name="Undo")).to_be_visible()
    expect(bench.results("alien").locator(".rate.rated")).to_have_count(bench.results("alien").count())
    press(page, "z")
    expect(bench.toast("taken back")).to_be_visible()
    expect(bench.results("alien").locator(".rate.rated")).to_have_count(1)
    assert list(_values(case).values()) == [7]
    page.reload()
    press(page, "z")
    expect(bench.toast("Rating 7 of “alien” taken back")).to_be_visible()
    bench.expect_no_score("alien")
    assert _values(case) == {}
    page.watch.expect(409)  # type: ignore[attr-defined]
    press(page, "z")
    expect(bench.toast("no rating in this case")).to_be_visible()


def test_nothing_moves_while_documents_are_rated(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    hits = [hit[0] for hit in stage.newest_run(case).rankings.get(query__text="alien").hits]
    factories.rate_all(case, {"alien": {hits[0]: 5, hits[1]: 3}}, people["editor"])
    page = look("rater")
    bench = BenchPage(page, case)
    bench.open("alien")
    before = page.evaluate(BOXES)
    assert len(before) > 12
    for place, grade in ((0, 9), (1, 3), (2, 1), (3, 10), (2, 4), (0, 5)):
        _rate(page, bench, "alien", place, grade)
        page.wait_for_function("() => !document.querySelector('.htmx-request')")
        assert page.evaluate(BOXES) == before, f"Rating {grade} at place {place + 1}"


def test_names_of_other_raters_are_shown_where_they_differ(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    hits = [hit[0] for hit in stage.newest_run(case).rankings.get(query__text="alien").hits]
    factories.rate_all(case, {"alien": {hits[0]: 5}}, people["editor"])
    page = look("rater")
    bench = BenchPage(page, case)
    first = bench.open("alien").first
    expect(first.locator(".judgments")).to_contain_text(re.compile(r"editor\s+5"))
    _rate(page, bench, "alien", 0, 5)
    expect(first.locator(".judgments")).to_have_count(0)
    _rate(page, bench, "alien", 0, 2)
    expect(first.locator(".judgments")).to_contain_text(re.compile(r"editor\s+5"))
    expect(first.locator(".judgments")).to_contain_text("the newest rating counts")
    expect(first.locator(".judgments")).not_to_contain_text("rater ")


def test_row_of_an_opened_query_stays_visible(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("rater", viewport={"width": 1280, "height": 700})
    bench = BenchPage(page, case)
    results = bench.open("alien")
    line = page.locator("table.queries thead th").first.bounding_box()
    assert line is not None
    for _ in range(8):
        press(page, "j")
    row = bench.row("alien").locator("tr").first.locator("td").first.bounding_box()
    last = results.nth(5).bounding_box()
    assert row is not None and last is not None
    assert abs(row["y"] - line["y"] - line["height"]) <= 1, "Its row is below the head of the table."
    expect(bench.row("alien")).to_have_class(re.compile("is-stuck"))
    page.evaluate("document.querySelector('#content').scrollTop = 0")
    expect(bench.row("alien")).not_to_have_class(re.compile("is-stuck"))


def test_keys_continue_on_the_next_page(look: Opens, people: dict[str, User], films: str) -> None:
    case = stage.film_case(people["editor"], [f"film {number}" for number in range(1, 53)])
    page = look("editor", viewport={"width": 1280, "height": 700})
    bench = BenchPage(page, case)
    bench.mark_document()
    page.evaluate("document.querySelector('#content').scrollTop = 1e6")
    bench.opener("film 50").focus()
    press(page, "j")
    expect(bench.row("film 51")).to_have_class(re.compile("is-active"))
    assert page.evaluate("document.querySelector('#content').scrollTop") == 0
    press(page, "k")
    expect(bench.row("film 50")).to_have_class(re.compile("is-active"))
    press(page, "a")
    expect(page.get_by_label("One query to a line")).to_be_focused()
    bench.expect_no_reload()
