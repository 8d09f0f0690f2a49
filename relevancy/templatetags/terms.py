"""Words of the glossary as links to their explanations."""

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from relevancy import glossary


def term(key: str, text: str = "") -> SafeString:
    """A word of the glossary as a link to the section of a guide: `{% term "not-compared" %}`, `{% term "p" "p = .03" %}`.

    css/terms.css shows the description on hover and on focus.
    """
    entry = glossary.terms[key]
    return format_html(
        '<a class="term" href="{}#{}" aria-description="{}">{}</a>',
        reverse("guide", args=[entry.guide]),
        entry.section,
        entry.meaning,
        text or entry.word,
    )
