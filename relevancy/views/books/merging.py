"""Merges another book into this one, after a preview."""

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from relevancy import books, judging, tasks
from relevancy.models import Book, Role
from relevancy.views.forms import add_errors
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_with_message

from .forms import MergeForm


@require_http_methods(["GET", "HEAD", "POST"])
def book_merge(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The form; with another book in the address, the preview. A post merges the books."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.OWNER)
    if request.method == "POST":
        return _merge(request, book)
    form = MergeForm(book, request.user, request.GET if "other" in request.GET else None)
    preview = None
    if form.is_valid():
        try:
            preview = books.preview_merge(book=book, other=form.cleaned_data["other"], by=request.user)
        except ValidationError as error:
            add_errors(form, error)
    return _render(request, book, form, preview)


def _merge(request: HtmxRequest, book: Book) -> HttpResponse:
    form = MergeForm(book, request.user, request.POST)
    if form.is_valid():
        other = form.cleaned_data["other"]
        try:
            result = books.merge_books(book=book, other=other, by=request.user)
        except ValidationError as error:
            add_errors(form, error)
        else:
            tasks.enqueue_book_rescore(book.pk)
            tasks.enqueue_judging_queue(judging.judging_queue(book))
            text = f"“{other}” was merged into this book, with {result.ratings:,} ratings. The scores of the cases are being computed."
            return redirect_with_message(request, reverse("book", args=[book.pk]), text)
    return _render(request, book, form, None, status=422)


def _render(
    request: HtmxRequest, book: Book, form: MergeForm, preview: books.MergePreview | None, *, status: int = 200
) -> HttpResponse:
    context = {"book": book, "form": form, "preview": preview, "other": form.cleaned_data["other"] if preview else None}
    return render(request, "books/merge.html", context, status=status)
