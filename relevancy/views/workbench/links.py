"""Links between queries of a case: variants of one query, which count once in tests."""

from collections.abc import Sequence

from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy import books, queries, tasks
from relevancy.models import Case, CaseQuery, Query, QueryLink
from relevancy.views.forms import form_error
from relevancy.views.requests import HtmxRequest, parse_number
from relevancy.views.responses import conflict, redirect_with_message
from relevancy.wording import counted

from .access import CaseAccess, get_case, get_case_query, get_case_with_editable_book
from .forms import LinkForm

MAX_CANDIDATES = 100  # queries that are offered at a time
LINKS_PER_PAGE = 50


@require_GET
def links(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Lists the linked queries of a case. For editors of its book, also queries to link: those that contain `q`, or those that are
    written like the query with the id `query`."""
    case = get_case(request, case_id)
    access = CaseAccess(case, request.user)
    text = request.GET.get("q", "").strip()
    page = Paginator(queries.find_links(case), LINKS_PER_PAGE).get_page(request.GET.get("page"))
    chosen = case.case_queries.present().filter(pk=parse_number(request.GET.get("query", ""))).select_related("query")
    context: dict[str, object] = {
        "case": case,
        "access": access,
        "links": list(queries.links_of(case, page).items()),
        "page": page,
        "q": text,
        "chosen": chosen.first(),
    }
    if access.can_edit_book:
        context["candidates"], context["has_more"] = _candidates(case, text, context["chosen"])
    return render(request, "workbench/links.html", context)


def _candidates(case: Case, text: str, chosen: object) -> tuple[list[CaseQuery], bool]:
    """Returns queries to link, and whether there are more."""
    present = case.case_queries.present().select_related("query").order_by("position", "pk")
    if isinstance(chosen, CaseQuery) and not text:
        others = present.exclude(pk=chosen.pk).values_list("pk", "query__text")
        texts = dict(others[: queries.MAX_COMPARED_TEXTS])
        similar = queries.similar_queries(chosen.query.text, texts, count=MAX_CANDIDATES)
        by_id = present.in_bulk(similar)
        return [chosen, *(by_id[pk] for pk in similar)], False
    candidates = list(present.filter(query__text__icontains=text)[: MAX_CANDIDATES + 1])
    return candidates[:MAX_CANDIDATES], len(candidates) > MAX_CANDIDATES


@require_POST
def add(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Links the queries in `queries`, of the form or, to undo the removal of a link, of the address."""
    case = get_case_with_editable_book(request, case_id)
    form = LinkForm(case, request.POST if "queries" in request.POST else request.GET)
    url = reverse("query_links", args=[case.pk])
    if not form.is_valid():
        return conflict(request, url, form_error(form))
    chosen = [case_query.query for case_query in form.cleaned_data["queries"]]
    for query in chosen:
        query.book = case.book
    try:
        queries.link(queries=chosen, by=request.user)
    except ValidationError as error:
        return conflict(request, url, error)
    return redirect_with_message(request, url, f"{len(chosen)} queries linked: they count once in tests.")


@require_http_methods(["GET", "POST"])
def copy_ratings(request: HtmxRequest, case_id: int, link_id: int) -> HttpResponse:
    """Says how many ratings would be copied from each of the linked queries to the others, and copies those of the one in `query`."""
    case = get_case_with_editable_book(request, case_id)
    query_link = _get_link(case, link_id)
    linked = query_link.queries.order_by("pk")
    if request.method == "POST":
        query: Query = get_object_or_404(linked, pk=parse_number(request.POST.get("query", "")))
        query.book = case.book
        count = books.copy_to_linked(query=query, by=request.user)
        if count:
            tasks.enqueue_book_rescore(case.book_id)
        text = f"{counted(count, 'rating')} copied from “{query}” to the queries that it is linked with."
        return redirect_with_message(request, reverse("query_links", args=[case.pk]), text)
    counts = books.preview_copies(query_link)
    rows = [(query, counts[query.pk]) for query in linked if query.pk in counts]
    return render(request, "workbench/copy_ratings.html", {"case": case, "link": query_link, "rows": rows})


def _get_link(case: Case, link_id: int) -> QueryLink:
    link: QueryLink = get_object_or_404(QueryLink.objects.filter(book=case.book_id), pk=link_id)
    link.book = case.book
    return link


@require_POST
def unlink(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Removes a query from those that it is linked with."""
    case = get_case_with_editable_book(request, case_id)
    case_query = get_case_query(case, case_query_id)
    linked = queries.unlink(query=case_query.query, by=request.user)
    return _unlinked(request, case, linked, f"“{case_query.query}” is not linked any more.")


@require_POST
def remove(request: HtmxRequest, case_id: int, link_id: int) -> HttpResponse:
    """Removes a link between queries."""
    case = get_case_with_editable_book(request, case_id)
    query_link = _get_link(case, link_id)
    linked = queries.unlink_all(query_link=query_link, by=request.user)
    return _unlinked(request, case, linked, f"{len(linked)} queries are not linked any more.")


def _unlinked(request: HtmxRequest, case: Case, linked: Sequence[int], text: str) -> HttpResponse:
    """Redirects to the list after a link was removed."""
    ids = list(case.case_queries.present().filter(query__in=linked).values_list("pk", flat=True))
    undo = ""
    if len(ids) > 1:
        undo = reverse("query_links_add", args=[case.pk], query={"queries": ids})
    return redirect_with_message(request, reverse("query_links", args=[case.pk]), text, undo=undo)
