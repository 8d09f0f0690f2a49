"""The books that a user can see, and the page of one: what is rated, by whom, and what is left."""

from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import FileResponse, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from relevancy import judgments, tasks
from relevancy.models import Book, Case, JudgingQueue, Role
from relevancy.transfer import exports
from relevancy.views.forms import add_errors
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import download, redirect_with_message

from .forms import COMPARED_FIELDS, BookSettingsForm
from .judging_sentences import order_text
from .rules import RULE_TEXTS

BOOKS_PER_PAGE, QUERIES_PER_PAGE = 25, 50


@require_GET
def book_list(request: HtmxRequest) -> HttpResponse:
    """The books that the user can see."""
    page = Paginator(judgments.find_books(request.user), BOOKS_PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "rater_role": Role.RATER, "max_counted": judgments.COUNTED}
    return render(request, "books/list.html", context)


@require_GET
def book(request: HtmxRequest, book_id: int) -> HttpResponse:
    """One book. The first one to open it who may judge has its documents to judge chosen."""
    found: Book = get_or_403(Book.objects.select_related("owner"), request.user, book_id, needs=Role.VIEWER)
    if vars(found)["role"] >= Role.RATER:
        tasks.enqueue_judging_queue(judgments.judging_queue(found))
    return _render_book(request, found)


@require_POST
def book_settings(request: HtmxRequest, book_id: int) -> HttpResponse:
    """Changes what is judged, and the guidelines."""
    found: Book = get_or_403(Book.objects.select_related("owner"), request.user, book_id, needs=Role.EDITOR)
    form = BookSettingsForm(found, request.user, request.POST)
    if form.is_valid():
        data = form.cleaned_data
        try:
            queue = judgments.set_judging(
                book=found,
                depth=data["depth"],
                ratings_per_pair=data["ratings_per_pair"],
                order=data["order"],
                repeat_share=data["repeat_share"] or 0,
                compared=form.compared if form.is_by_difference else None,
                by=request.user,
            )
            judgments.set_guidelines(book=found, guidelines=data["guidelines"], by=request.user)
        except ValidationError as error:
            add_errors(form, error)
        else:
            tasks.enqueue_judging_queue(queue)
            return redirect_with_message(request, reverse("book", args=[found.pk]), "The settings are saved.")
    return _render_book(request, found, form, status=422)


@require_GET
def book_download(request: HtmxRequest, book_id: int) -> FileResponse:
    """The whole book as one file, which can be imported again here or, with `?for=quepid`, in Quepid."""
    found: Book = get_or_403(Book.objects.all(), request.user, book_id, needs=Role.VIEWER)
    return download(
        exports.OF_BOOK["quepid" if request.GET.get("for") == "quepid" else "book"],
        found,
        name=found.name,
        by=request.user,
    )


def _render_book(
    request: HtmxRequest, found: Book, form: BookSettingsForm | None = None, *, status: int = 200
) -> HttpResponse:
    role: int = vars(found)["role"]
    queue = JudgingQueue.objects.filter(book=found).first() or JudgingQueue(book=found)
    initial = {
        "depth": queue.depth,
        "ratings_per_pair": queue.ratings_per_pair,
        "order": queue.order,
        "repeat_share": queue.repeat_share,
        "guidelines": found.guidelines,
        "run_a": queue.run_a_id,
        "run_b": queue.run_b_id,
        "version": queue.version_id,
    }
    offered = {name: request.GET[name] for name in ("order", *COMPARED_FIELDS) if name in request.GET}
    queries = Paginator(judgments.queries_with_coverage(found), QUERIES_PER_PAGE)
    context = {
        "book": found,
        "queue": queue,
        "can_rate": role >= Role.RATER,
        "form": (form or BookSettingsForm(found, request.user, initial=initial | offered))
        if role >= Role.EDITOR
        else None,
        "page": queries.get_page(request.GET.get("page")),
        "raters": judgments.count_by_rater(found),
        "grades": judgments.count_by_grade(found),
        "levels": judgments.count_pairs_by_level(found),
        "cases": Case.objects.visible_to(request.user).live().filter(book=found),
        "decided": judgments.count_adjudications(found),
        "rule_text": RULE_TEXTS[Book.Rule(found.rule)],
        "order_text": order_text(queue),
        "progress": judgments.judging_progress(queue=queue, by=request.user) if queue.pk else None,
    }
    return render(request, "books/book.html", context, status=status)
