"""A sitting of judging by keyboard alone, one on a phone, and what happens when the server is away."""

import re

from playwright.sync_api import Page, expect

from relevancy import books, judging, runs
from relevancy.models import Case, Endpoint, JudgingPair, Rating, User, Verdict
from relevancy.optional.preferences.models import Preference, PreferenceTest
from tests import factories

from . import stage
from .conftest import Opens

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def _case(people: dict[str, User]) -> Case:
    case = stage.film_case(people["editor"], ["star wars", "alien"])
    judging.set_judging(book=case.book, depth=3, ratings_per_pair=1, order="query")
    judging.build_judging_queue(book=case.book)
    return case


def _open(page: Page, case: Case) -> None:
    page.goto(f"/books/{case.book_id}/judge/")
    expect(page.locator("#judge-slot [data-card]")).to_be_visible()


def _card(page: Page) -> str:
    return page.locator("#judge-slot [data-card]").get_attribute("data-card") or ""


def _values(people: dict[str, User], name: str = "rater") -> list[float | None]:
    rows = Rating.objects.filter(rater=people[name]).order_by("updated_at")
    return [row.value for row in rows]


def _expect_left(page: Page, left: int) -> None:
    expect(page.locator("#judge-progress")).to_have_attribute("data-left", str(left))


def test_a_sitting_by_keyboard(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("rater")
    _open(page, case)
    first = _card(page)
    page.keyboard.press("0")
    expect(page.locator("#judge-slot [data-card]")).not_to_have_attribute("data-card", first)
    second = _card(page)
    _expect_left(page, 5)
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#judge-slot [data-card]")).to_have_attribute("data-card", first)
    expect(page.locator("#judge-slot .choice[aria-pressed=true]")).to_have_attribute("value", "10")
    page.keyboard.press("9")
    expect(page.locator("#judge-slot [data-card]")).to_have_attribute("data-card", second)
    page.keyboard.press("c")
    expect(page.get_by_role("button", name="The query is not clear")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#judge-slot [data-card]")).not_to_have_attribute("data-card", second)
    third = _card(page)
    page.keyboard.press("l")
    expect(page.locator("#judge-slot [data-card]")).not_to_have_attribute("data-card", third)
    _expect_left(page, 4)
    page.keyboard.press("n")
    expect(page.locator("#judge-slot textarea")).to_be_focused()
    page.keyboard.type("A sequel")
    page.keyboard.press("Escape")
    page.keyboard.press("4")
    _expect_left(page, 3)
    assert Rating.objects.get(rater=people["rater"], value=4).note == "A sequel"
    page.keyboard.press("p")
    expect(page.locator("#judge-continue")).to_be_visible()
    assert not JudgingPair.objects.exclude(claimed_by=None).exists()
    page.locator("#judge-continue").press("Enter")
    expect(page.locator("#judge-slot [data-card]")).to_be_visible()
    page.wait_for_load_state()  # keys count from then on
    page.keyboard.press("z")
    expect(page.locator("#toasts")).to_contain_text("taken back")
    _expect_left(page, 4)
    page.wait_for_load_state()  # keys count from then on
    for _ in range(3):
        card = _card(page)
        page.keyboard.press("5")
        expect(page.locator("#judge-slot [data-card]")).not_to_have_attribute("data-card", card)
    expect(page.locator("#judge-slot [data-card]")).to_have_attribute("data-card", third)
    page.keyboard.press("6")
    expect(page.locator("#judge-slot .empty")).to_be_visible()
    _expect_left(page, 0)
    assert sorted(value for value in _values(people) if value is not None) == [5, 5, 5, 6, 9]
    assert Rating.objects.get(rater=people["rater"], verdict=Verdict.CANNOT).note == "The query is not clear"


def test_a_grade_of_a_former_scale_loads_the_page_again(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("rater")
    _open(page, case)
    settings = books.book_settings(rule="latest", scale=[[0, "no"], [1, "yes"]])
    books.change_settings(book=case.book, settings=settings, new_grades={}, by=people["editor"])
    page.watch.expect(409)  # type: ignore[attr-defined]
    page.keyboard.press("1")
    expect(page.locator("#toasts")).to_contain_text("has been changed since this page was opened")
    expect(page.locator("#judge-slot .choice")).to_have_count(2)
    _expect_left(page, 6)
    assert not Rating.objects.exists()
    page.wait_for_load_state()  # keys count from then on
    page.keyboard.press("1")
    _expect_left(page, 5)
    assert _values(people) == [1]


def test_a_sitting_on_a_phone(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("rater", **PHONE)
    _open(page, case)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    buttons = page.locator("#judge-slot .choice, #judge-slot .judge-actions .button")
    for number in range(buttons.count()):
        box = buttons.nth(number).bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert box["width"] >= 44
        assert box["y"] + box["height"] <= 844  # no scrolling to the buttons
    for left in (5, 4, 3):
        card = _card(page)
        page.locator("#judge-slot .choice").nth(6).tap()
        expect(page.locator("#judge-slot [data-card]")).not_to_have_attribute("data-card", card)
        _expect_left(page, left)
    assert _values(people) == [7, 7, 7]


def test_ratings_are_kept_while_the_server_is_away(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("rater")
    _open(page, case)
    page.context.set_offline(True)
    cards = []
    for key in "12":
        cards.append(_card(page))
        page.keyboard.press(key)
        expect(page.locator("#judge-slot [data-card]")).not_to_have_attribute("data-card", cards[-1])
    expect(page.locator("#unsent")).to_contain_text(re.compile("2 ratings are kept here"))
    assert _values(people) == []
    page.context.set_offline(False)
    expect(page.locator("#unsent")).to_be_hidden()
    _expect_left(page, 4)
    assert _values(people) == [1, 2]
    problems = page.watch.problems  # type: ignore[attr-defined]
    problems[:] = [problem for problem in problems if "net::ERR_INTERNET_DISCONNECTED" not in problem]


def test_a_rating_survives_being_signed_out(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("rater")
    page.watch.expect(401)  # type: ignore[attr-defined]
    _open(page, case)
    cookies = page.context.cookies()
    page.context.clear_cookies(name="sessionid")
    page.keyboard.press("3")
    expect(page.locator("#unsent").get_by_role("link", name="Sign in")).to_be_visible()
    page.context.add_cookies(
        [cookie for cookie in cookies if cookie["name"] == "sessionid"]
    )  # signed in in another tab
    page.reload()
    _expect_left(page, 5)
    assert _values(people) == [3]


def test_two_lists_by_keyboard_and_on_a_phone(look: Opens, people: dict[str, User], films: str) -> None:
    case = stage.film_case(people["editor"], ["star wars", "alien", "solaris"])
    template = '{"query": "#$query##", "fields": ["overview"]}'
    endpoint = Endpoint.objects.get(name="films")
    attempt = runs.attempts.save(
        case=case, endpoint=endpoint, template=template, fields=stage.FIELDS, knobs={}, by=people["editor"]
    )
    factories.run_now(attempt)
    editor = look("editor")
    editor.goto(f"/cases/{case.pk}/compare/")
    editor.get_by_role("link", name="Let raters compare the lists").click()
    editor.get_by_role("button", name="Start").click()
    expect(editor.locator("#preference-sentence")).to_contain_text("No list has been preferred")
    test = PreferenceTest.objects.get()
    total = test.test_queries.count()
    assert total >= 2

    page = look("rater")
    page.goto(f"/books/{case.book_id}/judge/")
    page.locator("#preferences-link").click()
    page.get_by_role("link", name="Compare lists").click()
    expect(page.locator("main")).to_have_attribute("data-left", str(total))
    page.wait_for_load_state()  # keys count from then on
    for left, key in ((total - 1, "1"), (total - 2, "0")):
        page.keyboard.press(key)
        expect(page.locator("main")).to_have_attribute("data-left", str(left))
        page.wait_for_load_state()  # keys count from then on
    page.keyboard.press("z")
    expect(page.locator("main")).to_have_attribute("data-left", str(total - 1))
    page.wait_for_load_state()
    assert [answer.choice in "ab" for answer in Preference.objects.standing()] == [True]

    phone = look("owner", **PHONE)
    phone.goto(f"/books/{case.book_id}/preferences/{test.pk}/")
    assert phone.evaluate("document.documentElement.scrollWidth") == 390
    for button in phone.locator(".preference-form button").all():
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert box["y"] + box["height"] <= 844  # no scrolling to the buttons
    phone.get_by_role("button", name="Right is better").tap()
    expect(phone.locator("main")).to_have_attribute("data-left", str(total - 1))


def test_a_query_as_a_list_by_keyboard(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("rater")
    _open(page, case)
    page.locator("#judge-list-link").press("Enter")
    rows = page.locator(".listed-document")
    expect(rows).to_have_count(3)
    page.wait_for_load_state()  # keys count from then on
    for number in range(3):
        page.keyboard.press("j")
        page.keyboard.press("7")
        expect(rows.nth(number)).to_have_attribute("data-unrated", "0")
        _expect_left(page, 5 - number)
    page.keyboard.press("Backspace")
    expect(rows.nth(2)).to_have_attribute("data-unrated", "1")
    page.keyboard.press("c")
    rows.nth(2).get_by_role("button", name="The query is not clear").press("Enter")
    expect(rows.nth(2).locator("[data-cannot]")).to_be_visible()
    _expect_left(page, 3)
    assert sorted(_values(people), key=str) == [7, 7, None]
    page.keyboard.press("ArrowRight")
    expect(page.locator('.listed-document[data-unrated="1"]')).to_have_count(3)
    page.wait_for_load_state()  # keys count from then on
    page.keyboard.press("p")
    expect(page.locator("#judge-continue")).to_be_visible()
    assert not JudgingPair.objects.exclude(claimed_by=None).exists()


def test_judging_without_javascript(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("rater", java_script_enabled=False)
    _open(page, case)
    first = _card(page)
    page.locator("#judge-slot .choice").nth(1).click()
    expect(page.locator("#judge-slot [data-card]")).not_to_have_attribute("data-card", first)
    page.get_by_role("link", name=re.compile("^Back")).click()
    expect(page.locator("#judge-slot .choice[aria-pressed=true]")).to_have_attribute("value", "2")
    page.get_by_role("button", name=re.compile("^Undo")).click()
    expect(page.locator("#judge-slot [data-card]")).to_have_attribute("data-card", first)
    assert _values(people) == []
