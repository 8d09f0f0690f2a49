"""The search over the guides."""

import pytest
from django.urls import reverse

from relevancy.views.help.search import find_sections, find_terms, mark_found


@pytest.mark.parametrize(
    ("text", "guide", "section"),
    [
        ("effect size", "statistics", "effect-size"),
        ("linked query", "workbench", "linked-queries"),
        ("CONFLICTS", "judging", "conflicts"),
        ("merge books", "judging", "merging-books"),
    ],
)
def test_the_section_that_a_text_names_comes_first(text, guide, section):
    hit = find_sections(text)[0]
    assert (hit.guide.name, hit.section.id) == (guide, section)


def test_the_excerpt_contains_the_words_marked():
    for hit in find_sections("adjudicator decision"):
        words = [piece.lower() for piece, is_marked in hit.excerpt if is_marked]
        assert any(word.startswith(("adjudicator", "decision")) for word in words)
        assert "".join(piece for piece, _ in hit.excerpt).removeprefix("… ").removesuffix(" …") in hit.section.text


def test_nothing_is_found_without_words():
    assert find_sections("–") == find_sections("qwertyuiop") == find_terms("") == []


def test_a_word_of_the_glossary_is_found_by_a_part_of_it():
    assert [term.word for term in find_terms("could gain")] == ["Could gain"]


def test_words_are_marked_in_text_only():
    html = mark_found('<a title="a score">Scores &amp; amp</a>', "score amp")
    assert html == '<a title="a score"><mark>Scores</mark> &amp; <mark>amp</mark></a>'


@pytest.mark.django_db
def test_the_page_lists_sections_and_leads_to_them(sign_in):
    client = sign_in("rater")
    page = client.get(reverse("help"), {"q": "detectable"}).content.decode()
    assert f"{reverse('guide', args=['statistics'])}?q=detectable#detectable-difference" in page
    guide = client.get(reverse("guide", args=["statistics"]), {"q": "detectable"}).content.decode()
    assert "<mark>Detectable</mark>" in guide
    assert "data-nothing" in client.get(reverse("help"), {"q": "qwertyuiop"}).content.decode()


@pytest.mark.django_db
def test_without_a_text_the_page_lists_the_words(sign_in):
    page = sign_in("rater").get(reverse("help")).content.decode()
    assert f'{reverse("guide", args=["statistics"])}#p">p</a>' in page
    assert "data-nothing" not in page
