"""The scorers there are, for reading."""

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy.models import Scorer


@require_GET
def scorers(request: HttpRequest) -> HttpResponse:
    """Name, measure, scale and what it says; the newest version of each."""
    found = (
        Scorer.objects.visible_to(request.user)
        .live()
        .annotate(cases_using=Count("case_scorers", distinct=True))
        .prefetch_related("versions")
        .order_by("-is_default", "name")
    )
    rows = [(scorer, max(scorer.versions.all(), key=lambda version: version.number)) for scorer in found]
    return render(request, "scorer/list.html", {"rows": rows})
