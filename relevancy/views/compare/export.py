"""A comparison as files: its figures as JSON, its queries as CSV, and both as a report that is read without the server."""

from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from relevancy.formats.reports import compared_queries_csv, comparison_html, comparison_json
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict
from relevancy.views.workbench.access import get_case

from .comparison_page import ComparisonPage

NOT_READY = "The comparison is being computed. Try again in a moment."


@require_GET
def queries_csv(request: HtmxRequest, case_id: int) -> HttpResponse | StreamingHttpResponse:
    """Exports the list as it is filtered and sorted, all pages of it."""
    page = ComparisonPage(get_case(request, case_id), request.user, request.GET)
    if page.figures is None:
        return _not_ready(request, page)
    lines = compared_queries_csv.export_lines(page.table.selected, page.pair)
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = _file_name(page, "csv")
    return response


@require_GET
def figures_json(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Exports the figures as `compare --json` prints them."""
    page = ComparisonPage(get_case(request, case_id), request.user, request.GET)
    if page.figures is None:
        return _not_ready(request, page)
    data = comparison_json.build_comparison(page.figures)
    response = JsonResponse(data, json_dumps_params={"ensure_ascii": False, "indent": 2})
    response["Content-Disposition"] = _file_name(page, "json")
    return response


@require_GET
def report_html(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Exports the whole comparison as one HTML file."""
    page = ComparisonPage(get_case(request, case_id), request.user, request.GET)
    if page.figures is None or page.stored is None or page.stored.computed_at is None:
        return _not_ready(request, page)
    response = HttpResponse(comparison_html.build_report(page.figures, computed_at=page.stored.computed_at))
    response["Content-Disposition"] = _file_name(page, "html")
    return response


def _not_ready(request: HtmxRequest, page: ComparisonPage) -> HttpResponse:
    page.request_figures()
    return conflict(request, page.url(), " ".join(page.errors) or page.failure or NOT_READY)


def _file_name(page: ComparisonPage, ending: str) -> str:
    numbers = "-".join(page.numbers).replace(":", "_")
    name = f"{slugify(page.case.name) or 'case'}-runs-{numbers}.{ending}"
    return content_disposition_header(as_attachment=True, filename=name) or ""
