"""How the engine understands the query of a run: the parsed query, its filters, and where the time goes."""

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from relevancy import runs
from relevancy.models import Role
from relevancy.views.requests import HtmxRequest

from .rankings import get_ranking
from .workbench import open_workbench


@require_GET
def interpretation(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Shows how the engine understands a query. For editors: the engine is asked, and searches once."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    case_query, ranking = workbench.queries.get(case_query_id), get_ranking(workbench.selection, case_query_id)
    understood, error = None, ""
    try:
        understood = runs.interpret(ranking, by=request.user)
    except runs.SEARCH_ERRORS as reason:
        error = str(reason)
    return workbench.render("workbench/interpretation.html", case_query=case_query, understood=understood, error=error)
