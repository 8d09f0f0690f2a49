"""Merges another book into this one, after a preview."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from relevancy import books, judging, tasks
from relevancy.models import Book, Role
from relevancy.views.forms import errors_to
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_with_message
from relevancy.wording import counted

from .forms import MergeForm


@require_http_methods(["GET", "HEAD", "POST"])
def book_merge(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The form; with another book in the address, the preview. A post merges the books."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.OWNER)
    data = request.POST if request.method == "POST" else request.GET if "other" in request.GET else None
    form = MergeForm(book, request.user, data)
    context: dict[str, object] = {"book": book, "form": form, "preview": None}
    if form.is_valid():
        other = context["other"] = form.cleaned_data["other"]
        with errors_to(form):
            if request.method != "POST":
                context["preview"] = books.preview_merge(book=book, other=other, by=request.user)
                return render(request, "books/merge.html", context)
            result = books.merge_books(book=book, other=other, by=request.user)
            tasks.enqueue_book_rescore(book.pk)
            tasks.enqueue_judging_queue(judging.judging_queue(book))
            text = (
                f"“{other}” was merged into this book, with {counted(result.ratings, 'rating')}. "
                "The scores of the cases are being computed."
            )
            return redirect_with_message(request, reverse("book", args=[book.pk]), text)
    return render(request, "books/merge.html", context, status=422 if request.method == "POST" else 200)
