"""The comparison of a run with the best order: the page, its parts, its files, and ratings given on it."""

from collections.abc import Mapping

from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.text import slugify

from relevancy import ratings, scores, tasks
from relevancy.formats.reports import ideal_csv, ideal_html, ideal_json
from relevancy.models import Case, CaseQuery
from relevancy.views.forms import form_error
from relevancy.views.requests import HtmxRequest, page_parameters, parse_number
from relevancy.views.responses import conflict, redirect_to, refresh_after_conflict
from relevancy.views.workbench.access import get_case, get_case_query
from relevancy.views.workbench.forms import RatingForm

from .ideal_page import IdealPage
from .ideal_query import compare_query_with_ideal
from .query_comparison import QueryComparison

NOT_READY = "The run is being scored. Try again in a moment."
PARTS = {
    "compared-queries": "compare/_ideal_queries.html",
    "compared-charts": "compare/_charts.html",
    "compared-tags": "compare/_ideal_tags.html",
    "compared-query": "compare/_query.html",
}


def show(request: HtmxRequest, case: Case) -> HttpResponse:
    """Shows the page; if htmx asks for the list, the charts, the tags or the opened query, only that."""
    page = IdealPage(case, request.user, request.GET)
    page.request_figures()
    return render(request, PARTS.get(request.htmx.target or "", "compare/compare.html"), _context(page))


def state(request: HtmxRequest, case: Case) -> HttpResponse:
    """Returns the verdict; once the run has been scored, its event lets the list follow."""
    page = IdealPage(case, request.user, request.GET)
    page.filter = type(page.filter).from_parameters(page_parameters(request))
    page.request_figures()
    response = render(request, "compare/_verdict.html", _context(page))
    if not page.is_pending:
        response["HX-Trigger-After-Settle"] = "comparison-ready"
    return response


def rate(request: HtmxRequest, case: Case, case_query_id: int) -> HttpResponse:
    """Rates one document; takes the user's rating back if `value` is empty. The case has been read for a rater."""
    case_query = get_case_query(case, case_query_id)
    page = IdealPage(case, request.user, request.GET)
    if not page.is_shown:
        return conflict(request, page.url(), " ".join(page.errors))
    back = page.url(query=f"open={case_query_id}")
    form = RatingForm(request.POST)
    if not form.is_valid():
        return conflict(request, back, form_error(form))
    try:
        changed = form.store(case_query.query, by=request.user)
    except ratings.ScaleChanged as reason:
        return refresh_after_conflict(request, back, reason)
    except ratings.InvalidRating as reason:
        return conflict(request, back, reason)
    if changed:
        versions = [page.version, *(version for version in page.versions if version.pk != page.version.pk)]
        scores.rescore_query(case_query.query, [page.run], versions)
        tasks.enqueue_book_rescore(case.book_id)
    if not request.htmx:
        return redirect_to(request, back)
    rated = IdealPage(get_case(request, case.pk), request.user, request.GET)
    rated.request_figures()
    opened = _open_query(rated, case_query)
    doc_id = form.cleaned_data["doc_id"].strip()
    result = next((document.result for document in opened.documents if document.result.doc_id == doc_id), None)
    if result is None:
        return redirect_to(request, back)  # a document of the best order only, whose rating was taken back
    response = render(request, "compare/_rated.html", {**_context(rated), "opened": opened, "result": result})
    if not rated.is_pending:
        response["HX-Trigger-After-Settle"] = "comparison-ready"
    return response


def queries_csv(request: HtmxRequest, case: Case) -> HttpResponse | StreamingHttpResponse:
    """Exports the list as it is filtered and sorted, all pages of it."""
    page = IdealPage(case, request.user, request.GET)
    if page.figures is None:
        return _not_ready(request, page)
    lines = ideal_csv.export_lines(page.figures, page.table().selected)
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = _file_name(page, "csv")
    return response


def figures_json(request: HtmxRequest, case: Case) -> HttpResponse:
    """Exports the figures as `compare RUN ideal --json` prints them."""
    page = IdealPage(case, request.user, request.GET)
    if page.figures is None:
        return _not_ready(request, page)
    data = ideal_json.build_ideal(page.figures)
    response = JsonResponse(data, json_dumps_params={"ensure_ascii": False, "indent": 2})
    response["Content-Disposition"] = _file_name(page, "json")
    return response


def report_html(request: HtmxRequest, case: Case) -> HttpResponse:
    """Exports the comparison as one HTML file."""
    page = IdealPage(case, request.user, request.GET)
    if page.figures is None:
        return _not_ready(request, page)
    response = HttpResponse(ideal_html.build_report(page.figures, computed_at=timezone.now()))
    response["Content-Disposition"] = _file_name(page, "html")
    return response


def _context(page: IdealPage) -> Mapping[str, object]:
    table = page.table() if page.is_shown else None
    opened = None
    if page.open_id and page.is_shown:
        opened = _open_query(page, get_case_query(page.case, parse_number(page.open_id)))
    return {
        "case": page.case,
        "access": page.access,
        "page": page,
        "summary": page.summary(),
        "several": None,
        "charts": page.charts() if page.is_shown else [],
        "table": table,
        "columns": table.columns() if table else [],
        "tag_rows": page.tag_table() if page.is_shown else [],
        "opened": opened,
    }


def _open_query(page: IdealPage, case_query: CaseQuery) -> QueryComparison:
    return compare_query_with_ideal(
        case_query,
        page.run,
        page.version,
        page.user,
        url=page.url(query=f"open={case_query.pk}"),
        rate_url=page.url("compare_rate", case_query.pk),
    )


def _not_ready(request: HtmxRequest, page: IdealPage) -> HttpResponse:
    page.request_figures()
    return conflict(request, page.url(), " ".join(page.errors) or NOT_READY)


def _file_name(page: IdealPage, ending: str) -> str:
    name = f"{slugify(page.case.name) or 'case'}-run-{page.run.number}-best-order.{ending}"
    return content_disposition_header(as_attachment=True, filename=name) or ""
