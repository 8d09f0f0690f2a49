"""A case of Quepid, uploaded in the browser: preview, endpoint, first run."""

import json
import os
from pathlib import Path

from playwright.sync_api import Locator, expect

from relevancy.models import Case, User
from relevancy.optional.quepid.tests.quepid_files import CASE, QUERY, SECOND, TRY

from . import stage
from .conftest import Opens
from .workbench_page import WorkbenchPage


def test_a_case_from_quepid_is_scored_after_one_upload(
    look: Opens, people: dict[str, User], films: str, tmp_path: Path
) -> None:
    stage.film_case(people["editor"], ["jaws"], run=False)
    ratings = [{"doc_id": "star-wars-1977", "rating": 3, "user_email": "lee@example.org"}]
    template = {"query_params": stage.TEMPLATE.replace("title_boost", "boost"), "field_spec": stage.FIELDS}
    content = {**CASE, "queries": [{**QUERY, "ratings": ratings}, SECOND], "try": {**TRY, **template}}
    path = tmp_path / "case.json"
    path.write_text(json.dumps(content))

    page = look("editor")
    page.goto("/")
    page.locator(".panel > header").get_by_role("link", name="Import").click()
    page.get_by_label("File").set_input_files(path)
    with page.expect_response("**/cases/import/"):
        page.get_by_role("button", name="Preview").click()
    expect(page.locator("[data-count=queries] dd")).to_have_text("2")
    expect(page.locator("#file-endpoint")).to_contain_text("http://127.0.0.1:1/solr/shop/select")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Shop: phones")
    if folder := os.environ.get("SHOW_IMPORT"):
        page.screenshot(path=f"{folder}/import.png", full_page=True)

    page.get_by_label("Endpoint").select_option(label="films")
    page.get_by_role("button", name="Import case").click()
    expect(page.get_by_role("heading", name="Shop: phones", level=1)).to_be_visible()
    case = Case.objects.get(name="Shop: phones")
    workbench = WorkbenchPage(page)
    assert workbench.texts() == ["alien", "star wars"]
    expect(workbench.score("star wars")).to_be_visible()
    expect(workbench.case_score).to_have_text(stage.shown(stage.case_score(case).score))


def test_queries_are_drawn_from_a_log(look: Opens, people: dict[str, User], films: str, tmp_path: Path) -> None:
    case = stage.film_case(people["editor"], ["jaws"], run=False)
    path = tmp_path / "log.csv"
    path.write_text("query,count\nalien,60\nstar wars,20\nheat,20\n,5\n")

    page = look("editor")
    page.goto(f"/cases/{case.pk}/files/")
    page.get_by_role("link", name="Search log").click()
    page.get_by_label("Search log").set_input_files(path)
    page.get_by_role("spinbutton", name="Queries").fill("2")
    page.get_by_role("spinbutton", name="Seed").fill("3")
    with page.expect_response("**/files/query-log/"):
        page.get_by_role("button", name="Preview").click()
    expect(page.locator("#query-log-preview [data-count=added] dd")).to_have_text("2")
    expect(page.locator("#log-queries tbody tr").first).to_contain_text("alien")
    if folder := os.environ.get("SHOW_IMPORT"):
        page.screenshot(path=f"{folder}/query-log.png", full_page=True)

    page.get_by_label("Give the other queries of the case the weight 0").check()
    page.get_by_role("button", name="Add queries").click()
    expect(page.locator("tbody.query")).to_have_count(3)
    assert sorted(case.case_queries.values_list("weight", flat=True)) == [0, 0.8, 1.2]


def test_files_are_previewed_imported_and_downloaded(
    look: Opens, people: dict[str, User], films: str, tmp_path: Path
) -> None:
    case = stage.film_case(people["editor"], ["jaws"], run=False)
    page = look("editor")
    page.goto(f"/cases/{case.pk}/files/")

    def preview(kind: str, text: str) -> Locator:
        path = tmp_path / f"{kind}.csv"
        path.write_text(text)
        page.wait_for_load_state("load")  # before, the button would send the whole page
        form = page.locator(f"#{kind}-preview-form")
        form.locator("input[type=file]").set_input_files(path)
        with page.expect_response(f"**/files/import-{kind}/"):
            form.get_by_role("button", name="Preview").click()
        return page.locator(f"#{kind}-preview")

    text = "query,docid,rating\njaws,jaws-1975,3\nalien,alien-1979,"
    expect(preview("ratings", f"{text}x\n").locator("[data-line='3']")).to_contain_text("'x'")
    counts = preview("ratings", f"{text}2\n")
    expect(counts.locator("[data-count=added] dd")).to_have_text("2")
    counts.get_by_role("button", name="Import").click()
    expect(page.get_by_text("2 of 2 ratings are new or changed; 1 query added.")).to_be_visible()

    counts = preview("queries", "query,notes,weight\njaws,The first,2\nheat,,1\n")
    expect(counts.locator("[data-count=added] dd")).to_have_text("1")
    expect(counts.locator("[data-count=changed] dd")).to_have_text("1")
    counts.get_by_role("button", name="Import queries").click()
    expect(page.get_by_text("1 query added, 1 changed, 0 left as before.")).to_be_visible()

    with page.expect_download() as started:
        page.get_by_role("link", name="Queries, CSV", exact=True).click()
    downloaded = started.value.path().read_text()
    header = "query,information_need,notes,tags,options,weight\n"
    assert downloaded == header + "jaws,,The first,,,2\nalien,,,,,1\nheat,,,,,1\n"

    counts = preview("runs", "query,docid,position\njaws,jaws-1975,1\nother,x,1\n")
    expect(counts.locator("[data-count=runs] dd")).to_have_text("1")
    expect(counts.locator("[data-remark]").first).to_contain_text("'other'")
    if folder := os.environ.get("SHOW_IMPORT"):
        page.screenshot(path=f"{folder}/files.png", full_page=True)
    counts.get_by_role("button", name="Import runs").click()
    expect(page.locator("tbody.query").first).to_be_visible()
    assert case.runs.count() == 1

    page.goto(f"/cases/{case.pk}/files/")
    page.locator("#notebook-link").click()
    expect(page.locator("pre.console")).to_have_count(6)
    if folder := os.environ.get("SHOW_IMPORT"):
        page.screenshot(path=f"{folder}/notebook.png", full_page=True)
