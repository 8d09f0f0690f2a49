"""How the score of one query comes about, rank by rank; a script is run for it, with its console."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy import evaluation
from relevancy.evaluation import Draft
from relevancy.models import ScorerVersion

from .bench import Bench, find_case
from .listing import number


@require_GET
def show(request: HttpRequest, case_id: int, entry_id: int) -> HttpResponse:
    """Under one of the case's scorers, the primary one unless `scorer` names another."""
    bench = Bench(request, find_case(request, case_id))
    entry: Any = bench.entry(entry_id)
    version = _version(bench, number(request.GET.get("scorer", "")))
    tried = None
    if bench.run is not None:
        tried = evaluation.try_query(Draft.of(version), run=bench.run, query_id=entry.query_id)
    context = {"bench": bench, "entry": entry, "version": version, "tried": tried}
    return render(request, "query/working.html", context)


def _version(bench: Bench, scorer_id: int) -> ScorerVersion:
    return next((version for version in bench.versions if version.scorer_id == scorer_id), bench.version)
