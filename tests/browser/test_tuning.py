"""The tune pane: errors in the editor, the next attempt, its run and the history."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from relevancy import runs, scores, tasks
from relevancy.engines import knob_text
from relevancy.models import Case, Run, User
from tests import factories

from . import stage
from .code_editor import editor, text_of, write
from .conftest import Opens
from .serving import TURN
from .workbench_page import WorkbenchPage

RATINGS = {
    "star wars": {"star-wars-1977": 10, "star-wars-episode-ii-attack-of-the-clones-2002": 4},
    "alien": {"alien-1979": 10, "aliens-1986": 8},
}


def _run(page: Page) -> None:
    page.locator("#case-score").get_by_role("button", name="Run").click()


@pytest.fixture
def case(people: dict[str, User], films: str) -> Case:
    return stage.film_case(people["editor"], ["star wars", "alien"], ratings=RATINGS)


@pytest.mark.parametrize(
    ("template", "position"),
    [
        ('{\n  "query": "#$query##",\n  "fields": {"title" 1}\n}', "Line 3, column 22"),
        ('{\n  "query": "#$query##"\n', "Line 3, column 1"),
        ('{"query": "#$qurey##"}', "Line 1, column 12"),
        ('{"query": "#$query##",\n "fields": {"title": ##title boost##}}', "Line 2, column 22"),
    ],
    ids=["json", "unfinished", "unknown placeholder", "no knob"],
)
def test_refused_template_is_explained_at_the_editor(look: Opens, case: Case, template: str, position: str) -> None:
    page = look("editor")
    page.watch.expect(422)  # type: ignore[attr-defined]
    workbench = WorkbenchPage(page, case)
    score = workbench.case_score.inner_text()
    workbench.mark_document()
    page.get_by_label("Name of the next attempt").fill("A try")
    write(page, template)
    _run(page)
    expect(page.locator("#template_error")).to_contain_text(position)
    assert text_of(page) == template
    expect(editor(page)).to_have_accessible_description(page.locator("#template_error").inner_text())
    expect(page.locator(".ace_gutter-cell.ace_error")).to_have_text(position.split(",")[0].removeprefix("Line "))
    expect(page.get_by_label("Name of the next attempt")).to_have_value("A try")
    expect(workbench.case_score).to_have_text(score)
    workbench.expect_no_reload()
    assert case.attempts.count() == 1
    assert case.runs.count() == 1


def test_errors_of_settings_appear_at_their_field(look: Opens, case: Case) -> None:
    page = look("editor")
    page.watch.expect(422)  # type: ignore[attr-defined]
    WorkbenchPage(page, case)
    page.get_by_label("Displayed fields").fill("id:id title: ")
    _run(page)
    field = page.locator(".field").filter(has=page.get_by_label("Displayed fields"))
    expect(field.locator(".hint.bad")).to_be_visible()
    expect(page.get_by_label("Displayed fields")).to_have_value("id:id title: ")
    assert case.attempts.count() == 1


def test_next_attempt_runs_and_shows_the_difference(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    before = stage.case_score(case).score
    assert before is not None
    expect(workbench.case_score).to_have_text(stage.shown(before))
    expect(page.locator(".knob .run-value")).to_have_text("")
    page.get_by_role("textbox", name="title_boost").fill("0")
    expect(page.locator(".knob .run-value")).to_have_text("was 10")
    page.get_by_label("Name of the next attempt").fill("Overview only")
    editor(page).press("Control+Enter")

    expect(page.locator("#tune-header h2")).to_have_text("Attempt 2")
    expect(page.get_by_role("button", name="Run attempt 2 again")).to_be_visible()
    now = stage.case_score(case)
    assert now.score is not None and now.run.number == 2
    expect(workbench.case_score).to_have_text(stage.shown(now.score))
    # Not the difference of the two scores: a query that is scored in one run only does not count.
    difference = scores.compare_runs(now.run, case.runs.get(number=1), now.version).difference
    assert difference, "The change changes nothing: choose another one."
    change = f"{difference:+.1f}".replace("-", "−")
    expect(page.locator("#case-score .current-score .delta")).to_contain_text(change)
    expect(page.locator("#case-score .current-score")).to_contain_text("vs run 1")
    expect(page.locator(".tree li.attempt")).to_have_count(2)
    expect(page.locator(".tree li.attempt").first).to_contain_text("Overview only")
    expect(page.locator(".tree li.attempt").first).to_contain_text("title_boost 10 → 0")
    history = page.locator("#case-score figure")
    for title in ("Run 1 · attempt 1", "Run 2 · attempt 2"):
        expect(history.get_by_text(title)).not_to_have_count(0)


def test_run_shows_its_progress_and_updates_in_place(look: Opens, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test takes the place of the worker and searches one query at a time."""
    waiting: list[Run] = []
    monkeypatch.setattr(tasks, "enqueue_run", waiting.append)
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    last = workbench.case_score.inner_text()
    page.get_by_label("Name of the next attempt").fill("Same again")
    page.get_by_role("textbox", name="title_boost").fill("3")
    _run(page)
    head = page.locator("#case-score")
    expect(head).to_contain_text("Waiting for the worker")
    expect(workbench.case_score).to_have_text(last)
    expect(page.locator("#queries.is-outdated tbody.query")).to_have_count(2)
    workbench.mark_document()
    workbench.opener("alien").click()
    expect(workbench.results("alien")).not_to_have_count(0)
    expect(workbench.row("alien")).to_have_class(re.compile("waiting"))

    _work(waiting[0])
    expect(head).to_contain_text("1 of 2")
    expect(head.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "1")
    expect(page.locator("tbody.query.waiting")).to_have_count(1)
    expect(workbench.row("alien")).to_have_class(re.compile(r"query\s+is-open\s+waiting"))
    _work(waiting[0])
    expect(head.get_by_role("button", name="Run")).to_be_visible()
    expect(head.get_by_role("progressbar")).to_have_count(0)
    expect(workbench.case_score).to_have_text(stage.shown(stage.case_score(case).score))
    expect(page.locator("tbody.query.waiting")).to_have_count(0)
    expect(workbench.results("alien")).not_to_have_count(0)
    workbench.expect_no_reload()


def test_run_is_stopped_and_completed(look: Opens, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: list[Run] = []
    monkeypatch.setattr(tasks, "enqueue_run", waiting.append)
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    _run(page)
    expect(page.locator("#case-score")).to_contain_text("Waiting for the worker")
    _work(waiting[0])
    page.get_by_role("button", name="Stop").click()
    notice = page.locator('[data-notice="run-cancelled"]')
    expect(notice).to_contain_text("Run 2 was stopped")
    workbench.expect_no_score("alien")
    with page.expect_response(lambda response: response.request.method == "POST"):
        notice.get_by_role("button", name="Search the rest").click()
    expect(page.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "1")
    _work(waiting[1])
    expect(page.locator("#case-score").get_by_role("button", name="Run")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(workbench.score("alien")).to_have_text(stage.shown(stage.query_score(case, "alien").score))


def test_knob_appears_while_it_is_typed(look: Opens, case: Case) -> None:
    page = look("editor")
    page.watch.expect(422)  # type: ignore[attr-defined]
    WorkbenchPage(page, case)
    write(page, '{"query": "#$query##", "fields": {"title": ##title_boost##, "cast": ##cast_boost##}}')
    added = page.get_by_role("textbox", name="cast_boost")
    expect(added).to_have_value("10")
    added.fill("2.5")
    expect(page.get_by_role("slider", name="cast_boost")).to_have_value("2.5")
    write(page, '{"query": "#$query##", "fields": {"cast": ##cast_boost##}')
    expect(page.get_by_role("textbox", name="title_boost")).to_be_hidden()
    _run(page)
    expect(page.locator("#template_error")).to_be_visible()
    expect(added).to_have_value("2.5")
    write(page, '{"query": "#$query##", "fields": {"cast": ##cast_boost##}}')
    _run(page)
    expect(page.locator("#tune-header h2")).to_have_text("Attempt 2")
    expect(page.get_by_role("button", name="Run attempt 2 again")).to_be_visible()
    assert case.attempts.order_by("-number")[0].knobs == {"cast_boost": 2.5}


def test_arrow_keys_step_the_number_of_a_knob_and_leave_a_text(look: Opens, case: Case) -> None:
    page = look("editor")
    WorkbenchPage(page, case)
    field, slider = (
        page.get_by_role("textbox", name="title_boost"),
        page.locator("[data-knob=title_boost] input[type=range]"),
    )
    slider.evaluate("slider => { slider.step = '0.1'; }")
    field.fill("10")
    field.press("ArrowUp")
    expect(field).to_have_value("10.1")
    expect(slider).to_have_value("10.1")
    field.press("ArrowDown")
    field.press("ArrowDown")
    expect(field).to_have_value("9.9")
    field.press("Shift+ArrowDown")
    expect(field).to_have_value("8.9")
    expect(page.locator("[data-knob=title_boost] .run-value")).to_have_text("was 10")
    field.fill("75%")
    field.press("ArrowUp")
    expect(field).to_have_value("75%")


def test_a_knob_becomes_a_text_and_a_number_again(look: Opens, case: Case) -> None:
    page = look("editor")
    WorkbenchPage(page, case)
    write(page, '{"query": "#$query##", "minimum_should_match": ##mm##}')
    field, slider = page.get_by_role("textbox", name="mm"), page.locator("[data-knob=mm] input[type=range]")
    expect(slider).to_be_visible()
    field.fill("2<75%")
    expect(slider).to_be_hidden()
    _run(page)
    expect(page.get_by_role("button", name="Run attempt 2 again")).to_be_visible()
    assert case.attempts.order_by("-number")[0].knobs == {"mm": "2<75%"}
    expect(field).to_have_value("2<75%")
    field.fill("75%")
    expect(page.locator("[data-knob=mm] .run-value")).to_have_text("was 2<75%")
    field.fill("2")
    expect(slider).to_be_visible()
    expect(slider).to_have_value("2")


def test_changed_lines_are_marked_against_the_run(look: Opens, case: Case) -> None:
    page = look("editor")
    WorkbenchPage(page, case)
    editor(page).wait_for(state="attached")
    marked = page.locator(".ace-changed-line")
    expect(marked).to_have_count(0)
    before = text_of(page)
    editor(page).press("Control+End")
    page.keyboard.press("Enter")
    expect(marked).to_have_count(1)
    page.keyboard.press("Backspace")
    expect(marked).to_have_count(0)
    assert text_of(page) == before


def test_format_chart_label_and_size_of_pictures(look: Opens, case: Case) -> None:
    attempt = case.attempts.get()
    pictures = runs.attempts.save(
        case=case, endpoint=attempt.endpoint, template=attempt.template, knobs=attempt.knobs,
        fields=f"{attempt.fields} thumb:poster", by=case.owner,
    )  # fmt: skip
    factories.run_now(pictures)
    page = look("editor")
    workbench = WorkbenchPage(page, case)

    write(page, '{"query":"#$query##","fields":{"title":##title_boost##, "a,b: {":1},"x":[]}')
    page.get_by_role("button", name="Format").click()
    formatted = '{\n  "query": "#$query##",\n  "fields": {"title": ##title_boost##, "a,b: {": 1},\n  "x": []\n}'
    assert text_of(page) == formatted
    page.get_by_role("button", name="Format").click()
    assert text_of(page) == formatted
    write(page, '{"query": ["#$query##"}')
    page.get_by_role("button", name="Format").click()
    expect(workbench.toast("not formatted")).to_be_visible()
    assert text_of(page) == '{"query": ["#$query##"}'
    write(page, "q=#$query##&defType=edismax&&#$qOption.a##=1")
    page.get_by_role("button", name="Format").click()
    assert text_of(page) == "q=#$query##\ndefType=edismax\n&#$qOption.a##=1"

    chart, label = page.locator("#case-score figure"), page.locator(".chart-label")
    box = chart.locator("svg.chart").bounding_box()
    assert box
    page.mouse.move(box["x"] + 10, box["y"] + 40)
    expect(label).to_contain_text("Run 1 · attempt 1")
    page.mouse.move(box["x"] + box["width"] - 10, box["y"] + 40)
    expect(label).to_contain_text("Run 2 · attempt 2")
    page.mouse.move(5, 5)
    expect(label).to_be_hidden()
    chart.get_by_role("link").first.focus()
    expect(label).to_contain_text("Run 1 · attempt 1")

    thumb = workbench.open("alien").first.locator(".thumb")
    small = thumb.bounding_box()
    page.get_by_role("button", name="Large pictures").click()
    large = thumb.bounding_box()
    assert small and large and (small["width"], large["width"]) == (34, 96)
    page.evaluate("sessionStorage.clear()")
    other = WorkbenchPage(page, case)
    expect(page.get_by_role("button", name="Large pictures")).to_have_attribute("aria-pressed", "true")
    large = other.open("alien").first.locator(".thumb").bounding_box()
    assert large and large["width"] == 96


def test_editor_replaces_the_field_and_the_keyboard_can_leave_it(look: Opens, case: Case) -> None:
    plain = look("editor", java_script_enabled=False)
    WorkbenchPage(plain, case)
    reserved = plain.locator("textarea[name=template]").bounding_box()
    page = look("editor")
    WorkbenchPage(page, case)
    page.locator(".code-editor .ace_line").first.wait_for()
    taken = page.locator(".code-editor").bounding_box()
    assert reserved and taken
    assert (taken["x"], taken["y"], taken["width"]) == (reserved["x"], reserved["y"], reserved["width"])
    assert abs(taken["height"] - reserved["height"]) <= 2
    editor(page).focus()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.locator(".code-editor :focus")).to_have_count(0)
    page.keyboard.press("Shift+Tab")
    expect(page.locator(".code-editor :focus")).to_have_count(1)


def test_other_scorer_scores_the_same_run(look: Opens, case: Case) -> None:
    workbench = WorkbenchPage(look("editor"), case)
    before = workbench.case_score.inner_text()
    workbench.page.get_by_label("Scorer", exact=True).select_option("P@10")
    expect(workbench.case_score).not_to_have_text(before)
    expect(workbench.case_score).to_have_text(stage.shown(stage.case_score(case).score))
    expect(workbench.page.get_by_label("Scorer", exact=True).locator("option:checked")).to_have_text("P@10")
    assert case.runs.count() == 1


def _work(run: Run, **message: Any) -> None:
    """Search one more query of a run."""
    with TURN:
        runs.continue_run(run.pk, limit=1, **message)


@pytest.mark.parametrize(
    ("template", "number", "made", "name", "value"),
    [
        (
            '{"query": "#$query##", "fields": {"title": 3.5, "cast": 2}}',
            "3.5",
            '"title": ##title##, "cast": 2',
            "title",
            3.5,
        ),
        (
            '{"query": "#$query##", "tie": {"a": [1], "weight": 12}}',
            "12",
            '"weight": ##tie_weight##}',
            "tie_weight",
            12,
        ),
        ('{"query": "#$query##", "a": ##tie##, "tie": 0.3}', "0.3", '"tie": ##tie_2##}', "tie_2", 0.3),
        ("q=#$query##&qf=title^10 overview&tie=0.1", "10", "qf=title^##title_boost## overview", "title_boost", 10),
        ("q=#$query##&qf=title^10 overview&tie=0.1", "0.1", "&tie=##tie##", "tie", 0.1),
        ('{"query": "#$query##", "mm": "2<75%"}', "75", '"mm": "##mm##"', "mm", "2<75%"),
        ("q=#$query##&q.op=AND&qf=title^10 overview", "ND", "&q.op=##q_op##&", "q_op", "AND"),
    ],
    ids=["key", "vague key", "name in use", "boost", "parameter", "text", "text of a parameter"],
)
def test_value_at_the_cursor_becomes_a_knob(
    look: Opens, case: Case, template: str, number: str, made: str, name: str, value: float | str
) -> None:
    page = look("editor")
    WorkbenchPage(page, case)
    write(page, template)
    for _ in range(len(template) - template.rindex(number) - 1):
        page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Knob", exact=True).click()
    assert made in text_of(page)
    knob = page.get_by_role("textbox", name=name, exact=True)
    expect(knob).to_have_value(knob_text(value))
    page.keyboard.press("Control+z")
    assert text_of(page) == template
    expect(knob).to_be_hidden()
    page.keyboard.press("Control+Alt+k")
    assert made in text_of(page)


def test_without_a_value_at_the_cursor_nothing_becomes_a_knob(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    template = '{"query": "#$keyword1##", "bm25": ##b2##}'
    write(page, template)
    for _ in range(len(template)):
        page.keyboard.press("Control+Alt+k")
        page.keyboard.press("ArrowLeft")
    assert text_of(page) == template
    expect(workbench.toast("no number or text at the cursor")).to_be_visible()
