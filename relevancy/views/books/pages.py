"""The books that a user can see, and the page of one: what is rated, by whom, and what is left."""

from django.core.paginator import Paginator
from django.http import FileResponse, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from relevancy import books, judging, tasks
from relevancy.formats import exports
from relevancy.models import Book, Case, JudgingQueue, RatingImport, Role
from relevancy.views.forms import errors_to
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import download, redirect_with_message

from .forms import COMPARED_FIELDS, JudgingForm

BOOKS_PER_PAGE, QUERIES_PER_PAGE = 25, 50


@require_GET
def book_list(request: HtmxRequest) -> HttpResponse:
    """The books that the user can see."""
    page = Paginator(books.find_books(request.user), BOOKS_PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "max_counted": judging.COUNTED}
    return render(request, "books/list.html", context)


@require_GET
def book(request: HtmxRequest, book_id: int) -> HttpResponse:
    """One book. The first one to open it who may judge has its documents to judge chosen."""
    book: Book = get_or_403(Book.objects.select_related("owner"), request.user, book_id, needs=Role.VIEWER)
    if book.is_rateable:
        tasks.enqueue_judging_queue(judging.judging_queue(book))
    return _render_book(request, book)


@require_POST
def book_settings(request: HtmxRequest, book_id: int) -> HttpResponse:
    """Changes what is judged, and the guidelines."""
    book: Book = get_or_403(Book.objects.select_related("owner"), request.user, book_id, needs=Role.EDITOR)
    form = JudgingForm(JudgingQueue.objects.of_book(book), request.user, request.POST)
    if form.is_valid():
        guidelines = form.cleaned_data.pop("guidelines")
        with errors_to(form):
            queue = judging.set_judging(book=book, by=request.user, **form.cleaned_data)
            books.change_book(book=book, guidelines=guidelines, by=request.user)
            tasks.enqueue_judging_queue(queue)
            return redirect_with_message(request, reverse("book", args=[book.pk]), "The settings are saved.")
    return _render_book(request, book, form, status=422)


@require_GET
def book_rating_import(request: HtmxRequest, book_id: int) -> HttpResponse:
    """How far the last import of ratings by a worker is, as a part of the page."""
    get_or_403(Book.objects, request.user, book_id, needs=Role.VIEWER)
    return render(request, "books/_rating_import.html", {"rating_import": RatingImport.objects.last_of(book_id)})


@require_GET
def book_download(request: HtmxRequest, book_id: int) -> FileResponse:
    """The whole book as one file, which can be imported again here or, with `?for=NAME`, elsewhere."""
    book: Book = get_or_403(Book.objects.all(), request.user, book_id, needs=Role.VIEWER)
    files = exports.files_of(Book)
    return download(files.get(request.GET.get("for", ""), files["book"]), book, name=book.name, by=request.user)


def _render_book(
    request: HtmxRequest, book: Book, form: JudgingForm | None = None, *, status: int = 200
) -> HttpResponse:
    queue = JudgingQueue.objects.of_book(book)
    if form is None and book.is_editable:
        offered = {name: request.GET[name] for name in ("order", *COMPARED_FIELDS) if name in request.GET}
        form = JudgingForm(queue, request.user, offered=offered)
    queries = Paginator(books.queries_with_coverage(book), QUERIES_PER_PAGE)
    context = {
        "book": book,
        "queue": queue,
        "form": form,
        "page": queries.get_page(request.GET.get("page")),
        "raters": books.count_by_rater(book),
        "grades": books.count_by_grade(book),
        "levels": books.count_pairs_by_level(book),
        "cases": Case.objects.visible_to(request.user).live().filter(book=book),
        "decided": judging.count_adjudications(book),
        "rating_import": RatingImport.objects.last_of(book.pk),
        "order_text": _order_text(queue),
        "progress": judging.judging_progress(queue=queue, by=request.user) if queue.pk else None,
    }
    return render(request, "books/book.html", context, status=status)


def _order_text(queue: JudgingQueue) -> str:
    """Returns what the order by the comparison of two runs does at present; empty for other orders."""
    if queue.order != JudgingQueue.Order.DIFFERENCE:
        return ""
    if not queue.is_by_difference:
        return (
            "One of the runs, or the scorer, has been deleted. Until others are chosen, documents come from the newest runs, best "
            "ranks first."
        )
    if queue.built_at is None:
        return "The documents of the two runs are being put in order."
    left = judging.count_changing(queue)
    if not left:
        return "No document that is left to judge can change the comparison of the two runs."
    return (
        f"{left:,} of the documents that are left to judge can change the comparison of the two runs. Those that can change it most "
        "come first. The order is computed again after ratings, in the background."
    )
