"""From the workbench to the history, where a run is annotated, to the report, and from what to rate next back to its query."""

import re

import pytest
from playwright.sync_api import expect

from relevancy.models import Annotation, Case, User
from tests import factories

from . import stage
from .conftest import Opens
from .workbench_page import WorkbenchPage

TEXTS = ["star wars", "alien", "solaris", "stalker"]
RATINGS = {
    "star wars": {"star-wars-1977": 10, "star-wars-episode-ii-attack-of-the-clones-2002": 4},
    "alien": {"alien-1979": 10},
}


@pytest.fixture
def case(people: dict[str, User], films: str) -> Case:
    """A case with two runs."""
    case = stage.film_case(people["editor"], TEXTS, ratings=RATINGS, knobs={"title_boost": 10})
    factories.run_now(case.attempts.select_related("case", "endpoint", "created_by").get())
    return case


def test_annotate_a_run_and_open_what_to_rate_next(look: Opens, case: Case) -> None:
    page = look("editor")
    WorkbenchPage(page, case)
    page.locator("#history-tab").click()
    expect(page.locator("#chart-history[data-drawn] .scatterlayer .point")).to_have_count(2)
    expect(page.locator("#history-state")).to_be_hidden()

    page.locator("tr[data-run='2']").get_by_role("link", name="Annotate run 2").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("What happened").fill("New synonyms")
    dialog.get_by_role("button", name="Annotate", exact=True).click()
    expect(page.locator("tr[data-run='2'] .notes")).to_contain_text("A New synonyms")
    expect(page.locator("#chart-history[data-drawn]")).to_be_visible()
    assert Annotation.objects.get().run.number == 2

    page.get_by_role("link", name="Report").click()
    first = page.locator("#report-rate-next tbody tr").first
    text = first.get_by_role("link").inner_text()
    first.get_by_role("link").click()
    expect(page).to_have_url(re.compile(rf"/cases/{case.pk}/"))
    expect(page.get_by_text(text, exact=True).first).to_be_visible()
