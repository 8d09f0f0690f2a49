"""Rules of query classes: created, previewed while they are filled in, applied, and what a comparison then says of the classes."""

import re

import pytest
from playwright.sync_api import expect

from relevancy import cases
from relevancy.models import Team, User
from tests.comparison.conftest import run_with
from tests.factories import make_case

from .conftest import Opens

WITH_DIGITS = [f"{name} 9" for name in "abcdefgh"]
OTHERS = [f"plain {name}" for name in "stuvwxyz"]


@pytest.mark.usefixtures("script")
@pytest.mark.parametrize("width", [1280, 390])
def test_rules_set_tags_and_a_comparison_says_which_class_fails(
    look: Opens, people: dict[str, User], width: int
) -> None:
    owner, texts = people["owner"], [*WITH_DIGITS, *OTHERS]
    case = make_case(texts, {text: {"a": 3} for text in texts}, owner=owner, measures=("P@1",))
    cases.share(case=case, team=Team.objects.get(name="Search"), by=owner)
    run_with(case, dict.fromkeys(texts, "a"))
    run_with(case, {text: "x" if text in WITH_DIGITS else "a" for text in texts})

    page = look("owner", viewport={"width": width, "height": 900})
    page.goto(f"/cases/{case.pk}/query-classes/")
    page.locator("[data-kind=digit]").click()
    page.wait_for_url(re.compile("kind=digit"))
    page.wait_for_load_state()  # the scripts are there
    page.get_by_label("Tag", exact=True).fill("digits")
    expect(page.locator("#rule-matches")).to_have_attribute("data-matches", "8")
    expect(page.locator("#matching-queries tbody tr")).to_have_count(8)
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(re.compile(r"/query-classes/$"))
    rules = page.locator("#rule-list tbody tr")
    expect(page.locator("#rules-state")).to_have_attribute("data-pending", "no")
    expect(rules).to_have_attribute("data-matches", "8")

    page.locator("[data-kind=words]").click()
    page.wait_for_url(re.compile("kind=words"))
    page.wait_for_load_state()  # the scripts are there
    page.get_by_label("Tag", exact=True).fill("plain")
    words = page.get_by_label("Words", exact=True)
    words.fill("nothing")
    expect(page.locator("#rule-matches")).to_have_attribute("data-matches", "0")
    words.fill("PLAIN")
    expect(page.locator("#rule-matches")).to_have_attribute("data-matches", "8")
    page.get_by_role("button", name="Save").click()
    expect(rules).to_have_count(2)
    expect(page.locator("#rules-state")).to_have_attribute("data-pending", "no")
    assert page.evaluate("document.documentElement.scrollWidth") <= width

    page.goto(f"/cases/{case.pk}/compare/?run=1&run=2&tab=classes")
    expect(page.locator("#tag-sentence, #class-sentence")).to_contain_text("“digits” lose 100.0 points")
    expect(page.locator("#chart-classes[data-drawn]")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= width

    page.goto(f"/cases/{case.pk}/query-classes/")
    page.get_by_role("link", name="Delete digits").click()
    page.get_by_role("button", name="Delete the rule and its tags").click()
    expect(rules).to_have_count(1)
    expect(page.locator("#rules-state")).to_have_attribute("data-pending", "no")
    assert not case.book.queries.filter(tags__has_element="digits").exists()
