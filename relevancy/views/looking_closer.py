"""Asked from the engine when somebody looks closer: why a document matched, and the rated ones that are not shown."""

import math
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy import evaluation
from relevancy.models import Ranking

from .bench import Bench, find_case


@require_GET
def explain(request: HttpRequest, case_id: int, entry_id: int) -> HttpResponse:
    """Why a document, shown or not, has its engine score."""
    bench = Bench(request, find_case(request, case_id))
    entry, ranking, doc_id = bench.entry(entry_id), _ranking(bench, entry_id), request.GET.get("doc_id", "")
    # Bars are as long as their score beside the best one.
    first = max((hit[1] for hit in ranking.hits if hit[1]), default=0)
    context: dict[str, Any] = {"bench": bench, "entry": entry, "doc_id": doc_id, "first": first}
    try:
        found = evaluation.explain(ranking, doc_id)
        stored = next((hit[1] for hit in ranking.hits if hit[0] == doc_id), None)
        moved = stored is not None and not math.isclose(stored, found.score, rel_tol=0.005, abs_tol=0.005)
        context |= {"explained": found, "stored": stored, "moved": moved}
    except evaluation.EngineError as error:
        context["error"] = str(error)
    return render(request, "query/explained.html", context)


@require_GET
def missing(request: HttpRequest, case_id: int, entry_id: int) -> HttpResponse:
    """The rated documents that are not shown; with `look=1` as the engine has them now."""
    bench = Bench(request, find_case(request, case_id))
    entry, ranking = bench.entry(entry_id), _ranking(bench, entry_id)
    found = evaluation.not_shown(ranking, by=request.user, depth=ranking.run.asked["depth"])
    documents, error, looked = found.documents, "", bool(request.GET.get("look"))
    if looked:
        try:
            documents = evaluation.look_up(ranking, documents)
        except evaluation.EngineError as reason:
            error, looked = str(reason), False
    context = {
        "bench": bench,
        "entry": entry,
        "documents": documents,
        "more": found.more,
        "looked": looked,
        "error": error,
        "can_look_up": evaluation.can_look_up(ranking),
        "can_explain": evaluation.can_explain(ranking),
    }
    return render(request, "query/missing.html", context)


def _ranking(bench: Bench, entry_id: int) -> Ranking:
    """What the run shown returned for a query; 404 where it was not searched."""
    rankings = bench.run.rankings.filter(query__case_queries=entry_id, error_kind="") if bench.run else None
    ranking: Ranking | None = rankings.first() if rankings else None
    if ranking is None or bench.run is None:
        raise Http404("This query was not searched in this run.")
    ranking.run = bench.run
    return ranking
