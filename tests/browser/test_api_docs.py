"""The page of the API, under the content security policy of the site."""

import os

from playwright.sync_api import expect

from .conftest import Opens


def test_the_page_of_the_api_lists_operations_with_their_parameters(look: Opens) -> None:
    page = look("editor")
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.goto("/api/docs")
    operation = page.locator("#operations-Cases-read_case")
    expect(operation).to_be_visible()
    operation.get_by_role("button").first.click()
    expect(operation.get_by_text("case_id", exact=False).first).to_be_visible()
    if folder := os.environ.get("SHOW_API"):
        page.screenshot(path=f"{folder}/api.png")
    assert problems == []
