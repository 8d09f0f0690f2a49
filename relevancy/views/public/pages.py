"""Pages that a public link leads to. They are for reading: no account, no form, and nothing is computed or stored for them."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from relevancy import cases
from relevancy.views.requests import HtmxRequest

from .public_case import PublicCase

NOT_VALID = "This link is not complete, has expired or was withdrawn. Ask who sent it for a new one."
REMOVED = "This query is no longer part of the case."


def _render(request: HtmxRequest, template: str, context: dict[str, object], status: int = 200) -> HttpResponse:
    response = render(request, template, context, status=status)
    response["X-Robots-Tag"] = "noindex, nofollow"
    response["Referrer-Policy"] = "no-referrer"  # the address is the key: no other site may learn it
    return response


def _refuse(request: HtmxRequest, text: str) -> HttpResponse:
    return _render(request, "public/not_valid.html", {"text": text}, status=404)


@login_not_required
@never_cache
@require_safe
def case(request: HtmxRequest, link_token: str) -> HttpResponse:
    """The score of a case, its history and its queries."""
    link = cases.public_links.find(link_token)
    if link is None:
        return _refuse(request, NOT_VALID)
    public = PublicCase(link)
    context = {"public": public, "page": public.page(request.GET.get("page")), "link_token": link_token}
    return _render(request, "public/case.html", context)


@login_not_required
@never_cache
@require_safe
def query(request: HtmxRequest, link_token: str, case_query_id: int) -> HttpResponse:
    """The results of a query."""
    link = cases.public_links.find(link_token)
    if link is None:
        return _refuse(request, NOT_VALID)
    public = PublicCase(link)
    case_query = public.case_query(case_query_id)
    if case_query is None:
        return _refuse(request, REMOVED)
    context = {
        "public": public,
        "case_query": case_query,
        "results": public.results(case_query),
        "lowest": public.case.book.grades[0],
        "top": public.case.book.grades[-1],
        "link_token": link_token,
    }
    return _render(request, "public/query.html", context)
