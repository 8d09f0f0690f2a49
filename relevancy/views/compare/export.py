"""A comparison as files: its figures as JSON, its queries as CSV, and both as a report that is read without the server."""

from django.http import HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_GET

from relevancy import comparison
from relevancy.formats.reports import compared_queries_csv, comparison_html, comparison_json
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import as_file, conflict, csv_file
from relevancy.views.workbench.access import get_case

from .comparison_page import ComparisonPage

NOT_READY = "The comparison is being computed. Try again in a moment."


@require_GET
def export(request: HtmxRequest, case_id: int, ending: str) -> HttpResponseBase:
    """Exports the list as it is filtered and sorted, that of large runs in the order of the case, all pages of it (csv), the figures as
    `compare --json` prints them (json), or the whole comparison as one file (html)."""
    page = ComparisonPage(get_case(request, case_id), request.user, request.GET)
    if page.large and ending != "csv":
        return conflict(request, page.url(), comparison.ONLY_FIGURES)
    if page.stored is None or page.stored.computed_at is None or not (page.figures or page.large):
        page.request_figures()
        return conflict(request, page.url(), " ".join(page.errors) or page.failure or NOT_READY)
    numbers = "-".join(page.numbers).replace(":", "_")
    file = (page.case.name, f"-runs-{numbers}.{ending}")
    if ending == "csv":
        return csv_file(compared_queries_csv.export_lines(page.table.export_rows(), page.pair), *file)
    assert page.figures is not None
    if ending == "json":
        data = comparison_json.build_comparison(page.figures)
        return as_file(JsonResponse(data, json_dumps_params={"ensure_ascii": False, "indent": 2}), *file)
    report = comparison_html.build_report(page.figures, computed_at=page.stored.computed_at)
    return as_file(HttpResponse(report), *file)
