"""Rated documents that the run does not show: known by their ratings, looked up in the engine on demand."""

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from relevancy import runs
from relevancy.engines.errors import EngineError
from relevancy.models import Role
from relevancy.views.requests import HtmxRequest

from .access import HIDDEN
from .rankings import get_ranking
from .workbench import open_workbench


@require_GET
def unretrieved(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Lists the documents; with `look=1`, for editors, with the fields that the engine has for them now."""
    must_look_up = bool(request.GET.get("look"))
    needs = Role.EDITOR if must_look_up else Role.VIEWER
    workbench = open_workbench(request, case_id, needs=needs)
    case_query, ranking = workbench.queries.get(case_query_id), get_ranking(workbench.selection, case_query_id)
    ratings, depth = workbench.access.read_ratings(case_query.query_id), ranking.run.config["depth"]
    documents_left = runs.list_unretrieved(ranking, by=request.user, depth=depth, ratings=ratings)
    documents, was_looked_up = documents_left.documents, must_look_up
    error = HIDDEN if workbench.access.is_blind else ""
    if must_look_up:
        try:
            documents = runs.look_up(ranking, documents, by=request.user)
        except (runs.RunNotAllowed, EngineError) as reason:
            error, was_looked_up = str(reason), False
    returned, can_edit, abilities = len(ranking.hits), workbench.access.can_edit, runs.abilities(ranking.run)
    has_more_hits = ranking.total is None or ranking.total > returned
    return workbench.render(
        "workbench/unretrieved.html",
        case_query=case_query,
        documents=documents,
        not_returned_text=f"beyond rank {returned}" if returned and has_more_hits else "not returned",
        total=len(documents) + documents_left.more,
        error=error,
        must_look_up=not must_look_up,
        can_look_up=can_edit and abilities.lookup and not was_looked_up,
        can_find=can_edit and runs.engine_of(ranking.run) is not None,
        rule_text=workbench.case.book.get_rule_display(),
        can_explain=can_edit and abilities.explain,
    )
