"""The books that a user can see, and of one what is rated, by whom, and what is left: its overview, queries and files."""

from dataclasses import replace
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Exists, F, OuterRef, QuerySet
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from relevancy import books, judging, tasks
from relevancy.formats import exports
from relevancy.models import Book, Case, JudgingPair, JudgingQueue, Query, RatingImport, Role
from relevancy.models.case import LARGE_CASE
from relevancy.views.forms import errors_to
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import download, redirect_with_message
from relevancy.views.tables import Column, build_headings, read_sort

from .forms import NewBookForm, QueryFilterForm
from .overview import build_overview

BOOKS_PER_PAGE, QUERIES_PER_PAGE = 25, 50
SORTS = {"place": "pk", "query": "text", "rated": "rated", "to-judge": "open"}
COUNTED = ("rated", "open")  # for each query: those of a book with more than `LARGE_CASE` are not sorted by them
COLUMNS = (
    Column("Query", "query", css_class=""),
    Column("Rated documents", "rated", starts_high=True),
    Column("To judge", "to-judge", starts_high=True),
    Column("Judged", css_class=""),
    Column("Cases", css_class=""),
)


@require_GET
def book_list(request: HtmxRequest) -> HttpResponse:
    """The books that the user can see."""
    text = request.GET.get("text", "").strip()
    found = books.find_books(request.user)
    page = Paginator(found.filter(name__icontains=text) if text else found, BOOKS_PER_PAGE).get_page(
        request.GET.get("page")
    )
    for row in page:
        if not row.is_chosen:
            tasks.enqueue_judging_queue(judging.judging_queue(row))
    context = {"page": page, "text": text, "max_counted": judging.COUNTED}
    return render(request, "books/list.html", context)


@require_http_methods(["GET", "POST"])
def book_new(request: HtmxRequest) -> HttpResponse:
    """Creates a book with a scale and queries, without a case."""
    form = NewBookForm(request.POST or None)
    if form.is_valid():
        data = form.cleaned_data
        with errors_to(form):
            book = books.create_book(
                name=data["name"], scale=data["grades"], texts=data["pasted"].texts, by=request.user
            )
            text = f"Book “{book}” created with {len(data['pasted'].texts):,} queries."
            return redirect_with_message(request, reverse("book", args=[book.pk]), text)
    return render(request, "books/new.html", {"form": form}, status=422 if form.errors else 200)


@require_GET
def book(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The overview of a book. The first look at it has its documents to judge chosen. The page of a large book asks for the figures
    that all ratings are read for; `now` in the address waits for them."""
    book: Book = get_or_403(Book.objects.select_related("owner"), request.user, book_id, needs=Role.VIEWER)
    if "order" in request.GET and book.is_editable:  # where comparisons led to before
        return redirect(f"{reverse('book_judging', args=[book.pk])}?{request.GET.urlencode()}")
    tasks.enqueue_judging_queue(judging.judging_queue(book))
    queue = JudgingQueue.objects.get(book=book)
    cases = list(Case.objects.visible_to(request.user).live().filter(book=book).order_by("name", "pk"))
    is_coming = not request.htmx and "now" not in request.GET and _is_large(book)
    overview = build_overview(request, book, queue, cases, is_coming=is_coming)
    return render(request, "books/book.html", {"book": book, "queue": queue, **overview})


def _is_large(book: Book) -> bool:
    """Returns whether a book has more than `LARGE_CASE` queries. One SQL statement."""
    return Query.objects.live().filter(book=book)[: LARGE_CASE + 1].count() > LARGE_CASE


@require_GET
def book_queries(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The queries of a book with what is rated and to judge, and the cases that have them."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.VIEWER)
    queue = JudgingQueue.objects.of_book(book)
    tasks.enqueue_judging_queue(judging.judging_queue(book))
    form = QueryFilterForm(request.GET)
    wanted = form.cleaned_data if form.is_valid() else {"text": "", "state": ""}
    live: QuerySet[Any] = Query.objects.live().filter(book=book)
    is_large = _is_large(book)
    found = live.filter(text__icontains=wanted["text"]) if wanted["text"] else live
    pairs = JudgingPair.objects.filter(query=OuterRef("pk"))
    if wanted["state"]:
        found = found.filter(Exists(pairs) if wanted["state"] != form.NO_RUN else ~Exists(pairs))
    if wanted["state"] in (form.TO_JUDGE, form.RATED):
        is_open = Exists(pairs.open())
        found = found.filter(is_open if wanted["state"] == form.TO_JUDGE else ~is_open)
    sorts = {key: name for key, name in SORTS.items() if not (is_large and name in COUNTED)}
    sort = read_sort(request.GET.get("sort", ""), sorts, "place")
    name = sorts[sort.removeprefix("-")]
    if name in COUNTED:
        found = books.add_coverage(found)
    ordered = found.order_by(F(name).desc() if sort.startswith("-") else F(name), "pk")
    page = Paginator(ordered.values_list("pk", flat=True), QUERIES_PER_PAGE).get_page(request.GET.get("page"))
    by_id = books.add_coverage(Query.objects.filter(pk__in=list(page))).in_bulk()
    listed = [by_id[pk] for pk in page if pk in by_id]
    cases = books.cases_of_queries(by_id, request.user)
    context = {
        "book": book,
        "form": form,
        "is_filtered": any(wanted.values()),
        "is_chosen": queue.built_at is not None,
        "page": page,
        "rows": [(query, cases.get(query.pk, ())) for query in listed],
        "headings": build_headings(
            [column if column.key in sorts else replace(column, key="") for column in COLUMNS], sort
        ),
    }
    return render(request, "books/_queries.html" if request.htmx else "books/queries.html", context)


@require_GET
def book_files(request: HtmxRequest, book_id: int) -> HttpResponse:
    """What can be downloaded of a book, and where ratings are imported."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.VIEWER)
    context = {
        "book": book,
        "files": exports.files_of(Book),
        "cases": Case.objects.editable_by(request.user).live().filter(book=book).order_by("name", "pk"),
        "rating_import": RatingImport.objects.last_of(book.pk),
    }
    return render(request, "books/files.html", context)


@require_GET
def book_rating_import(request: HtmxRequest, book_id: int) -> HttpResponse:
    """How far the last import of ratings by a worker is, as a part of the page."""
    get_or_403(Book.objects, request.user, book_id, needs=Role.VIEWER)
    return render(request, "books/_rating_import.html", {"rating_import": RatingImport.objects.last_of(book_id)})


@require_GET
def book_download(request: HtmxRequest, book_id: int) -> HttpResponseBase:
    """The whole book as one file, which can be imported again here or, with `?for=NAME`, elsewhere."""
    book: Book = get_or_403(Book.objects.all(), request.user, book_id, needs=Role.VIEWER)
    name = request.GET.get("for", "")
    return download(book, name if name in exports.files_of(Book) else "book", by=request.user)
