"""Rated documents that the run does not show: known by their ratings, looked up in the engine on demand."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy import runs
from relevancy.engines.errors import EngineError
from relevancy.models import Ranking, Role
from relevancy.views.requests import HtmxRequest

from .access import get_case
from .rankings import get_ranking
from .workbench import Workbench


def _not_returned_text(ranking: Ranking) -> str:
    """Returns where a document is that the run did not return: beyond its last rank, if there are further hits."""
    returned = len(ranking.hits)
    has_more = ranking.total is None or ranking.total > returned
    return f"beyond rank {returned}" if returned and has_more else "not returned"


@require_GET
def unretrieved(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Lists the documents; with `look=1`, for editors, with the fields that the engine has for them now."""
    must_look_up = bool(request.GET.get("look"))
    needs = Role.EDITOR if must_look_up else Role.VIEWER
    workbench = Workbench(request, get_case(request, case_id, needs=needs))
    case_query, ranking = workbench.queries.get(case_query_id), get_ranking(workbench.selection, case_query_id)
    documents_left = runs.list_unretrieved(ranking, by=request.user, depth=ranking.run.config["depth"])
    documents, error, was_looked_up = documents_left.documents, "", must_look_up
    if must_look_up:
        try:
            documents = runs.look_up(ranking, documents, by=request.user)
        except (runs.RunNotAllowed, EngineError) as reason:
            error, was_looked_up = str(reason), False
    context = {
        **workbench.base_context(),
        "case_query": case_query,
        "documents": documents,
        "not_returned_text": _not_returned_text(ranking),
        "total": len(documents) + documents_left.more,
        "error": error,
        "must_look_up": not must_look_up,
        "can_look_up": workbench.access.can_edit and runs.can_look_up(ranking) and not was_looked_up,
        "can_find": workbench.access.can_edit and runs.can_find(ranking),
        "rule_text": workbench.case.book.get_rule_display(),
        "can_explain": workbench.access.can_edit and runs.can_explain(ranking),
    }
    return render(request, "workbench/unretrieved.html", context)
