"""Explains engine scores: of one document, or of all results of a query in one request to the engine."""

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_GET

from relevancy import runs
from relevancy.engines.errors import EngineError
from relevancy.models import Role
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_to

from .access import get_case
from .explained_pair import ComparedExplanation, ExplainedPair, comparison_choices
from .rankings import find_ranking, get_ranking
from .score_explanations import ScoreExplanations
from .workbench import open_workbench


@require_GET
def explain(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Shows why a document, returned or not, has its engine score; with `full=1` the engine's whole explanation.

    Everyone who sees the case sees what is stored with the run. Only editors send requests to the engine.
    """
    workbench = open_workbench(request, case_id)
    case_query = workbench.queries.get(case_query_id)
    ranking, doc_id = get_ranking(workbench.selection, case_query_id), request.GET.get("doc_id", "")
    explanation = None if request.GET.get("full") else runs.stored_explanations(ranking).get(doc_id)
    error = ""
    if explanation is None:
        get_case(request, case_id, needs=Role.EDITOR)
        try:
            explanation = runs.explain(ranking, doc_id, by=request.user)
        except (runs.RunNotAllowed, EngineError) as reason:
            error = str(reason)
    stored_score = next((hit[1] for hit in ranking.hits if hit[0] == doc_id), None)
    return workbench.render(
        "workbench/explanation.html",
        case_query=case_query,
        doc_id=doc_id,
        # The length of a bar is relative to the best score of the ranking.
        best_score=max((hit[1] for hit in ranking.hits if hit[1]), default=0),
        explanation=explanation,
        stored_score=stored_score,
        has_changed=explanation is not None and explanation.differs_from(stored_score),
        can_request=workbench.access.can_edit and runs.abilities(ranking.run).explain,
        error=error,
        choices=[] if error else comparison_choices(ranking, doc_id, by=request.user, access=workbench.access),
    )


@require_GET
def explain_difference(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Shows what makes the difference between the engine scores of two documents, or of one document in two runs.

    `other` is `doc:ID` or `run:NUMBER`; `other_id`, unless it is empty, is the id of any document of the engine. What is stored
    with the runs is for everyone who sees the case. The engine is asked for the rest, for editors only.
    """
    workbench = open_workbench(request, case_id)
    case_query = workbench.queries.get(case_query_id)
    ranking, doc_id = get_ranking(workbench.selection, case_query_id), request.GET.get("doc_id", "")
    other_id = request.GET.get("other_id", "").strip()
    chosen = f"doc:{other_id}" if other_id else request.GET.get("other", "")
    kind, _, name = chosen.partition(":")
    if not doc_id or not name or kind not in {"doc", "run"}:
        raise Http404("Choose a document or a run to compare with.")
    other_ranking, other_id = (ranking, name) if kind == "doc" else (find_ranking(ranking, name), doc_id)
    pair, error = None, ""
    try:
        if kind == "doc" and name == doc_id:
            raise runs.RunNotAllowed(f"“{doc_id}” cannot be compared with itself. Choose another document.")
        pair = ExplainedPair.read(
            ComparedExplanation(other_ranking, other_id),
            ComparedExplanation(ranking, doc_id),
            by=request.user,
            can_request=workbench.access.can_edit,
        )
    except runs.SEARCH_ERRORS as reason:
        error = str(reason)
    return workbench.render(
        "workbench/explanation_difference.html",
        case_query=case_query,
        doc_id=doc_id,
        pair=pair,
        error=error,
        choices=comparison_choices(ranking, doc_id, by=request.user, access=workbench.access),
        chosen=chosen,
    )


@require_GET
def explain_results(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Explains the scores of all results of a query and stores it with the run. For editors: the engine is asked.

    Returns what changes in the rows; the table of the tab “Explain” if the address names a `tab`.
    """
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    case_query = workbench.queries.get(case_query_id)
    ranking, error = get_ranking(workbench.selection, case_query_id), ""
    depth = ranking.run.config["depth"]
    try:
        runs.explain_results(ranking, depth=depth, by=request.user)
    except runs.SEARCH_ERRORS as reason:
        error = str(reason)
    if not request.htmx:
        return redirect_to(request, workbench.queries.open_url(case_query))
    results = runs.build_results(ranking, by=request.user, depth=depth)
    return workbench.render(
        "workbench/_explain_table.html" if request.GET.get("tab") else "workbench/explanations.html",
        case_query=case_query,
        explanations=ScoreExplanations(ranking, results, can_request=True, error=error),
    )
