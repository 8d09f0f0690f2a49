"""Scorers in a browser: the editor, scorer preview, the formula that follows the form."""

import re

import pytest
from playwright.sync_api import Page, expect

from relevancy import scorers
from relevancy.models import Case, Scorer, ScorerDefinition, ScorerVersion, User

from . import stage
from .code_editor import write
from .conftest import Opens
from .test_looks import _NAMELESS, _TOO_WIDE, _TWICE

SCRIPT = "const k = 3;\nconsole.log('mean of', k);\nsetScore(avgRating100(k));"


@pytest.fixture
def case(people: dict[str, User], films: str) -> Case:
    ratings = {"star wars": {"star-wars-1977": 10}}
    return stage.film_case(people["owner"], ["star wars", "star trek", "a film about dreams"], ratings=ratings)


def run(page: Page) -> None:
    with page.expect_response("**/scorers/try/"):
        page.keyboard.press("Control+Enter")


def answer(page: Page, name: str = "Unsaved scorer") -> str:
    """The score in the scorer preview."""
    return page.get_by_role("region", name=f"Result of {name}").locator(".big-score b").inner_text()


def test_script_is_written_tried_and_saved(look: Opens, people: dict[str, User]) -> None:
    page = look("rater")
    page.watch.expect(422)  # type: ignore[attr-defined]
    page.goto("/scorers/new/?kind=script")
    page.get_by_label("Name", exact=True).fill("Mean of three")
    page.get_by_label("The script gives").select_option("100")
    page.get_by_label("Scale", exact=True).fill("0:3")
    page.get_by_label("Grades, in rank order").fill("3 2 1 0")
    write(page, "let a = 1;\nlet b = ;")
    run(page)
    expect(page.get_by_role("alert")).to_contain_text("Line 2, column 9.")
    expect(page.locator(".ace_gutter-cell.ace_error, .ace_gutter-cell_svg-icons.ace_error")).to_have_text(
        re.compile("2")
    )
    write(page, SCRIPT)
    expect(page.locator(".ace_gutter-cell.ace_error")).to_have_count(0)
    expect(page.locator("#preview-outdated")).to_be_visible()
    expect(page.get_by_text("not saved")).to_be_visible()
    run(page)
    expect(page.get_by_role("log")).to_have_text("mean of 3")
    assert answer(page) == "66.0"
    assert not Scorer.objects.filter(name="Mean of three").exists()
    page.keyboard.press("Control+S")
    expect(page.get_by_role("heading", name="Mean of three")).to_be_visible()
    version = Scorer.objects.get(name="Mean of three").versions.get()
    assert (version.script, version.cutoff) == (SCRIPT, 3)


def test_refused_script_keeps_its_text_and_shows_the_location(look: Opens) -> None:
    page = look("rater")
    page.watch.expect(422)  # type: ignore[attr-defined]
    page.goto("/scorers/new/?kind=script")
    page.get_by_label("Name", exact=True).fill("Broken")
    page.get_by_label("The script gives").select_option("100")
    write(page, "setScore(1);\nlet b = ;")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Line 2, column 9: ")).to_be_visible()
    expect(page.locator(".ace_line").nth(1)).to_have_text("let b = ;")
    expect(page.locator(".ace-error-word")).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Broken")
    expect(page.get_by_text("not saved")).to_be_visible()


def test_editor_follows_the_theme_and_the_tab_lists_the_functions(look: Opens) -> None:
    page = look("rater", color_scheme="light")
    page.goto("/scorers/new/?kind=script")
    editor = page.locator(".ace_editor")
    editor.wait_for()
    colour = "getComputedStyle(document.querySelector('.ace_editor')).backgroundColor"
    light = page.evaluate(colour)
    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate(colour) != light
    page.get_by_role("tab", name="What scripts can call").click()
    expect(page.get_by_text("editDistanceFromBest(count)", exact=True)).to_be_visible()
    expect(editor).to_be_hidden()
    page.keyboard.press("ArrowLeft")
    expect(editor).to_be_visible()


def test_formula_and_example_follow_the_parameters(look: Opens) -> None:
    page = look("rater")
    page.goto("/scorers/new/")
    shown = page.locator("#measure-shown")
    expect(shown.locator("math").first).to_contain_text("nDCG@10")
    before = shown.locator(".example-line .score b").inner_text()
    page.get_by_label("Gain").select_option("linear")
    expect(shown.locator(".example-line .score b")).not_to_have_text(before)
    page.get_by_label("Cutoff k").fill("3")
    expect(shown.locator("math").first).to_contain_text("nDCG@3")
    expect(page.get_by_label("Cutoff k")).to_be_focused()
    page.get_by_label("Cutoff k").fill("0")
    expect(shown).to_contain_text("whole number from 1")
    page.get_by_label("Measure", exact=True).select_option("RBP")
    expect(page.get_by_label("Persistence")).to_be_visible()
    page.get_by_label("Cutoff k").fill("5")
    page.get_by_label("Persistence").fill("0.5")
    expect(page.locator("#measure-shown math").first).to_contain_text("0.5")
    page.get_by_label("Name", exact=True).fill("Half patient")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Half patient")).to_be_visible()
    assert Scorer.objects.get(name="Half patient").versions.get().measure == "RBP(p=0.5)@5"


def test_preview_of_a_real_query_compares_and_saves_for_one_case(look: Opens, case: Case) -> None:
    page = look("owner")
    page.goto("/scorers/new/?kind=script")
    page.get_by_label("Name", exact=True).fill("Only here")
    page.get_by_label("The script gives").select_option("100")
    write(page, SCRIPT)
    page.get_by_role("radio", name="A real query").check()
    page.locator("select[name=case]").select_option(label="Movies")
    expect(page.locator("#matches option")).to_have_count(3)
    page.get_by_label("Find a query").fill("wars")
    expect(page.locator("#matches option")).to_have_count(1)
    page.get_by_label("Compare with").select_option(label="Judged@10")
    run(page)
    other = page.get_by_role("region", name="Result of Judged@10")
    expect(other).to_contain_text("compared with Unsaved scorer")
    expect(page.get_by_role("region", name="Result of Unsaved scorer")).to_contain_text("“star wars”")
    page.get_by_label("Make it the primary scorer of the case").check()
    page.get_by_role("button", name="Save for this case only").click()
    expect(page).to_have_url(re.compile(rf"/cases/{case.pk}/"))
    assert [version.scorer.name for version in ScorerVersion.objects.used_by(case)] == ["Only here", "AvgEdit"]


def test_preview_of_a_shipped_scorer_shows_the_working(look: Opens) -> None:
    page = look("viewer")
    page.goto(f"/scorers/{Scorer.objects.get(name='nDCG@10 linear').pk}/")
    page.get_by_label("Grades, in rank order").fill("3 2 3 0 1 2")
    page.get_by_label("Also rated, not returned").fill("3 2")
    run(page)
    panel = page.get_by_role("region", name="Result of nDCG@10 linear")
    working = page.get_by_role("region", name="Calculation of nDCG@10 linear")
    expect(working.locator("tbody tr")).to_have_count(8)
    expect(working.get_by_role("button", name="Copy as CSV")).to_be_visible()
    expect(panel.locator(".big-score b")).to_have_text(re.compile(r"^\d+\.\d$"))
    outdated = page.locator("#preview-outdated")
    expect(outdated).to_be_hidden()
    page.get_by_label("Grades, in rank order").fill("3 3")
    expect(outdated).to_be_visible()
    run(page)
    expect(outdated).to_be_hidden()


def test_retire_can_be_undone(look: Opens, people: dict[str, User]) -> None:
    mine = scorers.create(name="Mine", definition=ScorerDefinition(measure="P@5"), by=people["owner"])
    page = look("owner")
    page.goto(f"/scorers/{mine.pk}/")
    page.get_by_text("More", exact=True).click()
    page.get_by_role("button", name="Retire").click()
    expect(page.get_by_text("retired", exact=True)).to_be_visible()
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    expect(page.get_by_text("retired", exact=True)).to_have_count(0)
    mine.refresh_from_db()
    assert mine.retired_at is None


def test_without_javascript(look: Opens, people: dict[str, User]) -> None:
    page = look("rater", java_script_enabled=False)
    page.goto("/scorers/new/?kind=script")
    page.get_by_label("Name", exact=True).fill("Plain")
    page.get_by_label("The script gives").select_option("100")
    page.get_by_role("textbox", name="Script", exact=True).fill(SCRIPT)
    page.get_by_role("button", name="Run").click()
    assert answer(page) == "90.0"
    expect(page.get_by_text("editDistanceFromBest(count)", exact=True)).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Plain")).to_be_visible()
    page.goto("/scorers/new/")
    page.get_by_label("Measure", exact=True).select_option("RBP")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_label("Persistence")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 768])
def test_pages_name_their_controls_and_fit(look: Opens, case: Case, people: dict[str, User], width: int) -> None:
    mine = scorers.create(name="x" * 120, definition=ScorerDefinition(script=SCRIPT), by=people["owner"])
    scorers.add_scorer(case=case, scorer=mine)
    shipped = Scorer.objects.get(name="nDCG@10")
    addresses = [
        "/scorers/",
        "/scorers/new/",
        "/scorers/new/?kind=script",
        "/scorers/import/",
        f"/scorers/{shipped.pk}/",
    ]
    addresses += [f"/scorers/{mine.pk}/{action}" for action in ("", "edit/", "share/", "replace/", "delete/")]
    page = look("owner", viewport={"width": width, "height": 900})
    wrong = {}
    for address in addresses:
        page.goto(address, wait_until="load")
        faults = [page.evaluate(question) for question in (_NAMELESS, _TWICE, _TOO_WIDE)]
        if any(faults) or page.locator("h1").count() != 1:
            wrong[address] = faults
    assert not wrong
