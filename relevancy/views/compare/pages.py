"""The comparison page: its verdict, its queries, the query that is open."""

from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from relevancy.views.requests import HtmxRequest, page_parameters, parse_number
from relevancy.views.workbench.access import get_case, get_case_query

from .comparison_page import ComparisonPage
from .query_filter import ComparedFilter

PARTS = {
    "compared-queries": "compare/_queries.html",
    "compared-query": "compare/_query.html",
    "compared-tabs": "compare/_tabs.html",
}


@require_GET
def show(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Shows the page; if htmx asks for the list, the opened query or the tabs, only that."""
    case = get_case(request, case_id)
    if "ideal" in request.GET.getlist("run"):  # the best order had a page of its own
        parameters = QueryDict(mutable=True)
        parameters.update({"best": "1", "sort": "-gain"} | request.GET.dict())
        parameters.setlist("run", [number for number in request.GET.getlist("run") if number != "ideal"])
        return redirect(reverse("compare", args=[case_id], query=parameters))
    page = ComparisonPage(case, request.user, request.GET)
    page.request_figures(again=not request.htmx.target)
    opened = None
    if page.open_id and page.stored is not None:
        opened = page.open_query(get_case_query(case, parse_number(page.open_id)))
    part = PARTS.get(request.htmx.target or "")
    context = {"case": case, "access": page.access, "page": page, "opened": opened}
    return render(request, part or "compare/compare.html", context)


@require_GET
def state(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Returns the verdict; once the figures have been computed, its event lets the list follow."""
    query_filter = ComparedFilter.from_parameters(page_parameters(request))
    page = ComparisonPage(get_case(request, case_id), request.user, request.GET, query_filter=query_filter)
    page.request_figures()
    response = render(request, "compare/_verdict.html", {"page": page})
    if page.large:
        response["HX-Refresh"] = "true"  # without a list of queries, the page is another one
    if not page.is_pending:
        response["HX-Trigger-After-Settle"] = "comparison-ready"
    return response
