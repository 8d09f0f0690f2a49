"""A lead decides conflicts by keyboard, seeing the documents; and a change of the scale with its preview."""

from playwright.sync_api import expect

from relevancy import books, judging, queries, ratings
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


def test_a_lead_decides_a_conflict_seeing_what_was_judged(look: Opens, people: dict[str, User], films: str) -> None:
    """From the books to a decision in four presses: the book, “conflicts to decide”, the first one, its grade."""
    case = _case(people)
    query = case.book.queries.get()
    queries.describe(query=query, information_need="The films themselves, no documentaries")
    books.change_book(book=case.book, guidelines="**10** is exactly the film")
    ratings.rate(query=query, doc_id="star-wars-1977", value=1, by=people["rater"], note="Only a sequel is meant")
    page = look("editor")
    page.goto("/books/")
    page.get_by_role("link", name="Movies", exact=True).click()
    page.locator("#next-conflicts").click()
    rows = page.locator("#conflicts > li")
    expect(rows).to_have_count(2)
    first = rows.first
    raters = (people["rater"].name, people["owner"].name)
    for text in ("star wars", "Star Wars", "1977", "no documentaries", "Only a sequel is meant", *raters):
        expect(first).to_contain_text(text)
    expect(page.locator("aside")).to_contain_text("exactly the film")
    page.wait_for_load_state()  # keys count from then on
    expect(first).to_have_attribute("data-difference", "9")
    page.keyboard.press("j")
    expect(first).to_be_focused()
    with page.expect_response("**/decide/") as answer:
        page.keyboard.press("7")
    assert answer.value.status == 200
    expect(first.locator("[data-decided]")).to_have_attribute("data-decided", "7")
    assert Rating.objects.get(is_adjudication=True).value == 7

    page.keyboard.press("j")
    expect(rows.nth(1)).to_be_focused()
    with page.expect_response("**/decide/"):
        page.keyboard.press("0")  # 10
    expect(rows.nth(1).locator("[data-decided]")).to_have_attribute("data-decided", "10")
    page.keyboard.press("k")
    expect(first).to_be_focused()
    with page.expect_response("**/decide/"):
        page.keyboard.press("Backspace")
    expect(first.locator("[data-decided]")).to_have_count(0)
    with page.expect_response("**/conflicts/undo/"):
        page.keyboard.press("z")
    expect(rows.nth(1).locator("[data-decided]")).to_have_count(0)
    assert not Rating.objects.filter(is_adjudication=True).exists()
    page.keyboard.press("d")
    expect(page.locator("#dialog")).to_contain_text("Star Wars")


def test_decided_documents_have_a_page_and_are_marked(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    judging.adjudicate(query=case.book.queries.get(), doc_id="star-wars-1977", value=10, by=people["editor"])
    page = look("viewer")
    page.goto(f"/books/{case.book_id}/conflicts/")
    expect(page.locator("#conflicts > li")).to_have_count(1)
    page.locator("#book-decided-link").click()
    expect(page.locator("[data-decided]")).to_have_attribute("data-decided", "10")
    case_query = case.case_queries.get()
    page.goto(f"/cases/{case.pk}/queries/{case_query.pk}/document/?doc_id=star-wars-1977")
    expect(page.locator(".decision")).to_have_count(1)


def test_a_scale_is_changed_after_its_preview(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("editor")
    page.goto(f"/books/{case.book_id}/")
    page.watch.expect(422)  # type: ignore[attr-defined]
    page.locator("#judging-tab").click()
    page.locator("#scale summary").click()
    page.locator("#id_scale").fill("0:3")
    page.locator("#id_relevant_from").fill("")
    page.get_by_label("Get grades of the new scale").check()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#case-scores tbody tr")).to_have_count(1)
    assert Book.objects.get(pk=case.book_id).top == 10
    page.get_by_label("9 becomes").select_option("2")
    page.get_by_role("button", name="Apply to this book").click()
    expect(page.get_by_label("9 becomes")).to_have_value("2")  # another change than the one that was shown
    assert Book.objects.get(pk=case.book_id).top == 10
    page.get_by_role("button", name="Apply to this book").click()
    expect(page.locator("#preview")).to_have_count(0)
    assert sorted(Rating.objects.values_list("value", flat=True)) == [0, 1, 2, 3]
