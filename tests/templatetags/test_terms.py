"""Words of the glossary as links."""

import pytest
from django.template import Context, Template

from relevancy import glossary


def render(source: str) -> str:
    return Template(source).render(Context({"key": "p", "text": "p < .001"}))


def test_term_is_a_link_with_a_description():
    entry = glossary.terms["not-compared"]
    html = render('{% term "not-compared" %}')
    assert html.startswith(f'<a class="term" href="/help/{entry.guide}/#{entry.section}" ')
    assert f'aria-description="{entry.meaning}"' in html
    assert html.endswith(f">{entry.word}</a>")


def test_term_shows_another_text_escaped():
    assert render("{% term key text %}").endswith(">p &lt; .001</a>")


def test_an_unknown_term_is_an_error():
    with pytest.raises(KeyError):
        render('{% term "no-such-word" %}')
