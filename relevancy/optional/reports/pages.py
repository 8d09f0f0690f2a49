"""The report of a case, as a page and as files."""

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy import tasks
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import as_file, conflict
from relevancy.views.workbench.access import get_case

from . import report_csv
from . import report_json as report_format
from .report_page import ReportPage

MAX_AT_ONCE = 1000  # queries of a report that a page waits for
NOT_RUN = "The case has no finished run to report on. Run it first."


@require_GET
def show(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Shows the report; while scores are being computed it loads itself again. A page for a browser that takes long comes without the
    report, and asks for it."""
    page = ReportPage(get_case(request, case_id), request.user, request.GET)
    is_coming = not request.htmx and "now" not in request.GET and page.run and page.run.queries > MAX_AT_ONCE
    context: dict[str, object] = {"case": page.case, "access": page.access, "page": page, "is_coming": is_coming}
    if not is_coming:
        _enqueue_rescoring(page)
        context["report"] = page.report
    return render(request, "reports/report.html", context)


@require_GET
def queries_csv(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Exports the queries of the report."""
    page = _open(request, case_id)
    if page.report is None:
        return conflict(request, page.url, NOT_RUN)
    response = HttpResponse(report_csv.format_queries(page.report), content_type="text/csv; charset=utf-8")
    return _as_file(response, page, "csv")


@require_GET
def report_json(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Exports the report as `report --json` prints it."""
    page = _open(request, case_id)
    if page.report is None:
        return conflict(request, page.url, NOT_RUN)
    response = JsonResponse(
        report_format.build_report(page.report), json_dumps_params={"ensure_ascii": False, "indent": 2}
    )
    return _as_file(response, page, "json")


def _open(request: HtmxRequest, case_id: int) -> ReportPage:
    page = ReportPage(get_case(request, case_id), request.user, request.GET)
    _enqueue_rescoring(page)
    return page


def _enqueue_rescoring(page: ReportPage) -> None:
    for run in page.runs_to_rescore():
        tasks.enqueue_run_rescore(run)


def _as_file(response: HttpResponse, page: ReportPage, ending: str) -> HttpResponse:
    number = f"-run-{page.run.number}" if page.run else ""
    return as_file(response, page.case.name, f"{number}-report.{ending}")
