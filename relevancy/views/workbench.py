"""The workbench of a case: its page, its list of queries, the state of its run."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from .bench import Bench, find_case
from .freshness import freshen, on_their_way
from .listing import STATES


@require_GET
def show(request: HttpRequest, case_id: int) -> HttpResponse:
    """The page; asked by htmx for the list, only the list."""
    bench = Bench(request, find_case(request, case_id))
    only_list = request.headers.get("HX-Target") == "queries"
    updating = freshen(bench, wake=not only_list)
    context = {"bench": bench, "states": STATES, "updating": updating, "tune": None}
    if only_list:
        return render(request, "case/workbench.html#queries", {**context, "only_list": True})
    context["tune"] = bench.tune(request.GET.get("attempt", ""))
    return render(request, "case/workbench.html", context)


@require_GET
def state(request: HttpRequest, case_id: int) -> HttpResponse:
    """The head while a run is under way or scores are on their way: progress, and at its end the score. The list follows by itself."""
    bench = Bench(request, find_case(request, case_id))
    busy = bool(bench.run and bench.run.under_way) or on_their_way(bench) > 0
    response = render(request, "case/_head.html", {"bench": bench})
    response["HX-Trigger"] = "run-progress" if busy else "run-finished"
    return response
