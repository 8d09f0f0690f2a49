"""Two runs compared: change a knob, run, compare, see the verdict, open a query, rate a document."""

from pathlib import Path

import pytest
from playwright.sync_api import Download, Page, expect

from relevancy import comparison, runs
from relevancy.models import Case, Run, ScorerVersion, User
from tests import factories

from . import stage
from .code_editor import editor
from .conftest import Opens
from .workbench_page import WorkbenchPage

TEXTS = ["star wars", "alien", "solaris", "stalker"]
RATINGS = {
    "star wars": {"star-wars-1977": 10, "star-wars-episode-ii-attack-of-the-clones-2002": 4},
    "alien": {"alien-1979": 10, "aliens-1986": 8},
}


@pytest.fixture
def case(people: dict[str, User], films: str) -> Case:
    return stage.film_case(people["editor"], TEXTS, ratings=RATINGS, knobs={"title_boost": 10})


def _verdict(case: Case) -> str:
    compared = list(Run.objects.filter(case=case).select_related("case__book").order_by("number"))
    version = ScorerVersion.objects.used_by(case)[0]
    return comparison.describe_verdict(comparison.compare(runs=compared, version=version).pairs[0])


def _crowded_headings(page: Page) -> list[str]:
    """The headings of the list whose text leaves its cell, or comes closer than 4 pixels to its border."""
    headings: list[str] = page.locator(".compared-table th").evaluate_all(
        """cells => cells.filter((cell) => {
             const [text, box] = [document.createRange(), cell.getBoundingClientRect()];
             text.selectNodeContents(cell);
             const { left, right, width } = text.getBoundingClientRect();
             return width && (left < box.left + 4 || right > box.right - 4);
           }).map((cell) => cell.textContent.trim())"""
    )
    return headings


def test_change_a_knob_run_compare_and_rate(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    page.get_by_role("textbox", name="title_boost").fill("0")
    editor(page).press("Control+Enter")
    expect(page.get_by_role("button", name="Run attempt 2 again")).to_be_visible()
    expect(workbench.case_score).to_have_text(stage.shown(stage.case_score(case).score))
    page.locator("#next-compare").click()

    sentence = page.locator("#verdict-sentence")
    expect(sentence).to_have_text(_verdict(case))
    rows = page.locator("#compared-queries tbody tr")
    expect(rows).to_have_count(len(TEXTS))
    assert _crowded_headings(page) == []
    page.locator("[data-open-query]", has_text="alien").click()
    expect(page.locator("#compared-title")).to_have_text("alien")
    expect(page.locator("[data-side=before] li")).not_to_have_count(0)
    assert _crowded_headings(page) == []
    expect(page.locator("tr[aria-selected=true]")).to_contain_text("alien")

    document = page.locator(".compared-documents li[data-doc='aliens-1986']")
    button = document.locator("[data-grade='2']")
    button.click()
    expect(button).to_have_attribute("aria-checked", "true")
    expect(button).to_be_focused()
    expect(page.locator("[data-side=after] li", has_text="Aliens").locator(".grade")).to_have_text("2")
    expect(page.locator("#verdict")).not_to_have_attribute("data-pending", "")
    expect(sentence).to_have_text(_verdict(case))
    page.reload()
    expect(page.locator("#compared-title")).to_have_text("alien")


@pytest.mark.parametrize("width", [1280, 1920])
def test_the_choices_of_five_runs_do_not_overlap(look: Opens, case: Case, width: int) -> None:
    for _ in range(4):
        runs.finish_here(runs.start(attempt=case.attempts.get(), by=case.owner))
    page = look("editor", viewport={"width": width, "height": 900})
    page.goto(f"/cases/{case.pk}/compare/?run=1&run=2&run=3&run=4&run=5")
    overflowing = page.locator(".run-label").evaluate_all(
        "labels => labels.filter((label) => label.offsetWidth > label.parentElement.clientWidth).length"
    )
    assert page.locator(".run-label").count() == 5
    assert overflowing == 0


def test_compare_without_javascript(look: Opens, case: Case) -> None:
    runs.finish_here(runs.start(attempt=case.attempts.get(), by=case.owner))
    page = look("rater", java_script_enabled=False)
    page.goto(f"/cases/{case.pk}/compare/")
    page.reload()
    expect(page.locator("#verdict-sentence")).to_have_text(_verdict(case))
    page.locator("[data-open-query]", has_text="star wars").click()
    page.locator(".compared-documents li[data-doc='star-wars-1977'] [data-grade='5']").click()
    document = page.locator(".compared-documents li[data-doc='star-wars-1977']")
    expect(document.locator("[data-grade='5']")).to_have_attribute("aria-checked", "true")


def _rate_first_results(case: Case) -> None:
    """Rates what each run found first for each query, so that every query has a score in every run."""
    for run, grade in zip(Run.objects.filter(case=case).order_by("-number"), (4, 10), strict=True):
        rankings = run.rankings.select_related("query")
        grades = {ranking.query.text: {ranking.hits[0][0]: grade} for ranking in rankings if ranking.hits}
        factories.rate_all(case, grades, case.owner)


def test_charts_open_a_query_and_follow_the_theme(look: Opens, case: Case, tmp_path: Path) -> None:
    attempt = case.attempts.get()
    changed = runs.attempts.save(
        case=case,
        endpoint=attempt.endpoint,
        template=attempt.template,
        fields=attempt.fields,
        knobs={"title_boost": 0},
        by=case.owner,
        parent=attempt,
    )
    runs.finish_here(runs.start(attempt=changed, by=case.owner))
    _rate_first_results(case)
    page = look("viewer")
    page.goto(f"/cases/{case.pk}/compare/")
    assert page.locator("[data-chart]").count() == 0
    page.locator("#tab-charts").click()
    chart = page.locator("#chart-scatter[data-drawn]")
    points = chart.locator(".points path")
    expect(chart).to_be_visible()
    expect(points).to_have_count(len(TEXTS))
    expect(page.locator("#chart-differences[data-drawn] .bars .point")).not_to_have_count(0)

    before = points.first.evaluate("point => point.style.fill")
    page.locator("[data-theme-switch]").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.wait_for_function(
        "before => document.querySelector('#chart-scatter .points path').style.fill !== before", arg=before
    )

    points.first.scroll_into_view_if_needed()
    point = points.first.bounding_box()
    assert point is not None
    page.mouse.move(point["x"] + point["width"] / 2, point["y"] + point["height"] / 2)
    label = chart.locator(".hoverlayer .hovertext .line").first
    expect(label).to_be_visible()
    text = label.text_content() or ""
    assert text in TEXTS
    page.mouse.down()
    page.mouse.up()
    expect(page.locator("#compared-title")).to_have_text(text)
    expect(page.locator("#compared-queries tr[aria-selected=true]")).to_contain_text(text)
    assert "open=" in page.url
    page.reload()
    expect(page.locator("#compared-title")).to_have_text(text)

    # A selection in a chart filters the list, and is part of the address.
    figure = page.locator("figure", has=chart)
    figure.locator("[data-drag=select]").click()
    expect(figure.locator("[data-drag=select]")).to_have_attribute("aria-pressed", "true")
    expect(points).to_have_count(len(TEXTS))
    chart.scroll_into_view_if_needed()
    area = chart.locator(".nsewdrag").first.bounding_box()
    boxes = [points.nth(number).bounding_box() for number in range(len(TEXTS))]
    assert area is not None
    centers = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes if box]
    x, y = centers[0]  # the box goes from 30 pixels towards the middle of the chart to 5 pixels behind the point
    right = 1 if x < area["x"] + area["width"] / 2 else -1
    down = 1 if y < area["y"] + area["height"] / 2 else -1
    inside = [point for point in centers if -5 <= right * (point[0] - x) <= 30 and -5 <= down * (point[1] - y) <= 30]
    page.mouse.move(x + 30 * right, y + 30 * down)
    page.mouse.down()
    page.mouse.move(x + 10 * right, y + 10 * down, steps=2)
    page.mouse.move(x - 5 * right, y - 5 * down, steps=2)
    page.mouse.up()
    chip = page.locator("#picked-queries")
    expect(chip).to_contain_text(f"{len(inside)} quer")
    expect(page.locator("#compared-queries tbody tr")).to_have_count(len(inside))
    page.reload()
    expect(page.locator("#compared-queries tbody tr")).to_have_count(len(inside))
    chip.click()
    expect(page.locator("#compared-queries tbody tr")).to_have_count(len(TEXTS))

    # The report opens from a file: its charts are drawn, its style counts, and it asks for nothing else.
    sentence = page.locator("#verdict-sentence").text_content() or ""
    with page.expect_download() as download:
        page.locator("#compare-report").click()
    path = tmp_path / "report.html"
    download.value.save_as(path)
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.goto(path.as_uri())
    expect(page.locator(".report-pair h2")).to_have_text(" ".join(sentence.split()))
    expect(page.locator("#queries tbody tr")).to_have_count(len(TEXTS))
    assert page.locator(".report svg path.gain, .report svg path.loss, .report svg path.points").count() == 3
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    assert requested == [path.as_uri()]


def test_a_file_whose_figures_have_to_be_computed_again_leads_to_the_page(look: Opens, case: Case) -> None:
    """Neither the answer without figures nor the page for signing in is saved as a file."""
    runs.finish_here(runs.start(attempt=case.attempts.get(), by=case.owner))
    page = look("editor")
    page.goto(f"/cases/{case.pk}/compare/")
    expect(page.locator(".downloads a")).to_have_count(3)
    saved: list[Download] = []
    page.on("download", lambda download: saved.append(download))
    factories.rate_all(case, {"solaris": {"solaris-1972": 10}}, case.owner)
    page.locator(".downloads a", has_text="JSON").click()
    expect(page.locator("#toasts")).to_contain_text("is being computed")
    expect(page.locator("#verdict-sentence")).to_have_text(_verdict(case))
    page.context.clear_cookies()
    page.locator(".downloads a", has_text="CSV").click()
    expect(page.locator("#id_password")).to_be_visible()
    assert saved == []


def _is_in_view(page: Page, selector: str) -> bool:
    """Whether the whole element is within the window."""
    box = page.locator(selector).bounding_box()
    size = page.viewport_size
    assert size is not None
    return box is not None and box["y"] >= 0 and box["y"] + box["height"] <= size["height"]


def test_the_worst_query_is_one_press_away_with_both_lists_in_view(look: Opens, case: Case) -> None:
    attempt = case.attempts.get()
    changed = runs.attempts.save(
        case=case,
        endpoint=attempt.endpoint,
        template=attempt.template,
        fields=attempt.fields,
        knobs={"title_boost": 0},
        by=case.owner,
        parent=attempt,
    )
    runs.finish_here(runs.start(attempt=changed, by=case.owner))
    _rate_first_results(case)
    page = look("rater", viewport={"width": 1280, "height": 800})
    page.goto(f"/cases/{case.pk}/compare/")
    rows = page.locator("#compared-queries tbody tr")
    expect(rows).to_have_count(len(TEXTS))
    listed = page.locator("#compared-queries").bounding_box()
    assert listed is not None and listed["y"] <= 420
    widths = [box["width"] for box in (row.bounding_box() for row in page.locator("[data-open-query]").all()) if box]

    rows.first.locator("a").click()  # the one press: the largest loss comes first
    expect(page.locator("[data-side=after] li")).not_to_have_count(0)
    assert _is_in_view(page, "#compared-sides .sides") and _is_in_view(page, "#compared-queries tr[aria-selected=true]")
    after = [box["width"] for box in (row.bounding_box() for row in page.locator("[data-open-query]").all()) if box]
    assert after == widths  # the texts keep their width
    opened = page.locator("#compared-title").text_content()
    assert "open=" in page.url

    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#compared-title")).not_to_have_text(str(opened))
    page.go_back()
    expect(page.locator("#compared-title")).to_have_text(str(opened).strip())
    page.wait_for_load_state("networkidle")
    page.keyboard.press("Escape")
    expect(page.locator("#compared-title")).to_have_count(0)
    assert "open=" not in page.url


def test_documents_of_an_opened_query_are_readable_on_a_phone(look: Opens, case: Case) -> None:
    runs.finish_here(runs.start(attempt=case.attempts.get(), by=case.owner))
    page = look("rater", viewport={"width": 390, "height": 844})
    opened = case.case_queries.get(query__text="star wars")
    page.goto(f"/cases/{case.pk}/compare/?open={opened.pk}")
    documents = page.locator(".compared-documents li")
    expect(documents.first).to_be_visible()
    widths = documents.locator("> div:first-of-type").evaluate_all("nodes => nodes.map(node => node.clientWidth)")
    assert min(widths) > 200  # 8, one letter to a line, when the ten grades stood beside the text
    assert page.evaluate("document.documentElement.scrollWidth") == 390
