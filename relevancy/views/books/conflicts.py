"""The documents that raters of a book disagree on, and the decisions of adjudicators about them."""

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import FileResponse, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from relevancy import judging, ratings, tasks
from relevancy.formats import exports
from relevancy.models import Book, Role
from relevancy.views.forms import form_error
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, download, redirect_with_message, refresh_after_conflict, toast

from .forms import ConflictFilterForm, DecisionForm

CONFLICTS_PER_PAGE = 20


@require_GET
def book_conflicts(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The list, with the largest differences first."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.VIEWER)
    form = ConflictFilterForm(request.GET if "difference" in request.GET else {"difference": 1, "state": judging.OPEN})
    wanted: dict[str, Any] = form.cleaned_data if form.is_valid() else {"difference": 1, "state": judging.OPEN}
    difference, state = wanted["difference"], wanted["state"]
    rows = judging.find_conflicts(book=book, difference=difference, state="" if state == "all" else state)
    page = Paginator(rows, CONFLICTS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "book": book,
        "form": form,
        "page": page,
        "rows": build_conflict_rows(book, judging.read_conflicts(book, page.object_list), request),
        "decided": judging.count_adjudications(book),
        "can_decide": book.is_editable,
    }
    return render(request, "books/conflicts.html", context)


@require_POST
def book_adjudicate(request: HtmxRequest, book_id: int, query_id: int) -> HttpResponse:
    """Decides which grade a document has; takes the decision back if `value` is empty."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.EDITOR)
    query = get_object_or_404(book.queries.select_related("book"), pk=query_id)
    url = _list_url(request, book)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return conflict(request, url, form_error(form))
    value, title = form.cleaned_data["value"], form.cleaned_data["doc_id"]
    try:
        doc_id = ratings.clean_doc_id(title)
        if value is None:
            has_changed = judging.withdraw_adjudication(query=query, doc_id=doc_id, by=request.user)
            text = f"The decision about {doc_id[:60]} was taken back."
        else:
            has_changed = judging.adjudicate(
                query=query, doc_id=doc_id, value=value, by=request.user, expected_scale=form.cleaned_data["scale"]
            )
            text = f"Decided: {doc_id[:60]} has grade {value:g}."
    except ratings.ScaleChanged as reason:
        return refresh_after_conflict(request, url, reason)
    except ratings.InvalidRating as reason:
        return conflict(request, url, reason)
    if has_changed:
        tasks.enqueue_book_rescore(book.pk)
    if not request.htmx:
        return redirect_with_message(request, url, text)
    decided = judging.read_conflict(query, doc_id)
    row = build_conflict_rows(book, [decided], request)[0]
    context = {"book": book, "row": row, "can_decide": True}
    return toast(render(request, "books/_conflict.html", context), text)


@require_GET
def book_ratings_csv(request: HtmxRequest, book_id: int) -> FileResponse:
    """All ratings of a book as CSV, each with the grade of its document and who decided about it."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.VIEWER)
    return download(exports.files_of(Book)["ratings"], book, name=book.name, by=request.user)


def _list_url(request: HtmxRequest, book: Book) -> str:
    """Returns the list that the decision was made on."""
    url = reverse("book_conflicts", args=[book.pk])
    referer = request.headers.get("Referer", "")
    if url in referer and url_has_allowed_host_and_scheme(referer, {request.get_host()}):
        return referer
    return url


def build_conflict_rows(
    book: Book, conflicts: Sequence[judging.Conflict], request: HtmxRequest
) -> list[dict[str, Any]]:
    """Returns the rows of documents. title: as a run stored it. element_id: the same for the same document, whatever its id contains.
    url: where it is decided about."""
    titles = judging.read_titles(conflicts, by=request.user)
    return [
        {
            "conflict": conflict,
            "title": titles.get((conflict.query.pk, conflict.doc_id), conflict.doc_id),
            "element_id": judging.conflict_key(conflict),
            "url": reverse("book_adjudicate", args=[book.pk, conflict.query.pk]),
        }
        for conflict in conflicts
    ]
