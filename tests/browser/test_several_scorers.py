"""Several scorers on one case, in a browser: added, made primary, removed and restored; the working of a score."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from relevancy import runs, scorers, scores
from relevancy.models import Case, CaseScore, QueryScore, Scorer, ScorerVersion, User

from . import stage
from .workbench_page import WorkbenchPage, press

pytestmark = pytest.mark.usefixtures("films")
TEXTS = ["star wars", "star trek", "tom hanks"]
SCRIPT = 'console.log("the first is rated", docRating(0)); setScore(70);'


@pytest.fixture
def case(people: dict[str, User], films: str) -> Case:
    case = stage.film_case(people["owner"], TEXTS, knobs={"title_boost": 5})
    run = stage.newest_run(case)
    for text in ("star wars", "star trek"):
        hits = run.rankings.get(query__text=text).hits
        stage.rate(case, text, {hit[0]: 3 + position for position, hit in enumerate(hits[:4])})
    return case


def secondary_score(page: Page, name: str) -> Any:
    """The line of a secondary scorer in the head."""
    return page.locator(".secondary-scores li").filter(has=page.get_by_role("link", name=name, exact=True))


def case_score(case: Case, name: str) -> str:
    score = CaseScore.objects.get(run=stage.newest_run(case), version__scorer__name=name)
    return stage.shown(score.score)


def test_add_make_primary_remove_and_undo(look: Any, case: Case) -> None:
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    expect(page.locator(".secondary-scores")).to_have_count(0)
    for name in ("nDCG@10", "P@10"):
        page.wait_for_load_state("load")
        page.get_by_label("Add another scorer").select_option(label=name)
        expect(secondary_score(page, name)).to_have_count(1)
        expect(secondary_score(page, name).locator(".score > b")).to_have_text(case_score(case, name))
    primary = case_score(case, "AvgEdit")
    expect(workbench.case_score).to_have_text(primary)
    page.get_by_role("button", name="Make nDCG@10 primary").click()
    expect(secondary_score(page, "AvgEdit")).to_have_count(1)
    expect(workbench.case_score).to_have_text(case_score(case, "nDCG@10"))
    expect(secondary_score(page, "AvgEdit").locator(".score > b")).to_have_text(primary)
    score = QueryScore.objects.get(query__text="star wars", version__scorer__name="nDCG@10")
    expect(workbench.score("star wars")).to_have_text(stage.shown(score.score))
    expect(page.get_by_label("Scorer", exact=True).locator("option:checked")).to_have_text("nDCG@10")
    page.get_by_role("button", name="Remove AvgEdit").click()
    expect(page.get_by_text("AvgEdit removed from this case")).to_be_visible()
    expect(page.locator(".secondary-scores li")).to_have_count(1)
    press(page, "z")
    expect(page.locator(".secondary-scores li")).to_have_count(2)
    names = [version.scorer.name for version in ScorerVersion.objects.used_by(case)]
    assert names == ["nDCG@10", "AvgEdit", "P@10"]
    assert case.runs.count() == 1


def test_a_rating_moves_every_score_at_once(look: Any, case: Case) -> None:
    scorers.add_scorer(case=case, scorer=Scorer.objects.get(name="nDCG@10"))
    page = look("rater")
    workbench = WorkbenchPage(page, case)
    before = secondary_score(page, "nDCG@10").locator(".score > b").text_content()
    result = workbench.open("star trek").nth(5)
    inside = workbench.row("star trek").locator(".query-scores > div").nth(1)
    query_before = inside.locator(".score > b").text_content()
    result.get_by_role("radio", name=re.compile("^10")).click()
    expect(inside.locator(".score > b")).not_to_have_text(query_before or "")
    expect(secondary_score(page, "nDCG@10").locator(".score > b")).not_to_have_text(before or "")
    expect(secondary_score(page, "nDCG@10").locator(".score > b")).to_have_text(case_score(case, "nDCG@10"))


def test_show_the_working_by_key_and_of_a_script(look: Any, case: Case) -> None:
    scorer = Scorer.objects.create(name="seventy")
    ScorerVersion.objects.create(scorer=scorer, number=1, script=SCRIPT, scale=[[n, ""] for n in range(1, 11)])
    scorers.add_scorer(case=case, scorer=scorer)
    page = look("viewer")
    workbench = WorkbenchPage(page, case)
    workbench.open("star wars")
    press(page, "w")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name="The working: “star wars”, run 1")).to_be_visible()
    expect(dialog.locator("tbody tr").first).to_contain_text("Star Wars")
    explained = workbench.row("star wars").locator(".query-scores .explanation-text p").text_content() or ""
    expect(dialog).to_contain_text(explained)
    dialog.get_by_role("link", name="seventy").click()
    expect(page.get_by_role("dialog")).to_have_count(1)
    expect(page.get_by_role("log")).to_contain_text("the first is rated 3")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_most_to_gain_leads_to_its_query(look: Any, case: Case) -> None:
    gap = scores.largest_gap(stage.newest_run(case), ScorerVersion.objects.used_by(case)[0])
    assert gap is not None
    page = look("viewer")
    workbench = WorkbenchPage(page, case)
    page.get_by_role("link", name=f"Most to gain: “{gap.text}”").click()
    expect(workbench.row(gap.text).locator("li.result").first).to_be_visible()
    page.get_by_role("link", name="Could gain", exact=True).click()
    expect(page.locator("tbody.query").first).to_contain_text(gap.text)


def test_without_javascript(look: Any, case: Case) -> None:
    page = look("editor", java_script_enabled=False)
    WorkbenchPage(page, case, address=f"?open={case.case_queries.get(query__text='star wars').pk}")
    page.get_by_label("Add another scorer").select_option(label="P@10")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(secondary_score(page, "P@10")).to_have_count(1)
    page.get_by_role("button", name="Make P@10 primary").click()
    expect(page.locator("#case-score .big-score > b")).to_have_text(case_score(case, "P@10"))
    page.get_by_role("button", name="star wars").click()
    page.get_by_role("link", name="Show the working of P@10").click()
    expect(page.get_by_role("heading", name="The working: “star wars”, run 1")).to_be_visible()
    page.get_by_role("link", name="Back").click()
    expect(page.locator("li.result").first).to_be_visible()


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_head_does_not_move_while_a_run_is_active(look: Any, case: Case, width: int) -> None:
    scorers.choose_scorers(case=case, scorers=Scorer.objects.filter(name__in=["AvgEdit", "nDCG@10", "P@10", "RR@10"]))
    page = look("editor", viewport={"width": width, "height": 900})
    WorkbenchPage(page, case)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    before = page.locator(".secondary-scores").bounding_box()
    attempt = case.attempts.select_related("endpoint", "case").get()
    runs.start(attempt=attempt, by=case.owner)
    page.reload()
    expect(page.get_by_text("Waiting for the worker")).to_be_visible()
    after = page.locator(".secondary-scores").bounding_box()
    assert before is not None
    assert after is not None
    assert (after["x"], after["width"], after["height"]) == (before["x"], before["width"], before["height"])
    assert page.locator(".secondary-scores .score b.muted").count() == 3
