"""The pages of the help."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy.glossary import terms

from .guides import guides_by_audience, guides_by_name
from .search import MAX_TEXT, find_sections, find_terms, mark_found


@require_GET
def show_help(request: HttpRequest) -> HttpResponse:
    """Shows the words of the glossary, or what contains the text `q`."""
    text = _searched(request)
    found = {"terms": find_terms(text), "hits": find_sections(text)} if text else {"terms": terms.values()}
    return render(request, "help/help.html", {"audiences": guides_by_audience(), "text": text, **found})


@require_GET
def show_guide(request: HttpRequest, guide: str) -> HttpResponse:
    """Shows a guide beside the list of all guides; words of the text `q` are marked."""
    shown = guides_by_name().get(guide)
    if shown is None:
        raise Http404
    text = _searched(request)
    html = mark_found(shown.html, text) if text else shown.html
    return render(
        request, "help/guide.html", {"audiences": guides_by_audience(), "guide": shown, "html": html, "text": text}
    )


def _searched(request: HttpRequest) -> str:
    return " ".join(request.GET.get("q", "").split())[:MAX_TEXT]
