"""Rating one document after the other: nothing moves, the score stays visible, and wrong ratings are taken back."""

import re

from playwright.sync_api import Page, expect

from relevancy import ratings
from relevancy.models import Book, Case, Rating, User
from tests import factories

from . import stage
from .conftest import Opens
from .serving import TURN
from .workbench_page import WorkbenchPage, press

BOXES = """() => [...document.querySelectorAll(
    "#case-score, tbody.query > tr:first-child, li.result, .query-bar, .query-scores")].map((node) => {
  const box = node.getBoundingClientRect();
  return [node.id || node.className, box.x, box.y, box.width, box.height];
})"""


def _case(people: dict[str, User]) -> Case:
    return stage.film_case(people["editor"], ["star wars", "alien", "solaris"])


def _values(case: Case) -> dict[str, float]:
    return dict(Rating.objects.filter(query__book=case.book_id).values_list("doc_id", "value"))


def _rate(page: Page, workbench: WorkbenchPage, text: str, position: int, grade: int) -> None:
    workbench.grade(workbench.results(text).nth(position), grade).click()
    expect(workbench.grade(workbench.results(text).nth(position), grade)).to_have_attribute("aria-checked", "true")


def test_z_takes_back_the_last_rating_then_the_ones_before(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("rater")
    workbench = WorkbenchPage(page, case)
    workbench.open("alien")
    _rate(page, workbench, "alien", 0, 7)
    expect(workbench.score("alien")).to_be_visible()
    press(page, "j")
    workbench.row("alien").get_by_role("group", name="Rate all shown").get_by_role(
        "button", name="3", exact=True
    ).click()
    toast = workbench.toast("documents rated 3")
    expect(toast.get_by_role("button", name="Undo")).to_be_visible()
    expect(workbench.results("alien").locator(".rate.rated")).to_have_count(workbench.results("alien").count())
    press(page, "z")
    expect(workbench.toast("taken back")).to_be_visible()
    expect(workbench.results("alien").locator(".rate.rated")).to_have_count(1)
    assert list(_values(case).values()) == [7]
    page.reload()
    press(page, "z")
    expect(workbench.toast("Rating 7 of “alien” taken back")).to_be_visible()
    workbench.expect_no_score("alien")
    assert _values(case) == {}
    page.watch.expect(409)  # type: ignore[attr-defined]
    press(page, "z")
    expect(workbench.toast("no rating in this case")).to_be_visible()


def test_nothing_moves_while_documents_are_rated(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    hits = [hit[0] for hit in stage.newest_run(case).rankings.get(query__text="alien").hits]
    factories.rate_all(case, {"alien": {hits[0]: 5, hits[1]: 3}}, people["editor"])
    page = look("rater")
    workbench = WorkbenchPage(page, case)
    workbench.open("alien")
    before = page.evaluate(BOXES)
    assert len(before) > 12
    for position, grade in ((0, 9), (1, 3), (2, 1), (3, 10), (2, 4), (0, 5)):
        _rate(page, workbench, "alien", position, grade)
        page.wait_for_function("() => !document.querySelector('.htmx-request')")
        assert page.evaluate(BOXES) == before, f"Rating {grade} at place {position + 1}"


def test_names_of_other_raters_are_shown_where_they_differ(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    hits = [hit[0] for hit in stage.newest_run(case).rankings.get(query__text="alien").hits]
    factories.rate_all(case, {"alien": {hits[0]: 5}}, people["editor"])
    page = look("rater")
    workbench = WorkbenchPage(page, case)
    first = workbench.open("alien").first
    expect(first.locator(".judgments")).to_have_count(0)  # raters of the book judge blind
    _rate(page, workbench, "alien", 0, 5)
    expect(first.locator(".judgments")).to_have_count(0)
    _rate(page, workbench, "alien", 0, 2)
    expect(first.locator(".judgments")).to_contain_text(re.compile(r"5\s+editor"))
    expect(first.locator(".judgments")).to_contain_text("the latest rating counts")
    expect(first.locator(".judgments")).not_to_contain_text("rater ")


def test_row_of_an_opened_query_stays_visible(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("rater", viewport={"width": 1280, "height": 700})
    workbench = WorkbenchPage(page, case)
    results = workbench.open("alien")
    line = page.locator("table.queries thead th").first.bounding_box()
    assert line is not None
    for _ in range(8):
        press(page, "j")
    row = workbench.row("alien").locator("tr").first.locator("td").first.bounding_box()
    last = results.nth(5).bounding_box()
    assert row is not None and last is not None
    assert abs(row["y"] - line["y"] - line["height"]) <= 1, "Its row is below the head of the table."
    expect(workbench.row("alien")).to_have_class(re.compile("is-stuck"))
    page.evaluate("document.querySelector('#content').scrollTop = 0")
    expect(workbench.row("alien")).not_to_have_class(re.compile("is-stuck"))


def test_keys_continue_on_the_next_page(look: Opens, people: dict[str, User], films: str) -> None:
    case = stage.film_case(people["editor"], [f"film {number}" for number in range(1, 53)])
    page = look("editor", viewport={"width": 1280, "height": 700})
    workbench = WorkbenchPage(page, case)
    workbench.mark_document()
    page.evaluate("document.querySelector('#content').scrollTop = 1e6")
    workbench.opener("film 50").focus()
    press(page, "j")
    expect(workbench.row("film 51")).to_have_class(re.compile("is-active"))
    assert page.evaluate("document.querySelector('#content').scrollTop") == 0
    press(page, "k")
    expect(workbench.row("film 50")).to_have_class(re.compile("is-active"))
    press(page, "a")
    expect(page.get_by_label("One query to a line")).to_be_focused()
    workbench.expect_no_reload()


def _sign_in_elsewhere(page: Page, email: str) -> None:
    other = page.context.new_page()
    other.goto("/account/")
    other.get_by_label("E-mail").fill(email)
    other.get_by_label("Password").fill(stage.PASSWORD)
    other.get_by_role("button", name="Sign in", exact=True).click()
    expect(other.get_by_role("button", name="Save")).to_be_visible()
    other.close()
    page.evaluate("dispatchEvent(new Event('focus'))")


def test_rating_given_while_signed_out_is_sent_after_signing_in_elsewhere(
    look: Opens, people: dict[str, User], films: str
) -> None:
    """Signing in also replaces the token that the forms of the page were rendered with."""
    case = _case(people)
    page = look("rater")
    page.watch.expect(401, 403)  # type: ignore[attr-defined]
    workbench = WorkbenchPage(page, case)
    workbench.mark_document()
    workbench.open("alien")
    page.context.clear_cookies()
    for position, grade in ((0, 7), (1, 2)):
        workbench.grade(workbench.results("alien").nth(position), grade).click()
    toast = workbench.toast("You are signed out")
    expect(toast).to_have_count(1)
    expect(toast.get_by_role("link", name="Sign in")).to_have_attribute("href", "/account/")
    expect(page.locator("form[data-rate].unsaved")).to_have_count(2)
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect(page.locator("form[data-rate].unsaved")).to_have_count(2)
    assert _values(case) == {}

    _sign_in_elsewhere(page, people["rater"].email)
    expect(page.locator("form[data-rate].unsaved")).to_have_count(0)
    expect(toast).to_have_count(0)
    assert sorted(_values(case).values()) == [2, 7]
    assert {rating.rater for rating in Rating.objects.filter(query__book=case.book_id)} == {people["rater"]}
    workbench.expect_no_reload()


def test_rating_is_not_sent_as_another_user(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("rater")
    page.watch.expect(401, 403)  # type: ignore[attr-defined]
    workbench = WorkbenchPage(page, case)
    workbench.open("alien")
    page.context.clear_cookies()
    workbench.grade(workbench.results("alien").first, 7).click()
    expect(workbench.toast("You are signed out")).to_have_count(1)
    _sign_in_elsewhere(page, people["editor"].email)
    expect(workbench.toast("Another user is signed in")).to_have_count(1)
    expect(page.locator("form[data-rate].unsaved")).to_have_count(1)
    assert _values(case) == {}


def test_digit_goes_on_to_the_next_result_if_the_user_wants(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("rater")
    workbench = WorkbenchPage(page, case)
    workbench.open("alien")
    press(page, "?")
    page.get_by_label("Go to the next result after a digit").check()
    press(page, "Escape")
    page.reload()
    workbench.open("alien")
    workbench.results("alien").first.focus()
    for digit in "731":
        press(page, digit)
    for position, grade in enumerate((7, 3, 1)):
        expect(workbench.grade(workbench.results("alien").nth(position), grade)).to_have_attribute(
            "aria-checked", "true"
        )
    expect(workbench.results("alien").nth(3)).to_be_focused()


def test_rating_of_another_user_arrives_without_a_reload(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    Book.objects.update(raters_are_blind=False)
    page = look("rater")
    workbench = WorkbenchPage(page, case)
    workbench.mark_document()
    workbench.open("alien")
    workbench.results("alien").nth(2).focus()
    before = page.evaluate(BOXES)
    with page.expect_response("**/changes/?since=*"):
        pass
    with TURN:
        ratings.rate(query=factories.query_of(case, "alien"), doc_id="alien-1979", value=9, by=people["editor"])
    expect(workbench.score("alien")).to_be_visible(timeout=15000)
    expect(workbench.case_score).to_have_text(stage.shown(stage.case_score(case).score))
    expect(workbench.row("alien").locator(".other-raters").filter(has_text="Editor")).to_have_count(1)
    expect(workbench.results("alien").nth(2)).to_be_focused()
    assert [box[1:] for box in page.evaluate(BOXES)][1:] == [box[1:] for box in before][1:]
    workbench.expect_no_reload()
