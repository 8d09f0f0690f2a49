"""A study from the form to an attempt, on an engine that finds the good document the better, the nearer two knobs are to their best."""

import re
from collections.abc import Mapping
from typing import Any

import pytest
from playwright.sync_api import expect

from relevancy import cases, engines
from relevancy.models import Team, User
from relevancy.optional.studies.models import Study
from relevancy.optional.studies.tests.conftest import BEST, QUERIES, TEMPLATE, search
from tests.factories import ScriptedEngine, make_attempt, make_case, script_of

from .conftest import Opens


@pytest.mark.usefixtures("script")
def test_study_is_planned_started_read_and_made_an_attempt(
    look: Opens, people: dict[str, User], monkeypatch: pytest.MonkeyPatch
) -> None:
    def render(self: ScriptedEngine, request: engines.Request) -> Mapping[str, Any]:
        return {"query": request.query, **request.knobs}

    monkeypatch.setattr(ScriptedEngine, "render", render)
    ratings = {f"query {number}": {"good": 3, "other-0": 0} for number in range(1, QUERIES + 1)}
    case = make_case(QUERIES, ratings, measures=("RR@10",), owner=people["editor"])
    cases.share(case=case, team=Team.objects.get(name="Search"), by=people["editor"])
    attempt = make_attempt(case, template=TEMPLATE, knobs={"boost": 0.5, "tie": 0.2})
    script_of(attempt).default = search

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
