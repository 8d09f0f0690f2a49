"""The workbench of a case: its page, its list of queries, the state of its run."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from relevancy import cases, evaluation, tasks

from .answers import go, refused
from .bench import INLINE_RESCORE, Bench, editable, find_case
from .listing import STATES, number


@require_GET
def show(request: HttpRequest, case_id: int) -> HttpResponse:
    """The page; asked by htmx for the list, only the list."""
    bench = Bench(request, find_case(request, case_id))
    only_list = request.headers.get("HX-Target") == "queries"
    updating = _freshen(bench, wake=not only_list)
    context = {"bench": bench, "states": STATES, "updating": updating, "tune": None}
    if only_list:
        return render(request, "case/workbench.html#queries", context)
    context["tune"] = bench.tune(request.GET.get("attempt", ""))
    return render(request, "case/workbench.html", context)


def _freshen(bench: Bench, *, wake: bool) -> int:
    """Score anew what ratings made stale: at once if it is little, else in the background. Returns how many are on their way."""
    run = bench.run
    if run is None or run.under_way or not run.done:
        return 0
    stale = evaluation.has_stale(run, bench.version)
    if stale and stale <= INLINE_RESCORE:
        evaluation.rescore_run(run)
        return 0
    if stale and wake:
        tasks.rescore_run.enqueue(run.pk)
    return stale


@require_GET
def state(request: HttpRequest, case_id: int) -> HttpResponse:
    """The head while a run is under way: progress, and at its end the score. The list follows by itself."""
    bench = Bench(request, find_case(request, case_id))
    response = render(request, "case/_head.html", {"bench": bench})
    response["HX-Trigger"] = "run-progress" if bench.run and bench.run.under_way else "run-finished"
    return response


@require_POST
def choose_scorer(request: HttpRequest, case_id: int) -> HttpResponse:
    """Another primary scorer. Nothing is searched again: the newest run is scored with it."""
    bench = editable(request, case_id)
    scorer = next((scorer for scorer in bench.scorers if scorer.pk == number(request.POST.get("scorer", ""))), None)
    if scorer is None:
        return refused(
            request, bench.url(), "This scorer is not on offer any more. Reload the page and choose another."
        )
    cases.make_primary(case=bench.case, scorer=scorer)
    if bench.run and bench.run.done and bench.run.done <= INLINE_RESCORE:
        evaluation.rescore_run(bench.run)
    tasks.rescore_case.enqueue(case_id)
    return go(request, bench.url())
