"""The main tasks with JavaScript disabled."""

from playwright.sync_api import expect

from relevancy.models import User

from . import stage
from .conftest import Opens
from .workbench_page import WorkbenchPage


def test_sign_in_filter_rate_and_run(look: Opens, people: dict[str, User], films: str) -> None:
    case = stage.film_case(people["editor"], ["star wars", "alien"])
    page = look(java_script_enabled=False)
    page.goto(f"/cases/{case.pk}/")
    page.get_by_label("E-mail").fill(people["editor"].email)
    page.get_by_label("Password").fill(stage.PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    workbench = WorkbenchPage(page)
    expect(page.get_by_role("heading", name="Movies", level=1)).to_be_visible()

    page.get_by_label("Filter queries").fill("ali")
    page.get_by_role("button", name="Filter").click()
    assert workbench.texts() == ["alien"]
    workbench.opener("alien").click()
    expect(workbench.results("alien")).to_have_count(9)
    workbench.grade(workbench.results("alien").first, 9).click()
    score = stage.query_score(case, "alien").score
    assert score is not None
    expect(workbench.score("alien")).to_have_text(stage.shown(score))
    expect(workbench.case_score).to_have_text(stage.shown(stage.case_score(case).score))
    expect(workbench.grade(workbench.results("alien").first, 9)).to_have_attribute("aria-checked", "true")
    workbench.grade(workbench.results("alien").first, 9).click()
    workbench.expect_no_score("alien")
    workbench.row("alien").get_by_role("group", name="Rate all shown").get_by_role(
        "button", name="6", exact=True
    ).click()
    expect(workbench.score("alien")).to_have_text(stage.shown(stage.query_score(case, "alien").score))
    workbench.opener("alien").click()
    expect(workbench.results("alien")).to_have_count(0)

    page.locator("#case-score").get_by_role("button", name="Run").click()
    expect(page.locator("#case-score")).to_contain_text("Run 2 · attempt 1")


def test_queries_are_added_edited_and_removed(look: Opens, people: dict[str, User], films: str) -> None:
    case = stage.film_case(people["editor"], ["star wars", "alien"])
    page = look("editor", java_script_enabled=False)
    workbench = WorkbenchPage(page, case)
    page.get_by_role("link", name="Add queries").click()
    page.get_by_label("One query to a line").fill("jaws")
    page.locator("#add-queries").get_by_role("button", name="Add queries").click()
    expect(workbench.toast("“jaws” added")).to_be_visible()
    workbench.opener("alien").click()
    workbench.menu("alien").get_by_role("link", name="Edit", exact=True).click()
    page.get_by_label("Text", exact=True).fill("aliens")
    page.get_by_role("button", name="Save").click()
    expect(workbench.row("aliens").locator(".pill")).to_have_text("edited")
    workbench.menu("aliens").get_by_role("button", name="Remove").click()
    assert workbench.texts() == ["star wars", "jaws"]
    workbench.toast("removed").get_by_role("button", name="Undo").click()
    assert workbench.texts() == ["star wars", "aliens", "jaws"]
    page.get_by_role("note").get_by_role("button", name="Search them").click()
    expect(page.get_by_role("note")).to_have_count(0)
