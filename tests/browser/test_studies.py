"""A study from the form to an attempt, on an engine that finds the good document the better, the nearer two knobs are to their best."""

import re
from collections.abc import Mapping
from typing import Any

import pytest
from playwright.sync_api import expect

from relevancy import cases, engines
from relevancy.models import Attempt, Query, Team, User
from relevancy.optional.studies.models import Study
from relevancy.optional.studies.tests.conftest import BEST, QUERIES, TEMPLATE, search
from tests.factories import ScriptedEngine, make_attempt, make_case, script_of

from .conftest import Opens

SEALED = 24


def make_tunable(owner: User, queries: int) -> Attempt:
    """An attempt whose knobs are far from their best."""
    ratings = {f"query {number}": {"good": 3, "other-0": 0} for number in range(1, queries + 1)}
    case = make_case(queries, ratings, measures=("RR@10",), owner=owner)
    cases.share(case=case, team=Team.objects.get(name="Search"), by=owner)
    attempt = make_attempt(case, template=TEMPLATE, knobs={"boost": 0.5, "tie": 0.2})
    script_of(attempt).default = search
    return attempt


@pytest.fixture(autouse=True)
def _render_knobs(monkeypatch: pytest.MonkeyPatch) -> None:
    def render(self: ScriptedEngine, request: engines.Request) -> Mapping[str, Any]:
        return {"query": request.query, **request.knobs}

    monkeypatch.setattr(ScriptedEngine, "render", render)


@pytest.mark.usefixtures("script")
def test_study_is_planned_started_read_and_made_an_attempt(look: Opens, people: dict[str, User]) -> None:
    attempt = make_tunable(people["editor"], QUERIES)
    case = attempt.case
    page = look("editor")
    page.goto(f"/cases/{case.pk}/")
    page.locator("#studies-link").click()
    page.locator("#new-study").click()
    plan = page.locator("#study-plan")
    expect(plan).to_have_attribute("data-queries", str(QUERIES))
    page.get_by_label("Trials").fill("40")
    expect(plan).to_have_attribute("data-requests", str(40 * QUERIES))
    for name in BEST:
        page.get_by_label(name, exact=True).uncheck()
    expect(page.locator("#study-refusal")).to_contain_text("Choose at least one knob")
    expect(page.locator("#start-study")).to_be_disabled()
    for name in BEST:
        page.get_by_label(name, exact=True).check()
    kind = page.get_by_label("How tie is varied")
    kind.select_option("choices")
    expect(page.get_by_label("tie from")).to_be_hidden()
    page.get_by_label("Values of tie").fill("0.1, 0.7")
    kind.select_option("linear")
    expect(page.locator("#study-refusal")).to_have_count(0)
    assert script_of(attempt).requests == []
    page.locator("#start-study").click()

    page.wait_for_url(re.compile(r"/studies/1/$"))
    expect(page.locator("#study-sentence")).to_have_attribute("data-improvement", "yes")
    expect(page.locator("[data-chart][data-drawn]")).to_have_count(1 + len(BEST))
    page.get_by_label("Across").select_option("boost")
    page.wait_for_url(re.compile(r"across=boost"))
    expect(page.locator("#study-heat-map td[class]:not([class=''])").first).to_be_visible()
    page.locator("#adopt-proposed").click()
    page.wait_for_url(re.compile(r"attempt=\d+#tune"))
    made = Study.objects.get().made_attempts.get().attempt
    for name, value in made.knobs.items():
        expect(page.locator(f"#knob-{name}")).to_have_value(f"{value:g}")


@pytest.mark.usefixtures("script")
@pytest.mark.parametrize("width", [1280, 390])
def test_sealed_queries_are_opened_once(look: Opens, people: dict[str, User], width: int) -> None:
    case = make_tunable(people["editor"], QUERIES + SEALED).case
    texts = [f"query {number}" for number in range(QUERIES + 1, QUERIES + SEALED + 1)]
    Query.objects.filter(book=case.book, text__in=texts).update(tags=["final"])

    page = look("editor", viewport={"width": width, "height": 900})
    page.goto(f"/cases/{case.pk}/sealed-queries/")
    page.get_by_label("Tag of the sealed queries").select_option("final")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#sealed-count")).to_have_attribute("data-count", str(SEALED))
    page.goto(f"/cases/{case.pk}/studies/new/")
    expect(page.locator("#study-plan")).to_have_attribute("data-queries", str(QUERIES))
    page.get_by_label("Trials").fill("30")
    expect(page.locator("#study-plan")).to_have_attribute("data-requests", str(30 * QUERIES))
    page.locator("#start-study").click()

    page.wait_for_url(re.compile(r"/studies/1/$"))
    expect(page.locator("#study-sentence")).to_have_attribute("data-improvement", "yes")
    expect(page.locator("#open-sealed")).to_be_visible()
    expect(page.locator("#study-sealed .body")).to_have_count(0)  # nothing to say yet, and no empty line
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#open-sealed").click()
    result = page.locator("#sealed-result")
    expect(result).to_have_attribute("data-queries", str(SEALED))
    expect(result).to_have_attribute("data-verdict", "better")
    expect(page.locator("#sealed-opened")).to_contain_text("for trial")
    expect(page.locator("#open-sealed")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto(f"/cases/{case.pk}/sealed-queries/")
    expect(page.locator("[data-opening='1']")).to_contain_text("points")
