"""Raters come from the link of an invitation to their first rating, and through a qualification. Presses are counted."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from relevancy import judging, teams
from relevancy.models import Case, Invitation, Rating, Role, Team, User
from relevancy.optional.qualification import qualification

from . import stage
from .conftest import Opens

MOST_UP_TO_THE_FIRST_RATING = 6


class Presses:
    """Counts what a person presses, types into or keys."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    def click(self, selector: str) -> None:
        self.count += 1
        self.page.locator(selector).click()

    def fill(self, selector: str, text: str) -> None:
        self.count += 1
        self.page.locator(selector).fill(text)

    def key(self, key: str) -> None:
        self.count += 1
        self.page.keyboard.press(key)


def _case(people: dict[str, User], *, build: bool = True) -> Case:
    case = stage.film_case(people["editor"], ["star wars", "alien"])
    judging.set_judging(book=case.book, depth=3, ratings_per_pair=3, order="query")
    if build:
        judging.build_judging_queue(book=case.book)
    return case


def _invite(people: dict[str, User], email: str = "") -> Invitation:
    team = Team.objects.get(name="Search")
    return teams.invitations.invite(team=team, role=Role.RATER, by=people["owner"], email=email, uses=1 if email else 3)


def _first_card(page: Page) -> str:
    card = page.locator("#judge-slot [data-card]")
    expect(card).to_be_visible()
    page.wait_for_load_state()  # keys count from then on
    return card.get_attribute("data-card") or ""


@pytest.mark.parametrize("email", ["noa@example.org", ""])
def test_a_rater_comes_from_the_link_to_the_first_rating(
    look: Opens, people: dict[str, User], films: str, email: str
) -> None:
    case = _case(people)
    page = look()
    presses = Presses(page)
    page.goto(f"/invitations/{_invite(people, email).token}/")
    if email:
        expect(page.locator("#id_email")).to_have_value(email)
    else:
        presses.fill("#id_email", "noa@example.org")
    presses.fill("#id_name", "Noa Neu")
    presses.fill("#id_password", "correct horse battery")
    presses.click("#sign-up button[type=submit]")
    first = _first_card(page)
    expect(page.locator("#toasts")).to_contain_text("You joined Search as rater")
    expect(page.locator(".topbar nav[aria-label=Main] a")).to_have_text(["Judge"])
    presses.key("7")
    expect(page.locator("#judge-slot [data-card]")).not_to_have_attribute("data-card", first)
    expect(page.locator("#judge-progress")).to_have_attribute("data-left", "5")
    assert presses.count <= MOST_UP_TO_THE_FIRST_RATING
    assert Rating.objects.get(rater__email="noa@example.org").value == 7
    assert case.book.queries.count() == 2


def test_a_rater_without_work_is_told_why_and_gets_it_without_reloading(
    look: Opens, people: dict[str, User], films: str
) -> None:
    page = look("rater")
    page.goto("/judge/")
    expect(page.locator("main")).to_contain_text("owner has not shared anything with you yet")
    case = _case(people, build=False)
    page.goto("/judge/")
    expect(page.locator(f"#work-book-{case.book_id}")).to_contain_text("6 to judge of 6")
    page.locator(f"#work-book-{case.book_id} a").click()
    _first_card(page)


def test_a_rater_qualifies_and_the_editor_checks_the_key(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    for pair in judging.judging_queue(case.book).pairs.select_related("query__book"):
        judging.judge(query=pair.query, doc_id=pair.doc_id, by=people["owner"], value=8 if pair.rank == 1 else 2)
    editor = look("editor")
    editor.goto(f"/books/{case.book_id}/qualification/")
    editing = Presses(editor)
    editor.locator("#id_count").fill("6")
    editing.click("#qualification-draw button[type=submit]")
    expect(editor.locator("#qualification-pairs .title")).to_have_count(6)
    editor.locator("#qualification-pairs select").first.select_option("1")
    editor.locator("#qualification-pairs select").nth(1).select_option("1")
    editing.click("#qualification-pairs button[value=keys]")
    expect(editor.locator("#toasts")).to_contain_text("2 keys changed")
    editing.fill("#id_share", "80")
    editing.click("#qualification-settings button[type=submit]")
    expect(editor.locator("#toasts")).to_contain_text("The settings are saved")
    assert editing.count <= 6

    page = look("rater")
    page.goto("/judge/")
    judged = Presses(page)
    judged.click(f"#work-qualification-{case.book_id} a")
    _judge_the_set(page, judged, lambda title: "5")
    ended = page.locator("#judge-slot [data-qualification=failed]")
    expect(ended).to_contain_text("0 of 6")
    expect(ended).to_contain_text("ask editor")
    assert judged.count <= 7
    editor.goto(f"/books/{case.book_id}/qualification/")
    editor.locator("#qualification-raters button[value=again]").click()
    page.goto("/judge/")
    page.locator(f"#work-qualification-{case.book_id} a").click()
    keys = {pair.doc_id: pair.value for pair in qualification.active_pairs(case.book)}
    _judge_the_set(page, Presses(page), lambda doc_id: str(int(keys[doc_id])))
    expect(page.locator("#judge-slot [data-qualification=passed]")).to_contain_text("6 of 6")
    page.locator("#qualification-go-on").click()
    expect(page).to_have_url(f"{page.evaluate('location.origin')}/books/{case.book_id}/judge/")
    assert Rating.objects.filter(rater=people["rater"]).count() == 6


def _judge_the_set(page: Page, presses: Presses, grade: Callable[[str], str]) -> None:
    for left in range(5, -1, -1):
        card = _first_card(page)
        presses.key(grade(page.locator("#judge-slot input[name=doc_id]").get_attribute("value") or ""))
        expect(page.locator("#judge-progress")).to_have_attribute("data-left", str(left))
        if left:
            expect(page.locator("#judge-slot [data-card]")).not_to_have_attribute("data-card", card)
