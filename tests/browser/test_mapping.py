"""The page that tries the mapping of a search API, from the form of a new endpoint and back."""

import json

from playwright.sync_api import expect

from .conftest import Opens

RESPONSE = {"data": {"found": [{"sku": 7, "name": "Alien"}, {"sku": 8, "name": "Aliens"}], "count": 40}}


def test_a_mapping_is_tried_as_it_is_typed(look: Opens) -> None:
    """On a phone, in the dark, by keyboard: preset, response, expressions, and back to the form, with nothing saved."""
    page = look("owner", viewport={"width": 390, "height": 844}, color_scheme="dark")
    page.goto("/endpoints/new/?engine=http")
    page.get_by_label("Name", exact=True).fill("Shop")
    page.locator("#id_url").fill("https://shop.example.com/api")
    page.locator("#id_preset").select_option("meilisearch")
    page.get_by_role("button", name="Fill in").press("Enter")
    expect(page.locator("#preset-notes")).to_contain_text("Meilisearch")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Shop")
    page.locator("#try-mapping").press("Enter")
    page.wait_for_url("**/endpoints/mapping/")
    mapped = page.locator("#mapped")
    page.locator("#id_response").fill(json.dumps(RESPONSE, indent=1))
    expect(mapped.locator("[data-option=hits]")).to_contain_text("no “hits”; it is an object with data")
    page.locator("#id_option_hits").fill("data.found")
    expect(mapped.locator(".result")).to_have_count(2)
    expect(mapped.locator("[data-option=id]")).to_contain_text("Hit 1 has no id")
    page.locator("#id_option_id").fill("sku")
    expect(mapped.locator("[data-option=id]")).to_have_count(0)
    page.locator("#id_option_total").fill("data.count")
    expect(mapped).to_contain_text("40 found in all")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Use in the form of the endpoint").press("Enter")
    page.wait_for_url("**/endpoints/new/")
    expect(page.locator("#id_option_hits")).to_have_value("data.found")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Shop")
    expect(page.locator("#id_option_template")).to_have_value('{\n  "q": "#$query##",\n  "showRankingScore": true\n}')
