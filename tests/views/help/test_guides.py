"""The guides as pages of the site, and the words that lead to them."""

import re
from pathlib import Path

import pytest
from django.urls import URLResolver, get_resolver, reverse

from relevancy import glossary, hooks
from relevancy.views.help.guides import guides_by_audience, guides_by_name, slugify_heading
from relevancy.views.help.page_help import PAGES
from tests.test_architecture import TEMPLATES

ROOT = Path(__file__).parents[3]
TERM = re.compile(r"\{%\s*term\s+(\S+)")


def find_sections(name: str) -> set[str]:
    return {section.id for section in guides_by_name()[name].sections}


def test_all_guides_of_the_repository_are_pages():
    files = {path.stem for path in [*ROOT.glob("docs/*.md"), *ROOT.glob("relevancy/optional/*/docs/*.md")]}
    assert set(guides_by_name()) == files
    assert all(guides_by_audience().values())


@pytest.mark.parametrize("name", sorted(guides_by_name()))
def test_links_of_a_guide_lead_somewhere(name):
    html = guides_by_name()[name].html
    assert set(re.findall(r'\bid="([^"]+)"', html)) == find_sections(name)
    for guide, section in re.findall(r'href="(?:/help/([\w-]+)/)?#?([^"]*)"', html):
        if not section.startswith(("http", "mailto")):
            assert not section or section in find_sections(guide or name), (guide, section)
    assert ".md" not in "".join(re.findall(r'href="([^"]*)"', html))
    assert "style=" not in html
    assert "decisions/" not in html


def test_a_word_of_the_glossary_leads_to_a_section():
    missing = [
        key
        for key, term in glossary.terms.items()
        if term.guide not in guides_by_name() or term.section not in find_sections(term.guide)
    ]
    assert missing == []
    assert [key for key, term in glossary.terms.items() if not term.meaning.endswith(".")] == []


def test_words_of_templates_are_in_the_glossary():
    used = {key.strip("\"'") for path in TEMPLATES for key in TERM.findall(path.read_text()) if key[0] in "\"'"}
    assert used - set(glossary.terms) == set()


def test_two_headings_with_one_text_have_two_ids():
    sections = [section.id for guide in guides_by_name().values() for section in guide.sections]
    assert len(sections) > 100
    for guide in guides_by_name().values():
        ids = [section.id for section in guide.sections]
        assert len(set(ids)) == len(ids), guide.name


def test_slugify_heading_follows_the_rule_of_github():
    assert slugify_heading("Which list is better") == "which-list-is-better"
    assert slugify_heading("“–” is not 0") == "-is-not-0"
    assert slugify_heading("create_endpoint") == "create_endpoint"


def test_a_guide_of_an_app_that_is_left_out_is_no_page(monkeypatch):
    monkeypatch.setattr("relevancy.views.help.guides.optional_apps", list)
    guides_by_audience.cache_clear()
    try:
        names = {guide.name for guides in guides_by_audience().values() for guide in guides}
        html = next(guide.html for guide in guides_by_audience()[hooks.Audience.RATERS] if guide.name == "judging")
    finally:
        guides_by_audience.cache_clear()
    assert "judging" in names
    assert "agreement" not in names
    assert "/help/agreement/" not in html
    assert "shown with its interval" in html  # of the link, the text is left


@pytest.mark.django_db
def test_a_guide_stands_beside_the_list_of_all(sign_in):
    page = sign_in("rater").get(reverse("guide", args=["statistics"])).content.decode()
    assert 'id="pool-bias"' in page
    assert re.findall(r'aria-current="page"\s*>([^<]+)<', page) == ["Statistics"]
    assert reverse("guide", args=["judging"]) in page


@pytest.mark.django_db
def test_an_unknown_guide_is_not_found(sign_in):
    assert sign_in("rater").get(reverse("guide", args=["no-such-guide"])).status_code == 404


@pytest.mark.django_db
def test_guides_need_an_account(client):
    response = client.get(reverse("guide", args=["judging"]))
    assert response.status_code == 302
    assert response.url.startswith(reverse("login"))


def test_the_help_of_pages_is_a_section_of_a_guide():
    routes = list(list_routes(get_resolver().url_patterns))
    for beginning, target in (PAGES | hooks.help_pages).items():
        name, _, section = target.partition("#")
        assert name in guides_by_name(), target
        assert not section or section in find_sections(name), target
        assert any(route.startswith(beginning) for route in routes), beginning


def list_routes(patterns, before=""):
    """Yields the routes of all pages."""
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from list_routes(pattern.url_patterns, route)
        else:
            yield route


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("home", "/help/"),
        ("books", "/help/judging/"),
        ("scorer_new", "/help/scorers/#choosing-a-scorer"),
        ("account_tokens", "/help/security/#api-tokens"),
    ],
)
def test_a_page_leads_to_its_help(sign_in, name, address):
    page = sign_in("owner").get(reverse(name)).content.decode()
    assert re.findall(r'class="help-link"\s+href="([^"]+)"', page) == [address]
    assert re.findall(r'href="([^"]+)">Help on this page<', page) == [address]  # of the dialog with the keys
