"""A conflict adjudicated by keyboard, and a change of the scale with its preview."""

from playwright.sync_api import expect

from relevancy import ratings
from relevancy.models import Book, Case, Rating, User

from . import stage
from .conftest import Opens


def _case(people: dict[str, User]) -> Case:
    """A case with two documents that two raters disagree on: by 9 and by 4 grades."""
    grades = {"star wars": {"star-wars-1977": 10, "solo-a-star-wars-story-2018": 5}}
    case = stage.film_case(people["owner"], ["star wars"], ratings=grades)
    query = case.book.queries.get()
    ratings.rate(query=query, doc_id="star-wars-1977", value=1, by=people["rater"])
    ratings.rate(query=query, doc_id="solo-a-star-wars-story-2018", value=9, by=people["rater"])
    return case


def test_a_conflict_is_adjudicated_by_keyboard(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("editor")
    page.goto(f"/books/{case.book_id}/")
    page.locator("#quality-tab").click()
    rows = page.locator("#conflicts > li")
    expect(rows).to_have_count(2)
    page.wait_for_load_state()  # keys count from then on
    expect(rows.first).to_have_attribute("data-difference", "9")
    page.keyboard.press("j")
    expect(rows.first).to_be_focused()
    with page.expect_response("**/decide/") as answer:
        page.keyboard.press("7")
    assert answer.value.status == 200
    expect(rows.first.locator("[data-decided]")).to_have_attribute("data-decided", "7")
    page.keyboard.press("j")
    expect(rows.nth(1)).to_be_focused()
    with page.expect_response("**/decide/"):
        page.keyboard.press("0")  # 10
    expect(rows.nth(1).locator("[data-decided]")).to_have_attribute("data-decided", "10")
    page.keyboard.press("k")
    expect(rows.first).to_be_focused()
    with page.expect_response("**/decide/"):
        page.keyboard.press("Backspace")
    expect(rows.first.locator("[data-decided]")).to_have_count(0)
    decision = Rating.objects.get(is_adjudication=True)
    assert (decision.doc_id, decision.value, decision.rater) == ("solo-a-star-wars-story-2018", 10, people["editor"])
    page.reload()
    expect(rows).to_have_count(1)
    case_query = case.case_queries.get()
    page.goto(f"/cases/{case.pk}/queries/{case_query.pk}/document/?doc_id=solo-a-star-wars-story-2018")
    expect(page.locator(".decision")).to_have_count(1)


def test_a_scale_is_changed_after_its_preview(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("editor")
    page.goto(f"/books/{case.book_id}/")
    page.locator("#change-settings").click()
    page.locator("#id_scale").fill("0:3")
    page.locator("#id_relevant_from").fill("")
    page.get_by_label("Get grades of the new scale").check()
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#case-scores tbody tr")).to_have_count(1)
    assert Book.objects.get(pk=case.book_id).top == 10
    page.get_by_label("9 becomes").select_option("2")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_label("9 becomes")).to_have_value("2")
    page.get_by_role("button", name="Apply to this book").click()
    page.wait_for_url(f"**/books/{case.book_id}/")
    assert sorted(Rating.objects.values_list("value", flat=True)) == [0, 1, 2, 3]
