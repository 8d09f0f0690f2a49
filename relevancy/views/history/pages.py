"""The history page: its chart, its table of runs, and the table as a file."""

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy import tasks
from relevancy.formats.reports import history_csv
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import csv_file
from relevancy.views.workbench.access import get_case

from .history_page import HistoryPage


@require_GET
def show(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Shows the page; if htmx asks for the chart and the table, only these."""
    page = _open(request, case_id)
    template = "history/_runs.html" if request.htmx.target == "history-runs" else "history/history.html"
    return render(request, template, {"case": page.case, "access": page.access, "page": page})


@require_GET
def state(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Returns how many runs are being rescored; once none is, its event lets chart and table follow."""
    page = _open(request, case_id)
    response = render(request, "history/_state.html", {"case": page.case, "page": page})
    if not page.rescoring:
        response["HX-Trigger-After-Settle"] = "history-ready"
    return response


@require_GET
def export(request: HtmxRequest, case_id: int) -> StreamingHttpResponse:
    """Exports all runs of the table."""
    page = _open(request, case_id)
    return csv_file(history_csv.export_lines(page.history, page.notes_by_run), page.case.name, "-history.csv")


def _open(request: HtmxRequest, case_id: int) -> HistoryPage:
    page = HistoryPage(get_case(request, case_id), request.user, request.GET)
    if page.rescoring:
        tasks.enqueue_history_rescore(page.case)
    return page
