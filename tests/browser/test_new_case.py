"""A new case from the first page to its first score, with presses counted."""

from pathlib import Path

from playwright.sync_api import Page, expect

from relevancy.models import Case, Rating, StoredIndex, User

from . import stage
from .conftest import Opens
from .presses import Presses
from .workbench_page import WorkbenchPage

RATINGS = "query,docid,rating\nstar wars,star-wars-1977,10\nalien,alien-1979,8\nalien,heat-1995,1\n"


def _to_queries(page: Page, presses: Presses) -> None:
    """From the home page of a newcomer to the last step."""
    presses.click(page.get_by_role("link", name="New case").first)
    presses.type(page.get_by_label("Name", exact=True), "Films")
    presses.click(page.get_by_role("button", name="Next: endpoint"))
    presses.type(page.get_by_label("Name of the endpoint"), "films")
    presses.click(page.get_by_role("radio", name="Embedded"))
    presses.type(page.locator("#id_url"), "films")
    presses.click(page.get_by_role("button", name="Next: fields"))
    presses.click(page.get_by_role("button", name="Next: queries"))


def test_a_newcomer_has_a_scored_case_with_ratings_from_a_file(
    look: Opens, people: dict[str, User], films: str, tmp_path: Path
) -> None:
    StoredIndex.objects.get_or_create(engine="embedded", name=films, defaults={"owner": people["editor"]})
    path = tmp_path / "ratings.csv"
    path.write_text(RATINGS)
    page = look()
    presses = Presses(page)
    page.goto("/")
    presses.type(page.get_by_label("E-mail"), people["editor"].email)
    presses.type(page.get_by_label("Password"), stage.PASSWORD)
    presses.key("Enter")
    _to_queries(page, presses)
    presses.click(page.get_by_label("File with queries or ratings"))
    presses.upload(page.get_by_label("File", exact=True), path)
    expect(page.locator("#first-count")).to_contain_text("2 queries with 3 ratings")
    presses.click(page.get_by_role("button", name="Create and run"))
    case_page = page.locator("#case-score")
    expect(case_page).to_be_visible()
    case = Case.objects.get()
    expect(WorkbenchPage(page).case_score).to_have_text(stage.shown(stage.case_score(case).score))
    assert Rating.objects.filter(query__book=case.book).count() == 3
    assert presses.count <= 14


def test_pasted_ratings_are_recognized(look: Opens, people: dict[str, User], films: str) -> None:
    StoredIndex.objects.get_or_create(engine="embedded", name=films, defaults={"owner": people["editor"]})
    page = look("editor")
    page.goto("/")
    _to_queries(page, Presses(page))
    page.get_by_label("Queries", exact=True).fill(RATINGS)
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#looks-like-file")).to_contain_text("This looks like ratings as CSV")
    page.get_by_role("button", name="Import as ratings").click()
    expect(page.locator("#case-score")).to_be_visible()
    assert Rating.objects.count() == 3


def test_too_many_lines_are_refused_before_they_are_sent(look: Opens, people: dict[str, User], films: str) -> None:
    page = look("editor")
    case = stage.film_case(people["editor"], ["jaws"], run=False)
    page.goto(f"/cases/{case.pk}/")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    page.get_by_role("link", name="Add queries").click()
    field = page.get_by_label("One query to a line")
    assert field.get_attribute("data-max-lines") == "20000"
    field.evaluate("field => (field.dataset.maxLines = 3)")  # Chromium takes seconds to lay out 20,000 lines
    field.fill("one\n\ntwo\nthree\nfour")
    page.locator("#add-queries").get_by_role("button", name="Add queries").click()
    message = field.evaluate("field => field.validationMessage")
    assert message == "4 lines are too many. Paste at most 3 at once, or use a file."
    assert "POST" not in sent
