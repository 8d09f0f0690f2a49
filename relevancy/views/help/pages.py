"""The pages of the help."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from .guides import guides_by_audience, guides_by_name


@require_GET
def show_guide(request: HttpRequest, guide: str) -> HttpResponse:
    """Shows a guide beside the list of all guides."""
    shown = guides_by_name().get(guide)
    if shown is None:
        raise Http404
    return render(request, "help/guide.html", {"guide": shown, "audiences": guides_by_audience()})
