"""The working of a query's score, rank by rank; a script runs again for it, with its console."""

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from relevancy import scores
from relevancy.views.requests import HtmxRequest, parse_number

from .access import HIDDEN
from .workbench import open_workbench


@require_GET
def show(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Shows the working under one of the case's scorers: the primary one unless `scorer` names another."""
    workbench = open_workbench(request, case_id)
    case_query, run = workbench.queries.get(case_query_id), workbench.selection.run
    scorer_id = parse_number(request.GET.get("scorer", ""))
    named = [version for version in workbench.versions if version.scorer_id == scorer_id]
    version = (named or workbench.versions)[0]
    is_missing = version in scores.missing_measures([version])
    preview = None
    hidden = HIDDEN if workbench.access.is_blind else ""
    if run is not None and not is_missing and not hidden:
        preview = scores.preview_query(version, run=run, query_id=case_query.query_id)
    return workbench.render(
        "workbench/working.html",
        case_query=case_query,
        versions=workbench.versions,
        version=version,
        preview=preview,
        is_missing=is_missing,
        hidden=hidden,
    )
