"""The comparison page: its verdict, its queries, the query that is open."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy.models import CaseQuery
from relevancy.views.requests import HtmxRequest, page_parameters, parse_number
from relevancy.views.workbench.access import get_case, get_case_query

from . import ideal
from .comparison_page import ComparisonPage
from .ideal_page import names_ideal
from .query_comparison import QueryComparison, compare_query

MAX_INLINE_QUERIES = 500  # building the charts of more queries would delay the page


@require_GET
def show(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Shows the page; if htmx asks for the list, the charts or the opened query, only that."""
    case = get_case(request, case_id)
    if names_ideal(request.GET):
        return ideal.show(request, case)
    page = ComparisonPage(case, request.user, request.GET)
    target = request.htmx.target
    page.request_figures(again=not target)
    if target == "compared-queries":
        return render(request, "compare/_queries.html", list_context(page))
    if target == "compared-charts":
        return render(request, "compare/_charts.html", chart_context(page))
    if target == "compared-tags":
        return render(request, "compare/_tags.html", tag_context(page))
    if target == "compared-ratings":
        return render(request, "compare/_rating_list.html", rating_context(page))
    if target == "compared-query":
        return render(request, "compare/_query.html", query_context(page))
    charts = chart_context(page, is_inline=len(page.rows) <= MAX_INLINE_QUERIES)
    context = {
        **summary_context(page),
        **charts,
        **tag_context(page),
        **rating_context(page),
        **list_context(page),
        **query_context(page),
    }
    return render(request, "compare/compare.html", context)


@require_GET
def state(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Returns the verdict; once the figures have been computed, its event lets the list follow."""
    case = get_case(request, case_id)
    if names_ideal(request.GET):
        return ideal.state(request, case)
    page = ComparisonPage(case, request.user, request.GET)
    page.filter = type(page.filter).from_parameters(page_parameters(request))
    page.request_figures()
    response = render(request, "compare/_verdict.html", summary_context(page))
    if not page.is_pending:
        response["HX-Trigger-After-Settle"] = "comparison-ready"
    return response


def summary_context(page: ComparisonPage) -> dict[str, object]:
    """Returns what the head of the page needs."""
    return {
        "case": page.case,
        "access": page.access,
        "page": page,
        "summary": page.summary(),
        "several": page.several(),
    }


def list_context(page: ComparisonPage) -> dict[str, object]:
    """Returns what the list of queries needs."""
    table = page.table()
    columns = table.columns(page.pair) if page.stored else []
    return {"case": page.case, "access": page.access, "page": page, "table": table, "columns": columns}


def tag_context(page: ComparisonPage) -> dict[str, object]:
    """Returns what the table of tags needs."""
    return {"page": page, "tag_rows": page.tag_table()}


def rating_context(page: ComparisonPage) -> dict[str, object]:
    """Returns what the list of documents to rate needs."""
    return {"access": page.access, "page": page, "rating_list": page.rating_list()}


def chart_context(page: ComparisonPage, *, is_inline: bool = True) -> dict[str, object]:
    """Returns what the charts need. is_inline: whether they are part of the page; otherwise they are loaded after it."""
    return {"page": page, "charts": page.charts() if is_inline else [], "is_deferred": not is_inline}


def query_context(page: ComparisonPage) -> dict[str, object]:
    """Returns what the opened query needs: the one that the address names."""
    opened = None
    if page.open_id and page.stored is not None:
        opened = open_query(page, get_case_query(page.case, parse_number(page.open_id)))
    return {"case": page.case, "access": page.access, "page": page, "opened": opened}


def open_query(page: ComparisonPage, case_query: CaseQuery) -> QueryComparison:
    """Returns a query in both runs."""
    return compare_query(
        case_query,
        page.pair,
        page.version,
        page.user,
        url=page.url(query=f"open={case_query.pk}"),
        rate_url=page.url("compare_rate", case_query.pk),
    )
