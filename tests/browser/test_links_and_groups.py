"""Linked queries whose ratings are copied, and a group of cases: each from the first click to the figures."""

from playwright.sync_api import expect

from relevancy.models import Case, User
from relevancy.optional.groups.models import CaseGroup

from . import stage
from .conftest import Opens
from .test_accessibility import _violations
from .workbench_page import WorkbenchPage

FIRST, SECOND = "star wars", "star war"


def _case(people: dict[str, User]) -> Case:
    return stage.film_case(people["editor"], [FIRST, SECOND, "alien"], ratings={FIRST: {"star-wars-1977": 10}})


def test_queries_are_linked_get_ratings_and_are_unlinked(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("editor")
    workbench = WorkbenchPage(page, case)
    workbench.open(SECOND)
    workbench.menu(SECOND).get_by_role("link", name="Link with other queries").click()
    expect(page.get_by_role("heading", name=f"Queries like “{SECOND}”")).to_be_visible()
    expect(page.get_by_role("checkbox", name=SECOND, exact=True)).to_be_checked()
    page.get_by_role("checkbox", name=FIRST, exact=True).check()
    page.get_by_role("button", name="Link the selected queries").click()
    expect(page.locator("#links tbody tr")).to_have_count(1)
    assert _violations(page) == []
    page.locator("#links").get_by_role("link", name="Copy ratings").click()
    expect(page.locator("#copies tbody tr")).to_have_count(2)
    assert _violations(page) == []
    page.get_by_role("button", name="Copy 1 rating", exact=True).click()
    expect(workbench.toast("1 rating copied")).to_be_visible()
    case_query = case.case_queries.get(query__text=SECOND)
    WorkbenchPage(page, case, f"?open={case_query.pk}")
    shared = workbench.results(SECOND).filter(has_text="Star Wars").first
    expect(workbench.grade(shared, 10)).to_be_checked()
    expect(workbench.row(FIRST).get_by_role("link", name="linked")).to_be_visible()
    workbench.row(FIRST).get_by_role("link", name="linked").click()
    page.get_by_role("button", name="Unlink all").click()
    expect(page.locator("#links")).to_have_count(0)
    workbench.toast("not linked any more").get_by_role("button", name="Undo").click()
    expect(page.locator("#links tbody tr")).to_have_count(1)


def test_a_group_has_a_mean_and_a_verdict(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("editor")
    page.goto("/")
    page.get_by_role("link", name="Groups", exact=True).click()
    page.get_by_role("link", name="New group").click()
    page.get_by_label("Name").fill("Markets")
    page.get_by_role("button", name="Create").click()
    page.get_by_label("Case to add").select_option(label=case.name)
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#group-cases tbody tr")).to_have_count(1)
    expect(page.locator("#group-mean .big-score > b")).to_be_visible()
    expect(page.locator("#compared-cases")).to_contain_text("no run to compare with")
    assert _violations(page) == []
    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_label("Mean").select_option(label="each scored query counts the same")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#content")).to_contain_text("each scored query counts the same")
    assert CaseGroup.objects.get().weighting == "queries"
