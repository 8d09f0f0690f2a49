"""A preference test: a lead starts it, a rater chooses, and the comparison says what raters prefer. Presses are counted."""

import pytest
from playwright.sync_api import expect

from relevancy import cases
from relevancy.models import Team, User
from tests.factories import make_attempt, make_case, run_now, script_of

from .conftest import Opens
from .presses import Presses

QUERIES = 4


@pytest.mark.usefixtures("script")
def test_a_lead_lets_raters_compare_two_lists_and_reads_the_result(look: Opens, people: dict[str, User]) -> None:
    case = make_case(QUERIES, owner=people["editor"])
    cases.share(case=case, team=Team.objects.get(name="Search"), by=people["editor"])
    attempt = make_attempt(case)
    run_now(attempt)
    after = make_attempt(case, name="Reversed")
    script_of(after).default = ["c", "b", "a"]
    run_now(after)
    lead = look("editor")
    presses = Presses(lead)
    lead.goto(f"/cases/{case.pk}/compare/")
    presses.click(lead.locator("#preference-new-link"))
    expect(lead.locator("#different-lists")).to_contain_text(f"{QUERIES} queries drawn at random")
    presses.click(lead.get_by_role("button", name="Start"))
    expect(lead.locator("#preference-sentence")).to_contain_text("No list has been preferred")
    assert presses.count == 2

    rater = look("rater")
    presses = Presses(rater)
    rater.goto(f"/books/{case.book_id}/judge/")
    presses.click(rater.locator("#preferences-link").last)
    if rater.locator("#preference-tests").count():
        presses.click(rater.locator("#preference-tests a").first)
    for done in range(1, QUERIES + 1):
        rater.wait_for_load_state()  # the keys are there
        presses.key("1")
        expect(rater.locator("progress")).to_have_attribute("value", str(done))
    expect(rater.locator("#content")).to_contain_text("You have compared all lists")
    assert presses.count <= 2 + QUERIES

    lead.goto(f"/cases/{case.pk}/compare/")
    expect(lead.locator("#raters-prefer")).to_contain_text(f"{QUERIES} of {QUERIES} queries have an answer so far.")
    lead.locator("#raters-prefer a").click()
    expect(lead.locator("#preference-queries tbody tr")).to_have_count(QUERIES)
