"""From the comparison to production: the text is copied, and the evidence follows once the figures are computed."""

import pytest
from playwright.sync_api import expect

from relevancy import cases
from relevancy.models import Team, User
from tests.factories import make_attempt, make_case, make_endpoint, run_now

from .conftest import Opens

QUERIES = 4
TEMPLATE = "q=#$query##\n&defType=edismax\n&qf=title^##boost## overview\n&mm=75%"


@pytest.mark.usefixtures("script")
@pytest.mark.parametrize("width", [1280, 390])
def test_an_attempt_is_taken_to_production(look: Opens, people: dict[str, User], width: int) -> None:
    owner = people["owner"]
    case = make_case(QUERIES, owner=owner)
    cases.share(case=case, team=Team.objects.get(name="Search"), by=owner)
    run_now(make_attempt(case))
    run_now(make_attempt(case, name="Longer"))
    solr = make_endpoint(owner, engine="solr", url="http://127.0.0.1:8983/solr/films")
    make_attempt(case, solr, template=TEMPLATE, knobs={"boost": 2.5})
    page = look("viewer", viewport={"width": width, "height": 900}, permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"/cases/{case.pk}/compare/")
    page.locator("#production-link").click()
    expect(page.locator("#evidence-text")).to_contain_text("attempt 2 against attempt 1")
    expect(page.locator("#evidence")).not_to_have_attribute("aria-busy", "true")
    page.wait_for_load_state()  # the scripts are there
    page.locator("#evidence [data-copy]").click()
    expect(page.locator("#toasts")).to_contain_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == page.locator("#evidence-text").inner_text().strip()
    assert f"/cases/{case.pk}/compare/?run=1&run=2" in copied

    page.goto(f"/cases/{case.pk}/attempts/all/")
    page.locator("#production-3").click()
    expect(page.locator("#inputs tbody tr")).to_have_attribute("data-input", "q")
    page.wait_for_load_state()
    page.locator("section:has([data-part=params]) [data-copy]").click()
    expect(page.locator("#toasts")).to_contain_text("Copied.")
    assert '"qf": "title^2.5 overview"' in page.evaluate("navigator.clipboard.readText()")
    page.locator("#against").select_option("2")
    page.locator("#against-form button").click()
    expect(page.locator("#difference-text")).to_contain_text("+++ attempt 3")
    expect(page.locator("#no-evidence")).to_contain_text("attempt 3 has no complete run")
    with page.expect_download() as started:
        page.locator("#diff-file").click()
    assert started.value.path().read_text().startswith("--- attempt 2\n+++ attempt 3\n")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
