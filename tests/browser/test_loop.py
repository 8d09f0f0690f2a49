"""The loop of tuning: change, run, look at the same query. The page stays where it is, and edits are not lost."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from relevancy import ratings, runs, tasks
from relevancy.models import Case, QueryScore, Run, User
from relevancy.templatetags import numbers
from tests.factories import query_of, set_rule

from . import stage
from .code_editor import editor, text_of, write
from .conftest import Opens
from .serving import TURN
from .workbench_page import WorkbenchPage

TEXTS = ["star wars", "alien", "solaris", "stalker", "the star", "starman", "metropolis", "blade runner"]
RATINGS = {
    "star wars": {"star-wars-1977": 10, "star-wars-episode-ii-attack-of-the-clones-2002": 4},
    "alien": {"alien-1979": 10, "aliens-1986": 8},
}
SCROLLED = """() => ["#content", "#tune"].map((name) => document.querySelector(name).scrollTop)"""


@pytest.fixture
def case(people: dict[str, User], films: str) -> Case:
    return stage.film_case(people["editor"], TEXTS, ratings=RATINGS)


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """The runs that were started; the test is their worker."""
    started: list[Run] = []
    monkeypatch.setattr(tasks, "enqueue_run", started.append)
    return started


def _work(run: Run, limit: int) -> None:
    with TURN:
        runs.continue_run(run.pk, limit=limit)


def _scroll(page: Page, content: int, tune: int) -> list[int]:
    page.evaluate(
        "([content, tune]) => { document.querySelector('#content').scrollTop = content;"
        " document.querySelector('#tune').scrollTop = tune; }",
        [content, tune],
    )
    scrolled: list[int] = page.evaluate(SCROLLED)
    assert min(scrolled) > 0, "Nothing to scroll: make the page lower."
    return scrolled


def test_run_leaves_the_page_as_it_is(look: Opens, case: Case, waiting: list[Run]) -> None:
    page = look("editor", viewport={"width": 1280, "height": 700})
    workbench = WorkbenchPage(page, case, "?q=star&sort=score")
    workbench.mark_document()
    workbench.open("star wars")
    before = workbench.score("star wars").inner_text()
    write(page, stage.TEMPLATE.replace('"overview": 1', '"overview": 2'))
    expect(editor(page)).to_be_focused()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    scrolled = _scroll(page, 120, 60)
    page.keyboard.press("Control+Enter")

    head = page.locator("#case-score")
    expect(head).to_contain_text("Waiting for the worker")
    expect(workbench.score("star wars")).to_have_text(before)
    expect(page.locator("#tune-header h2")).to_have_text("Attempt 2")
    _work(waiting[0], 4)
    expect(head).to_contain_text("4 of 8")
    expect(page.locator("tbody.query.waiting")).not_to_have_count(0)
    expect(page.locator("#queries .skeleton")).to_have_count(0)
    _work(waiting[0], 4)
    expect(head.get_by_role("button", name="Run attempt 2 again")).to_be_visible()
    expect(page.locator("tbody.query.waiting")).to_have_count(0)
    expect(page.locator(".tree [data-attempt='2'] .value")).to_have_text(stage.shown(stage.case_score(case).score))
    expect(workbench.score("star wars")).to_have_text(stage.shown(stage.query_score(case, "star wars").score))
    expect(workbench.results("star wars")).not_to_have_count(0)

    assert page.evaluate(SCROLLED) == scrolled
    assert "?q=star&sort=score&open=" in page.url
    assert len(workbench.texts()) == 3
    expect(page.locator("#filter")).to_have_value("star")
    expect(editor(page)).to_be_focused()
    page.keyboard.insert_text("5")
    assert text_of(page).endswith('"overview": 25}\n}'), "The caret has moved."
    workbench.expect_no_reload()


def test_short_run_shows_without_waiting_for_a_second(look: Opens, case: Case, waiting: list[Run]) -> None:
    """Between the start of the run and the first look at it there are 100 ms, not a second."""
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    workbench.mark_document()
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url) if "/state/" in request.url else None)
    page.get_by_role("button", name="Run attempt 1 again").click()
    expect(page.locator("#case-score")).to_contain_text("Waiting for the worker")
    with page.expect_request("**/state/?*poll=1"), page.expect_request("**/state/?*poll=3"):
        pass
    _work(waiting[0], 8)
    expect(page.get_by_role("button", name="Run attempt 1 again")).to_be_focused()
    workbench.expect_no_reload()


def test_draft_is_shown_kept_and_discarded(look: Opens, case: Case) -> None:
    page = look("editor")
    page.on("dialog", lambda dialog: dialog.accept())
    workbench = WorkbenchPage(page, case)
    title, run = page.locator("#tune-header h2"), page.locator("#run-button")
    saved = text_of(page)
    expect(run).to_contain_text("Run attempt 1 again")
    edited = saved.replace("##title_boost##", '##title_boost##, "cast": ##cast_boost##')
    write(page, edited)
    page.get_by_role("textbox", name="cast_boost").fill("2.5")
    page.get_by_role("textbox", name="title_boost").fill("4")
    page.get_by_label("Name of the next attempt").fill("With the cast")
    expect(title).to_have_text("Attempt 2")
    expect(page.locator("#tune-header")).to_contain_text("draft from 1")
    expect(run).to_contain_text("Run attempt 2")

    workbench.open("alien")  # what replaces the head keeps what the button says
    workbench.grade(workbench.results("alien").nth(3), 5).click()
    expect(page.locator(".rate.rated")).not_to_have_count(0)
    expect(run).to_contain_text("Run attempt 2")

    page.reload()
    expect(title).to_have_text("Attempt 2")
    assert text_of(page) == edited
    expect(page.get_by_role("textbox", name="cast_boost")).to_have_value("2.5")
    expect(page.get_by_role("textbox", name="title_boost")).to_have_value("4")
    expect(page.get_by_label("Name of the next attempt")).to_have_value("With the cast")

    page.get_by_role("button", name="Discard").click()
    expect(title).to_have_text("Attempt 1")
    assert text_of(page) == saved
    expect(page.get_by_role("textbox", name="title_boost")).to_have_value("10")
    workbench.toast("discarded").get_by_role("button", name="Undo").click()
    expect(title).to_have_text("Attempt 2")
    assert text_of(page) == edited
    expect(page.get_by_role("textbox", name="cast_boost")).to_have_value("2.5")

    run.click()
    expect(page.locator(".tree li.attempt").first).to_contain_text("With the cast")
    expect(run).to_contain_text("Run attempt 2 again")
    page.reload()
    expect(title).to_have_text("Attempt 2")
    expect(page.get_by_text("draft from")).to_be_hidden()
    assert case.attempts.order_by("-number")[0].knobs == {"title_boost": 4, "cast_boost": 2.5}


def test_closing_the_page_asks_while_there_is_a_draft(look: Opens, case: Case) -> None:
    page = look("editor")
    dialogs: list[str] = []

    def answer(dialog: object) -> None:
        dialogs.append(dialog.type)  # type: ignore[attr-defined]
        dialog.accept()  # type: ignore[attr-defined]

    page.on("dialog", answer)
    WorkbenchPage(page, case)
    page.get_by_role("textbox", name="title_boost").fill("10")
    page.reload()
    assert dialogs == [], "Nothing was changed."
    page.get_by_role("textbox", name="title_boost").fill("11")
    page.reload()
    assert dialogs == ["beforeunload"]
    page.get_by_role("link", name="Cases").first.click()
    expect(page.locator("#tune")).to_have_count(0)
    assert dialogs == ["beforeunload"], "The tab keeps the draft when a link is followed."


def test_another_attempt_and_its_last_run_are_shown_in_place(look: Opens, case: Case) -> None:
    page = look("editor", viewport={"width": 1280, "height": 700})
    workbench = WorkbenchPage(page, case, "?q=star&sort=score")
    page.get_by_role("textbox", name="title_boost").fill("0")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#run-button")).to_contain_text("Run attempt 2 again")
    workbench.mark_document()
    workbench.open("star wars")
    page.get_by_role("textbox", name="title_boost").fill("3")
    expect(page.locator("#tune-header h2")).to_have_text("Attempt 3")

    page.locator(".tree [data-attempt='1'] .summary a").click()
    expect(page.locator("#tune-header h2")).to_have_text("Attempt 1")
    expect(page.get_by_role("textbox", name="title_boost")).to_have_value("10")
    expect(page.locator(".tree [data-attempt='2']")).to_have_class("attempt has-draft")
    expect(page.locator("#case-score")).to_contain_text("Run 2 · attempt 2")
    page.get_by_role("link", name="Show its last run").click()
    expect(page.locator("#case-score")).to_contain_text("Run 1 · attempt 1")
    expect(page.locator('[data-notice="older-run"]')).to_be_visible()
    expect(workbench.results("star wars")).not_to_have_count(0)
    assert len(workbench.texts()) == 3
    page.locator('[data-notice="older-run"]').get_by_role("link", name="Back to run 2").click()
    expect(page.locator("#case-score")).to_contain_text("Run 2 · attempt 2")
    expect(page.locator('[data-notice="older-run"]')).to_have_count(0)

    page.locator(".tree [data-attempt='2'] .summary a").click()
    expect(page.locator("#tune-header h2")).to_have_text("Attempt 3")
    expect(page.get_by_role("textbox", name="title_boost")).to_have_value("3")
    workbench.expect_no_reload()


def test_newest_list_is_requested_while_another_one_is_on_its_way(look: Opens, case: Case) -> None:
    """One that was requested before the end of a run may not have its last results. htmx would forget the request that waits for it."""
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    workbench.mark_document()
    lists = re.compile(rf"/cases/{case.pk}/(\?|$)")
    held: list[Route] = []
    page.route(lists, lambda route: held.append(route))
    for _ in range(2):
        with page.expect_request(lists):
            page.evaluate("htmx.trigger('#queries', 'run-list')")
    page.evaluate("document.getElementById('queries').dataset.former = ''")
    held[-1].continue_()
    expect(page.locator("#queries[data-former]")).to_have_count(0)
    expect(page.locator("#queries tbody.query").first).to_be_visible()
    page.unroute(lists)


def test_query_that_is_being_opened_stays_open_when_a_list_arrives(look: Opens, case: Case) -> None:
    page = look("editor", viewport={"width": 1280, "height": 700})
    workbench = WorkbenchPage(page, case)
    workbench.mark_document()
    lists, openings = re.compile(rf"/cases/{case.pk}/(\?|$)"), re.compile(rf"/cases/{case.pk}/queries/\d+/")
    held_lists: list[Route] = []
    held_openings: list[Route] = []

    def expect_second_request() -> None:
        """The list that was requested arrives, is not shown, and is requested again."""
        newest = held_lists[-1]  # the others were aborted
        with page.expect_request(lists):
            newest.continue_()
        page.unroute(lists)
        if held_lists[-1] is not newest:
            held_lists[-1].continue_()
        held_lists.clear()

    # A run has finished. A query is clicked before the list of its results arrives, and answered after it.
    page.route(lists, lambda route: held_lists.append(route))
    page.route(openings, lambda route: held_openings.append(route))
    page.get_by_role("textbox", name="title_boost").fill("0")
    with page.expect_request(lists):
        page.keyboard.press("Control+Enter")
    expect(page.locator("#run-button")).to_contain_text("Run attempt 2 again")
    with page.expect_request(openings):
        workbench.opener("star wars").click()
    expect_second_request()
    held_openings.pop().continue_()
    page.unroute(openings)
    expect(workbench.results("star wars")).not_to_have_count(0)

    # The list arrives between pressing the button of the mouse and releasing it.
    page.route(lists, lambda route: held_lists.append(route))
    with page.expect_request(lists):
        page.evaluate("htmx.trigger('#queries', 'run-list')")
    workbench.opener("alien").hover()
    page.mouse.down()
    expect_second_request()
    page.mouse.up()
    expect(workbench.results("alien")).not_to_have_count(0)

    # Another run is shown while a query of the previous one is opened.
    page.locator(".tree [data-attempt='1'] .summary a").click()
    page.route(openings, lambda route: held_openings.append(route))
    with page.expect_request(openings):
        workbench.opener("solaris").click()
    page.route(lists, lambda route: held_lists.append(route))
    with page.expect_request(lists):
        page.get_by_role("link", name="Show its last run").click()
    expect(page.locator("#case-score.htmx-request")).to_have_count(1)
    expect_second_request()
    held_openings.pop().continue_()
    expect(page.locator("#case-score")).to_contain_text("Run 1 · attempt 1")
    for text in ("star wars", "alien", "solaris"):
        expect(workbench.results(text)).not_to_have_count(0)
    workbench.expect_no_reload()


def test_attempt_is_named_and_archived_on_the_page(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    page.get_by_role("textbox", name="title_boost").fill("0")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#run-button")).to_contain_text("Run attempt 2 again")
    workbench.mark_document()
    page.get_by_role("link", name="Name, note or archive attempt").click()
    page.get_by_role("dialog").get_by_label("Name").fill("Overview only")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("#tune-header")).to_contain_text("Overview only")
    expect(page.locator(".tree [data-attempt='2']")).to_contain_text("Overview only")
    page.get_by_role("link", name="Name, note or archive attempt").click()
    page.get_by_role("button", name="Archive").click()
    expect(page.locator(".tree li.attempt")).to_have_count(1)
    workbench.toast("archived").get_by_role("button", name="Undo").click()
    expect(page.locator(".tree li.attempt")).to_have_count(2)
    workbench.expect_no_reload()


def test_draft_is_tried_on_the_opened_query(look: Opens, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    workbench.mark_document()
    workbench.open("alien")
    page.get_by_role("link", name="Ranges").click()
    for part, value in (("Lowest", "0"), ("Highest", "40"), ("Step", "2")):
        page.get_by_role("spinbutton", name=f"{part} of title_boost").fill(value)
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#dialog dialog")).to_have_count(0)
    slider = page.get_by_role("slider", name="title_boost, slider")
    expect(slider).to_have_attribute("max", "40")
    expect(slider).to_have_attribute("step", "2")
    page.get_by_role("textbox", name="title_boost").fill("0")
    page.get_by_role("button", name="Try it").click()
    dialog = page.get_by_role("dialog", name="Try the draft")
    expect(dialog.locator("[data-trial] header h3")).to_have_text("alien")
    stored, draft = dialog.locator("[data-side=before]"), dialog.locator("[data-side=after]")
    expect(stored.locator("li")).to_have_count(workbench.results("alien").count())
    expect(draft.locator("li")).not_to_have_count(0)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.locator("#tune-header h2")).to_have_text("Attempt 2")
    assert (case.attempts.count(), case.runs.count()) == (1, 1)
    workbench.expect_no_reload()


def _difference_line(case: Case) -> str:
    """What the head says, from the mean scores of the queries scored in the last two runs."""
    later, earlier = case.runs.order_by("-number")[:2]
    scores_by_run = [
        {score.query_id: score.score for score in QueryScore.objects.filter(run=run) if score.score is not None}
        for run in (later, earlier)
    ]
    same = scores_by_run[0].keys() & scores_by_run[1].keys()
    means = [sum(by_query[query_id] for query_id in same) / len(same) for by_query in scores_by_run]
    return f"{numbers.difference(means[0] - means[1])} vs run {earlier.number} on the same {len(same)}"


def test_same_attempt_run_twice_has_no_difference_whatever_is_rated(
    look: Opens, case: Case, people: dict[str, User]
) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#case-score")).to_contain_text("Run 2 · attempt 1")
    workbench.mark_document()

    def expect_no_difference() -> None:
        page.wait_for_function("() => !document.querySelector('.htmx-request, [data-rescoring]')")
        for state in ("better", "worse", "dropped", "gained"):
            expect(page.locator(f'[data-count="{state}"]')).to_have_count(0)
        cells = page.locator("tr[id^=query-row] td:nth-child(4)").all_inner_texts()
        assert {cell.strip() for cell in cells} <= {"", "0.0"}, cells

    expect_no_difference()
    results = workbench.open("star wars")
    for rank, grade in ((2, 7), (3, 1), (4, 10)):
        workbench.grade(results.nth(rank), grade).click()
        expect_no_difference()
    page.keyboard.press("z")
    expect(workbench.toast("taken back")).to_be_visible()
    expect_no_difference()
    workbench.expect_no_reload()
    with TURN:
        ratings.rate(query=query_of(case, "star wars"), doc_id="star-wars-1977", value=1, by=people["rater"])
        set_rule(book=case.book, rule="mean")
    page.reload()
    expect_no_difference()


def test_everyday_loop_ten_times_over(look: Opens, case: Case) -> None:
    """Change, run, look at the same query, rate what is new: without a navigation, a jump, or a lost place."""
    page = look("editor", viewport={"width": 1280, "height": 700})
    workbench = WorkbenchPage(page, case, "?q=star")
    workbench.mark_document()
    workbench.open("star wars")
    page.evaluate("document.querySelector('#content').scrollTop = 60")
    knob, opened = page.get_by_role("textbox", name="title_boost"), workbench.row("star wars")
    position = opened.bounding_box()
    for time in range(1, 11):
        knob.fill(str(time % 2 * 10 + time))
        expect(page.locator("#run-button")).to_contain_text(f"Run attempt {time + 1}")
        knob.press("Control+Enter")
        expect(page.locator("#run-button")).to_contain_text(f"Run attempt {time + 1} again")
        expect(page.locator("#case-score")).to_contain_text(f"Run {time + 1} · attempt {time + 1}")
        expect(page.locator(f".tree [data-attempt='{time + 1}'] .value")).to_have_text(
            stage.shown(stage.case_score(case).score)
        )
        page.wait_for_function("() => !document.querySelector('.is-outdated, .htmx-request')")
        expect(knob).to_be_focused()
        assert page.evaluate("document.querySelector('#content').scrollTop") == 60
        box = opened.bounding_box()
        assert box and position and (box["x"], box["y"]) == (position["x"], position["y"]), f"A jump in round {time}"

        unrated = workbench.results("star wars").filter(has=page.locator(".rate:not(.rated)"))
        if unrated.count():
            unrated.last.get_by_role("radio", name=str(time), exact=True).evaluate("button => button.click()")
            page.wait_for_function("() => !document.querySelector('.htmx-request')")
        expect(workbench.score("star wars")).to_have_text(stage.shown(stage.query_score(case, "star wars").score))
        expect(workbench.case_score).to_have_text(stage.shown(stage.case_score(case).score))
        expect(page.locator("#case-difference")).to_contain_text(_difference_line(case))
    assert (case.attempts.count(), case.runs.count()) == (11, 11)
    assert "?q=star&open=" in page.url
    workbench.expect_no_reload()
