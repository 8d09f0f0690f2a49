"""How the engine understands the query of a run: the parsed query, its filters, and where the time goes."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy import runs
from relevancy.engines.errors import EngineError
from relevancy.models import Role
from relevancy.slow_requests import Busy
from relevancy.views.requests import HtmxRequest

from .access import get_case
from .rankings import get_ranking
from .workbench import Workbench


@require_GET
def interpretation(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Shows how the engine understands a query. For editors: the engine is asked, and searches once."""
    workbench = Workbench(request, get_case(request, case_id, needs=Role.EDITOR))
    case_query, ranking = workbench.queries.get(case_query_id), get_ranking(workbench.selection, case_query_id)
    context: dict[str, object] = {**workbench.base_context(), "case_query": case_query}
    try:
        understood = runs.interpret(ranking, by=request.user)
    except (runs.RunNotAllowed, EngineError, Busy) as reason:
        context["error"] = str(reason)
    else:
        context["understood"] = understood
    return render(request, "workbench/interpretation.html", context)
