"""The documents that raters of a book disagree on, and the decisions of adjudicators about them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from relevancy import books, judging, ratings, tasks
from relevancy.models import Book, CaseQuery, Role, User
from relevancy.views.forms import form_error
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, download, redirect_with_message, refresh_after_conflict, toast

from .forms import ConflictFilterForm, DecisionForm

CONFLICTS_PER_PAGE = 20


@dataclass(frozen=True)
class Empty:
    """What stands where there is no conflict; see `_ui/empty.html`."""

    title: str
    advice: str
    ways: Sequence[Mapping[str, str]]


@require_GET
def book_conflicts(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The list, with the largest differences first."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.VIEWER)
    form = ConflictFilterForm(request.GET if "difference" in request.GET else {"difference": 1, "state": judging.OPEN})
    wanted: dict[str, Any] = form.cleaned_data if form.is_valid() else {"difference": 1, "state": judging.OPEN}
    state = "" if wanted["state"] == "all" else wanted["state"]
    rows = conflicts_seen_by(request.user, book, difference=wanted["difference"], state=state)
    is_default = wanted == {"difference": 1, "state": judging.OPEN}
    return _render_list(request, book, rows, partial(_say_why_empty, book, is_default=is_default), form)


@require_GET
def book_decided(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The documents that adjudicators have decided about."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.VIEWER)
    rows = conflicts_seen_by(request.user, book, difference=0, state=judging.DECIDED)
    way = {"label": "Conflicts", "url": reverse("book_conflicts", args=[book.pk])}
    empty = Empty("No decisions yet", "Editors decide about documents that raters disagree on.", [way])
    return _render_list(request, book, rows, lambda: empty)


def conflicts_seen_by(user: User, book: Book, *, difference: float, state: str = judging.OPEN) -> QuerySet[Any]:
    """Returns `judging.find_conflicts`; for a rater who judges blind, of documents that the rater has judged."""
    is_blind = Book.objects.hides_grades(book.pk, user)
    return judging.find_conflicts(book=book, difference=difference, state=state, judged_by=user if is_blind else None)


def _say_why_empty(book: Book, *, is_default: bool) -> Empty:
    """Returns what a list without conflicts says: why, and what to do about it."""
    if not is_default:
        ways = [{"label": "Show all that differ", "url": reverse("book_conflicts", args=[book.pk])}]
        return Empty("No such document", "No document of this book matches the filter.", ways)
    settings = {
        "label": "Ratings per document",
        "hint": "Let two or three raters rate each document",
        "url": reverse("book_judging", args=[book.pk]),
    }
    if not judging.find_conflicts(book=book, difference=0, state="").exists():
        advice = "Raters can only disagree about a document that two of them have rated."
        return Empty("No document has two ratings yet", advice, [settings] if book.is_editable else [])
    decided = {"label": "Decided", "hint": "Documents with a decision", "url": reverse("book_decided", args=[book.pk])}
    return Empty("Nothing to decide", "Raters agree about all documents, or a decision has been made.", [decided])


def _render_list(
    request: HtmxRequest,
    book: Book,
    rows: QuerySet[Any],
    say_why_empty: Callable[[], Empty],
    form: ConflictFilterForm | None = None,
) -> HttpResponse:
    page = Paginator(rows, CONFLICTS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "book": book,
        "form": form,
        "empty": None if page.paginator.count else say_why_empty(),
        "undo_url": reverse("book_undo_decision", args=[book.pk]),
        "page": page,
        "rows": build_conflict_rows(book, judging.read_conflicts(book, page.object_list), request),
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


@require_POST
def book_undo_decision(request: HtmxRequest, book_id: int) -> HttpResponse:
    """Takes back the user's newest decision that stands."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.EDITOR)
    url = _list_url(request, book)
    undone = judging.undo_adjudication(book=book, by=request.user)
    if undone is None:
        return conflict(request, url, "You have no decision in this book that could be taken back.")
    tasks.enqueue_book_rescore(book.pk)
    text = f"The decision about {undone.doc_id[:60]} was taken back."
    if not request.htmx:
        return redirect_with_message(request, url, text)
    row = build_conflict_rows(book, [judging.read_conflict(undone.query, undone.doc_id)], request)[0]
    context = {"book": book, "row": row, "can_decide": True, "is_answer": True}
    return toast(render(request, "books/_conflict.html", context), text)


@require_GET
def book_ratings_csv(request: HtmxRequest, book_id: int) -> HttpResponseBase:
    """All ratings of a book as CSV, each with the grade of its document and who decided about it."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.VIEWER)
    return download(book, "ratings", by=request.user)


def _list_url(request: HtmxRequest, book: Book) -> str:
    """Returns the list that the decision was made on."""
    url = reverse("book_conflicts", args=[book.pk])
    referer = request.headers.get("Referer", "")
    if url in referer and url_has_allowed_host_and_scheme(referer, {request.get_host()}):
        return referer
    return url


def document_url(places: Sequence[CaseQuery], doc_id: str) -> str:
    """Returns where a document is shown with all its fields and ratings: in the first of the cases; empty if there is none."""
    return next((reverse("document", args=[row.case_id, row.pk], query={"doc_id": doc_id}) for row in places), "")


def build_conflict_rows(
    book: Book, conflicts: Sequence[judging.Conflict], request: HtmxRequest
) -> list[dict[str, Any]]:
    """Returns the rows of documents.

    document: as a run stored it, or None; title: its title, or the document id. url: where it is decided about.
    element_id: the same for the same document, whatever its id contains.
    place: the query in a case, or None; document_url: where all fields of the document are shown.
    """
    documents = judging.read_rated_documents(conflicts, by=request.user)
    places = books.cases_of_queries({row.query.pk for row in conflicts}, request.user)
    rows = []
    for row in conflicts:
        document = documents.get((row.query.pk, row.doc_id))
        rows.append(
            {
                "conflict": row,
                "document": document,
                "title": document.title if document else row.doc_id,
                "element_id": judging.conflict_key(row),
                "url": reverse("book_adjudicate", args=[book.pk, row.query.pk]),
                "place": next(iter(places.get(row.query.pk, ())), None),
                "document_url": document_url(places.get(row.query.pk, ()), row.doc_id),
            }
        )
    return rows
