"""The workbench of a case: its page, its list of queries, the state of its run."""

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from relevancy import tasks
from relevancy.views.requests import HtmxRequest

from .stale_scores import count_stale_scores, refresh_stale_scores, rescore_scripts, sum_scores
from .workbench import open_workbench


@require_GET
def show(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Shows the page; if htmx asks for the list of queries, only that."""
    workbench = open_workbench(request, case_id)
    only_list = request.htmx.target == "queries"
    stale = refresh_stale_scores(workbench.selection, workbench.versions, enqueue=not only_list)
    workbench.stale_scores = stale
    if only_list:
        return workbench.render("workbench/workbench.html#queries", is_fragment=True)
    if not stale:
        sum_scores(workbench.selection, workbench.versions)
    if workbench.panel.is_being_rescored or workbench.tune.is_being_rescored:
        tasks.enqueue_book_rescore(workbench.case.book_id)
    return workbench.render_page()


@require_GET
def state(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Returns the head while a run is active, scores are stale or ratings have been given. Its events let the list follow, unless
    `only=head`."""
    workbench = open_workbench(request, case_id)
    selection, versions = workbench.selection, workbench.versions
    only_head = request.GET.get("only") == "head"
    is_stale = count_stale_scores(selection, versions) > 0
    is_busy = is_stale or (selection.run is not None and selection.run.is_active)
    workbench.is_rescoring = is_stale and ("rescoring" in request.GET or rescore_scripts(selection, versions))
    if not is_busy:
        sum_scores(selection, versions)
    response = workbench.render("workbench/_state.html")
    if only_head:
        # The list is up to date, or will be with the scripts' scores, and must not move.
        return response
    if not is_busy:
        response["HX-Trigger"] = "run-finished"
    elif selection.run and workbench.progress.has_changed(selection.run):
        response["HX-Trigger"] = "run-progress"
    return response
