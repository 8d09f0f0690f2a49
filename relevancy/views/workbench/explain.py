"""Explains engine scores: the engine is asked when the user wants to know, and nothing is stored."""

import math

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy import runs
from relevancy.engines.errors import EngineError
from relevancy.models import Role
from relevancy.views.requests import HtmxRequest

from .access import get_case
from .rankings import get_ranking
from .workbench import Workbench


@require_GET
def explain(request: HtmxRequest, case_id: int, entry_id: int) -> HttpResponse:
    """Shows why a document, returned or not, has its engine score. For editors: the engine is asked."""
    workbench = Workbench(request, get_case(request, case_id, needs=Role.EDITOR))
    case_query = workbench.queries.get(entry_id)
    ranking, doc_id = get_ranking(workbench.selection, entry_id), request.GET.get("doc_id", "")
    context: dict[str, object] = {
        **workbench.base_context(),
        "case_query": case_query,
        "doc_id": doc_id,
        # The length of a bar is relative to the best score of the ranking.
        "best_score": max((hit[1] for hit in ranking.hits if hit[1]), default=0),
    }
    try:
        explanation = runs.explain(ranking, doc_id, by=request.user)
        stored_score = next((hit[1] for hit in ranking.hits if hit[0] == doc_id), None)
        context |= {
            "explanation": explanation,
            "stored_score": stored_score,
            "has_changed": stored_score is not None
            and not math.isclose(stored_score, explanation.score, rel_tol=0.005, abs_tol=0.005),
        }
    except (runs.RunNotAllowed, EngineError) as error:
        context["error"] = str(error)
    return render(request, "workbench/explanation.html", context)
