"""Rated documents that the run does not show: known by their ratings, looked up in the engine on demand."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy import runs
from relevancy.engines.errors import EngineError
from relevancy.views.requests import HtmxRequest

from .access import get_case
from .rankings import get_ranking
from .workbench import Workbench


@require_GET
def unretrieved(request: HtmxRequest, case_id: int, entry_id: int) -> HttpResponse:
    """Lists the documents; with `look=1` with the fields that the engine has for them now."""
    workbench = Workbench(request, get_case(request, case_id))
    case_query, ranking = workbench.queries.get(entry_id), get_ranking(workbench.selection, entry_id)
    found = runs.list_unretrieved(ranking, by=request.user, depth=ranking.run.config["depth"])
    documents, error, was_looked_up = found.documents, "", bool(request.GET.get("look"))
    if was_looked_up:
        try:
            documents = runs.look_up(ranking, documents)
        except EngineError as reason:
            error, was_looked_up = str(reason), False
    context = {
        **workbench.base_context(),
        "case_query": case_query,
        "documents": documents,
        "total": len(documents) + found.more,
        "error": error,
        "can_look_up": runs.can_look_up(ranking) and not was_looked_up,
        "can_explain": runs.can_explain(ranking),
    }
    return render(request, "workbench/unretrieved.html", context)
