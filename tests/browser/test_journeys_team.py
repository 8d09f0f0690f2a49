"""A lead sets a book up for a team: three ratings a document, a rule that uses all of them, guidelines. Presses are counted."""

import re

from playwright.sync_api import Page, expect

from relevancy.models import Book, JudgingQueue, User

from . import stage
from .conftest import Opens

MOST_FOR_JUDGING = 6  # of the 14 that the lead has for team, invitation and judging


class Presses:
    """Counts what a person presses or types into."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    def click(self, selector: str) -> None:
        self.count += 1
        self.page.locator(selector).click()

    def fill(self, selector: str, text: str) -> None:
        self.count += 1
        self.page.locator(selector).fill(text)


def test_a_lead_asks_for_three_ratings_with_their_median_and_writes_guidelines(
    look: Opens, people: dict[str, User], films: str
) -> None:
    case = stage.film_case(people["owner"], ["star wars"])
    page = look("owner")
    page.goto(f"/books/{case.book_id}/")
    presses = Presses(page)
    presses.click("#ticks a >> nth=0")  # guidelines
    page.wait_for_load_state()
    presses.click(".starters button")
    expect(page.locator("#id_guidelines")).to_have_value(re.compile("exactly what the user is looking for"))
    expect(page.locator("#id_phrase_9")).to_have_value("Perfect")
    presses.fill("#id_ratings_per_pair", "3")
    page.locator("#id_depth").focus()  # any other place of the page
    expect(page.locator("#id_rule")).to_have_value("median")
    expect(page.locator("#rule-asked")).to_be_visible()
    presses.click("#judging-form button[value=save]")
    expect(page.locator("#toasts")).to_contain_text("The settings are saved")
    assert presses.count <= MOST_FOR_JUDGING
    book, queue = Book.objects.get(pk=case.book_id), JudgingQueue.objects.get(book=case.book_id)
    assert (book.rule, queue.ratings_per_pair, book.scale[9]) == ("median", 3, [10, "Perfect"])
    assert "exactly what the user" in book.guidelines
    page.goto(f"/books/{case.book_id}/")
    expect(page.locator("#rule-sentence")).to_contain_text(
        "3 raters rate each document; the median of all ratings counts."
    )


def test_a_lead_who_saves_at_once_is_asked_for_the_rule(look: Opens, people: dict[str, User], films: str) -> None:
    """Without JavaScript, and whoever presses Save before the answer has arrived."""
    case = stage.film_case(people["owner"], ["star wars"])
    page = look("owner", java_script_enabled=False)
    page.watch.expect(422)  # type: ignore[attr-defined]
    page.goto(f"/books/{case.book_id}/judging/")
    presses = Presses(page)
    presses.fill("#id_ratings_per_pair", "3")
    presses.click("#judging-form button[value=save]")
    expect(page.locator("#rule-asked")).to_be_visible()
    expect(page.locator("#id_rule")).to_have_value("median")
    assert Book.objects.get(pk=case.book_id).rule == "latest"
    presses.click("#judging-form button[value=save]")
    expect(page.locator("#rule-asked")).to_have_count(0)
    assert Book.objects.get(pk=case.book_id).rule == "median"
