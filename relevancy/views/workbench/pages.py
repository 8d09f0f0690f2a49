"""The workbench of a case: its page, its list of queries, the state of its run."""

from typing import cast

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy import tasks
from relevancy.views.requests import HtmxRequest

from .access import get_case
from .stale_scores import count_stale_scores, refresh_stale_scores
from .tune_pane import TunePane
from .workbench import Workbench


@require_GET
def show(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Shows the page; if htmx asks for the list of queries, only that."""
    workbench = Workbench(request, get_case(request, case_id))
    only_list = request.htmx.target == "queries"
    stale = refresh_stale_scores(workbench.selection, workbench.versions, enqueue=not only_list)
    if only_list:
        context = {**workbench.list_context(stale_scores=stale), "is_fragment": True}
        return render(request, "workbench/workbench.html#queries", context)
    context = workbench.page_context(stale_scores=stale, attempt_number=request.GET.get("attempt", ""))
    if workbench.panel.is_being_rescored or cast("TunePane", context["tune"]).is_being_rescored:
        tasks.enqueue_book_rescore(workbench.case.book_id)
    return render(request, "workbench/workbench.html", context)


@require_GET
def state(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Returns the head while a run is active or scores are stale. Its events let the list follow, unless `only=head`."""
    workbench = Workbench(request, get_case(request, case_id))
    header = workbench.header()
    is_stale = count_stale_scores(workbench.selection, workbench.versions) > 0
    is_busy = header.is_active or is_stale
    workbench.is_rescoring = is_stale and "rescoring" in request.GET
    response = render(request, "workbench/_state.html", workbench.score_context())
    if request.GET.get("only") == "head":
        # Only the history is being rescored; the list is up to date and must not move.
        return response
    if not is_busy:
        response["HX-Trigger"] = "run-finished"
    elif header.run and workbench.progress.has_changed(header.run):
        response["HX-Trigger"] = "run-progress"
    return response
