"""The working of a query's score, rank by rank; a script runs again for it, with its console."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy import scores
from relevancy.models import ScorerDefinition, ScorerVersion
from relevancy.views.requests import HtmxRequest, parse_number

from .access import get_case
from .workbench import Workbench


@require_GET
def show(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Shows the working under one of the case's scorers: the primary one unless `scorer` names another."""
    workbench = Workbench(request, get_case(request, case_id))
    case_query, run = workbench.queries.get(case_query_id), workbench.selection.run
    version = _find_version(workbench.versions, parse_number(request.GET.get("scorer", "")))
    is_missing = version in scores.missing_measures([version])
    preview = None
    if run is not None and not is_missing:
        preview = scores.preview_query(ScorerDefinition.of(version), run=run, query_id=case_query.query_id)
    context = {
        **workbench.base_context(),
        "case_query": case_query,
        "versions": workbench.versions,
        "version": version,
        "preview": preview,
        "is_missing": is_missing,
    }
    return render(request, "workbench/working.html", context)


def _find_version(versions: list[ScorerVersion], scorer_id: int) -> ScorerVersion:
    return next((version for version in versions if version.scorer_id == scorer_id), versions[0])
