"""More of the workbench: manual order, tags, notes, annotations, export, explanations, missing documents, autocompletion."""

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from relevancy.models import Annotation, Case, Rating, User
from tests import factories

from . import stage
from .code_editor import editor, text_of
from .conftest import Opens
from .workbench_page import WorkbenchPage, press

TEXTS = ["star wars", "alien", "jaws", "heat"]
RATINGS = {"star wars": {"star-wars-1977": 10, "solaris-1972": 8, "no-such-film": 5}, "alien": {"alien-1979": 10}}


@pytest.fixture
def case(people: dict[str, User], films: str) -> Case:
    return stage.film_case(people["editor"], TEXTS, ratings=RATINGS)


def about(workbench: WorkbenchPage, text: str) -> Locator:
    return workbench.row(text).locator(".query-notes")


def middle(part: Locator) -> tuple[float, float]:
    box = part.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


# --- manual order ---


def drag(page: Page, workbench: WorkbenchPage, text: str, to: str, *, above: bool) -> None:
    """Drags a query by its handle to the upper or lower edge of the row of another one."""
    x, y = middle(workbench.row(text).locator("[data-drag]"))
    box = workbench.row(to).locator("tr").first.bounding_box()
    assert box is not None
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 6)
    page.mouse.move(x, box["y"] + (3 if above else box["height"] - 3), steps=4)
    page.mouse.up()


def test_queries_are_dragged_to_another_position(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    drag(page, workbench, "heat", "alien", above=True)
    expect(workbench.row("heat").locator(".position")).to_have_text("2")
    assert workbench.texts() == ["star wars", "heat", "alien", "jaws"]
    drag(page, workbench, "star wars", "jaws", above=False)
    expect(workbench.row("star wars").locator(".position")).to_have_text("4")
    page.reload()
    assert workbench.texts() == ["heat", "alien", "jaws", "star wars"]


def test_dragging_works_with_an_open_query_and_esc_cancels_it(look: Opens, case: Case) -> None:
    page = look("editor", viewport={"width": 1280, "height": 2400})
    workbench = WorkbenchPage(page, case)
    workbench.open("alien")
    drag(page, workbench, "jaws", "star wars", above=True)
    expect(workbench.row("jaws").locator(".position")).to_have_text("1")
    expect(workbench.results("alien").first).to_be_visible()
    x, y = middle(workbench.row("heat").locator("[data-drag]"))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 80, steps=3)
    page.keyboard.press("Escape")
    page.mouse.up()
    expect(page.locator(".is-dragged, .drop-before, .drop-after")).to_have_count(0)
    assert workbench.texts() == ["jaws", "star wars", "alien", "heat"]


def test_alt_and_arrows_move_the_focused_query(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    for _ in range(3):
        press(page, "j")
    page.keyboard.press("Alt+ArrowUp")
    expect(workbench.row("jaws").locator(".position")).to_have_text("2")
    page.keyboard.press("Alt+ArrowUp")
    expect(workbench.row("jaws").locator(".position")).to_have_text("1")
    page.keyboard.press("Alt+ArrowDown")
    expect(workbench.row("jaws").locator(".position")).to_have_text("2")
    assert workbench.texts() == ["star wars", "jaws", "alien", "heat"]
    expect(workbench.opener("jaws")).to_be_focused()


def test_queries_are_dragged_only_in_the_manual_order(look: Opens, case: Case) -> None:
    page = look("editor")
    for address in ("?sort=score", "?q=a", "?sort=-place", "?state=unrated"):
        WorkbenchPage(page, case, address)
        expect(page.locator("table[data-order], [data-drag]")).to_have_count(0)
    page = look("rater")
    WorkbenchPage(page, case)
    expect(page.locator("table.queries")).to_be_visible()
    expect(page.locator("table[data-order], [data-drag]")).to_have_count(0)


def test_order_without_javascript(look: Opens, case: Case) -> None:
    page = look("editor", java_script_enabled=False)
    case_query = case.case_queries.get(query__text="jaws")
    page.goto(f"/cases/{case.pk}/?open={case_query.pk}")
    WorkbenchPage(page).menu("jaws").get_by_role("button", name="Move up").click()
    assert [text.strip() for text in page.locator("tbody.query .name .truncate").all_inner_texts()] == [
        "star wars",
        "jaws",
        "alien",
        "heat",
    ]


# --- tags ---


def test_tags_are_added_shown_filtered_and_scored(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    workbench.mark_document()
    expect(page.get_by_label("Tag", exact=True)).to_have_count(0)
    workbench.open("alien")
    workbench.tab("alien", "Notes")
    about(workbench, "alien").get_by_placeholder("Add tag").fill("space")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Tag", exact=True)).to_be_visible()
    workbench.open("star wars")
    workbench.tab("star wars", "Notes")
    about(workbench, "star wars").get_by_placeholder("Add tag").fill("space, classics")
    page.keyboard.press("Enter")
    expect(workbench.row("star wars").locator(".name .pill")).to_have_text(["classics", "space"])
    about(workbench, "star wars").get_by_role("button", name="Remove classics").click()
    expect(workbench.row("star wars").locator(".name .pill")).to_have_text(["space"])
    assert factories.query_of(case, "star wars").tags == ["space"]
    page.get_by_label("Tag", exact=True).select_option("space")
    expect(workbench.row("jaws")).to_have_count(0)
    assert workbench.texts() == ["star wars", "alien"]
    page.locator("details.tag-scores > summary").click()
    expect(page.locator(".tag-scores-table tbody tr")).to_have_count(1)
    expect(page.locator(".tag-scores-table tbody tr")).to_contain_text("space")
    page.get_by_label("Tag", exact=True).select_option("")
    expect(workbench.row("jaws")).to_be_visible()
    workbench.expect_no_reload()


def test_a_tag_that_is_too_long_is_refused(look: Opens, case: Case) -> None:
    page = look("editor")
    page.watch.expect(409)  # type: ignore[attr-defined]
    workbench = WorkbenchPage(page, case)
    workbench.open("jaws")
    workbench.tab("jaws", "Notes")
    about(workbench, "jaws").get_by_placeholder("Add tag").fill("x" * 51)
    about(workbench, "jaws").get_by_role("button", name="Add tags").click()
    expect(workbench.toast("51 characters")).to_be_visible()
    about(workbench, "jaws").get_by_placeholder("Add tag").fill("sharks")
    about(workbench, "jaws").get_by_role("button", name="Add tags").click()
    expect(workbench.row("jaws").locator(".name .pill")).to_have_text(["sharks"])
    expect(workbench.toast("51 characters")).to_have_count(0)


# --- notes ---


def test_notes_are_written_in_markdown(look: Opens, case: Case) -> None:
    page = look("editor")
    page.on("dialog", lambda dialog: pytest.fail(f"A note ran as a script: {dialog.message}"))
    workbench = WorkbenchPage(page, case)
    workbench.open("jaws")
    press(page, "n")
    expect(about(workbench, "jaws").locator("[name=information_need]")).to_be_focused()
    about(workbench, "jaws").locator("[name=information_need]").fill("The film **Jaws**, and its sequels.")
    about(workbench, "jaws").locator("[name=notes]").fill(
        "- [site](https://a.example/)\n- <img src=x onerror=alert(1)>"
    )
    about(workbench, "jaws").get_by_role("button", name="Save").click()
    expect(about(workbench, "jaws").locator("strong")).to_have_text("Jaws")
    expect(about(workbench, "jaws").get_by_role("link", name="site")).to_have_attribute("rel", "noopener nofollow")
    expect(about(workbench, "jaws")).to_contain_text("<img src=x")
    workbench.tab("jaws", "Results")
    expect(workbench.row("jaws").locator(".need").first).to_have_text("Needs: The film **Jaws**, and its sequels.")
    press(page, "n")
    about(workbench, "jaws").locator("[name=information_need]").fill("not kept")
    page.get_by_role("link", name="Cancel").click()
    expect(about(workbench, "jaws").locator("strong")).to_have_text("Jaws")
    assert factories.query_of(case, "jaws").information_need == "The film **Jaws**, and its sequels."


# --- annotations ---


def test_annotations_on_the_history(look: Opens, case: Case) -> None:
    for _ in range(2):
        factories.run_now(case.attempts.select_related("endpoint", "case").get())
    page = look("editor")
    WorkbenchPage(page, case)
    page.get_by_role("link", name="Annotate").click()
    page.get_by_label("What happened").fill("Synonyms & more")
    page.get_by_label("At run", exact=True).select_option("2")
    page.get_by_role("button", name="Annotate").click()
    expect(page.locator(".annotation-list li")).to_have_count(1)
    page.get_by_label("What happened").fill("Index rebuilt")
    page.get_by_label("At run", exact=True).select_option("1")
    page.get_by_role("button", name="Annotate").click()
    expect(page.locator(".annotation-list .letter")).to_have_text(["A", "B"])
    page.get_by_label("Annotation B at run 2").fill("Synonyms")
    with page.expect_response("**/annotations/**"):  # its response opens the dialog again
        page.locator(".annotation-list li").nth(1).get_by_role("button", name="Save").click()
    expect(page.get_by_label("Annotation B at run 2")).to_have_value("Synonyms")
    page.get_by_role("button", name="Close Esc").click()
    expect(page.locator(".chart .flag-text")).to_have_text(["A", "B"])
    page.locator(".chart a:has(.flag)").first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Remove annotation A").click()
    expect(page.locator(".annotation-list li")).to_have_count(1)
    page.get_by_role("button", name="Close Esc").click()
    expect(page.locator(".chart .flag-text")).to_have_text(["A"])
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    expect(page.locator(".chart .flag-text")).to_have_text(["A", "B"])
    assert sorted(Annotation.objects.values_list("text", flat=True)) == ["Index rebuilt", "Synonyms"]


# --- export ---


def test_export_the_displayed_list(look: Opens, case: Case, tmp_path: Path) -> None:
    page = look("viewer")
    workbench = WorkbenchPage(page, case)
    page.get_by_role("link", name="Query", exact=True).click()
    expect(page.locator("th[aria-sort]")).to_contain_text("Query")
    page.get_by_label("Filter queries").fill("a")
    expect(workbench.row("heat")).to_be_visible()
    expect(page).to_have_url(re.compile("q=a"))
    with page.expect_download() as download:
        page.get_by_role("link", name="Export CSV").click()
    path = tmp_path / "list.csv"
    download.value.save_as(path)
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert [row["query"] for row in rows] == workbench.texts()
    assert rows[0]["score"] == str(stage.query_score(case, rows[0]["query"]).score or "")


# --- explanations and missing documents ---


def test_rated_documents_that_are_not_shown_are_looked_up_and_rated(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    workbench.open("star wars")
    expect(workbench.row("star wars").get_by_role("tab", name="Not returned").locator(".pill")).to_have_text("2")
    workbench.tab("star wars", "Not returned")
    part = workbench.row("star wars").locator(".unretrieved-list")
    expect(part.locator(".title")).to_have_text(["Solaris", "no-such-film"])
    expect(part.locator(".pill.warn")).to_have_text("not in the index")
    before = stage.query_score(case, "star wars").score
    with page.expect_response(re.compile("/rate/")):
        part.locator("li.result").first.get_by_role("radio", name="1", exact=True).click()
    expect(part.locator("li.result").first.get_by_role("radio", name="1", exact=True)).to_have_attribute(
        "aria-checked", "true"
    )
    expect(part.locator(".title")).to_have_text(["Solaris", "no-such-film"])
    rating = Rating.objects.get(doc_id="solaris-1972", rater__name="editor")
    assert rating.value == 1
    assert stage.query_score(case, "star wars").score is not None and before is not None
    part.get_by_role("button", name="Why it matched or did not: Solaris").click()
    expect(part).to_contain_text("does not match the query")


def test_why_a_document_matched(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    workbench.open("star wars")
    press(page, "j")
    press(page, "x")
    first = workbench.results("star wars").first
    box = first.locator(".explanation")
    expect(box).to_be_visible()
    expect(box.locator(".parts .key").first).to_contain_text("title")
    expect(box.locator(".parts-table tr").first).to_contain_text("title:")
    box.get_by_text("Full explanation of the engine").click()
    expect(box.locator("pre")).to_contain_text("star")
    press(page, "x")
    expect(box).to_have_count(0)


def test_words_are_highlighted_and_pictures_are_enlarged(look: Opens, people: dict[str, User], films: str) -> None:
    case = stage.film_case(people["editor"], ["star wars"], run=False)
    attempt = case.attempts.select_related("endpoint", "case").get()
    attempt.fields = "id:id title:title highlight:overview"
    attempt.save()
    factories.run_now(attempt)
    run = stage.newest_run(case)
    ranking = run.rankings.get()
    ranking.hits[0][2]["poster"] = "data:image/png;base64,x"
    factories.set_hits([ranking])
    page = look("viewer")
    workbench = WorkbenchPage(page, case)
    results = workbench.open("star wars")
    expect(results.locator("mark").first).to_be_visible()
    marked = {text.lower() for text in results.locator("mark").all_inner_texts()}
    assert marked <= {"star", "stars", "war", "wars"}
    assert "\ue000" not in page.content()


# --- autocompletion ---


def test_fields_and_placeholders_are_completed(look: Opens, case: Case) -> None:
    page = look("editor")
    WorkbenchPage(page, case)
    fields = page.get_by_label("Displayed fields")
    fields.fill("id:id title:title ")
    fields.press_sequentially("ov")
    expect(page.locator("#field-names option").first).to_have_attribute("value", "id:id title:title overview")
    editor(page).press("Control+End")
    page.keyboard.type("#$qu")
    offers = page.locator(".ace_autocomplete .ace_line")
    expect(offers.first).to_contain_text("#$query##")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".ace_autocomplete")).to_be_hidden()
    assert text_of(page).endswith("#$query##")
    page.keyboard.type(" tit")
    expect(offers.first).to_contain_text("title")
    page.keyboard.press("Enter")
    assert text_of(page).endswith(" tit\n"), "nothing is chosen unless an arrow key chose it"
    assert stage.newest_run(case).number == 1
