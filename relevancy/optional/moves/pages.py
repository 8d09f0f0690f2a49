"""Ratings of documents whose ids have changed in the index, moved to the new ids after a preview."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from relevancy import tasks
from relevancy.models import Book, Role
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, redirect_with_message
from relevancy.wording import counted

from .moves import find_orphaned_ratings, move_ratings, preview_move


@require_http_methods(["GET", "HEAD", "POST"])
def book_moves(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The documents found under another id, and what moving the chosen ones does to the scores. A post moves their ratings.

    `id` in the address or the form: the former ids that are chosen; all if the address has none.
    """
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.EDITOR)
    orphans = find_orphaned_ratings(book=book)
    new_ids = {moved.old_id: moved.new_id for moved in orphans.moved}
    if request.method == "POST":
        return _move(request, book, {old: new_ids[old] for old in request.POST.getlist("id") if old in new_ids})
    chosen = [old for old in request.GET.getlist("id") if old in new_ids] or list(new_ids)
    ids = {old: new_ids[old] for old in chosen}
    context = {
        "book": book,
        "orphans": orphans,
        "chosen": ids,
        "case_scores": preview_move(book=book, ids=ids, by=request.user) if ids else [],
    }
    return render(request, "moves/moves.html", context)


def _move(request: HtmxRequest, book: Book, ids: dict[str, str]) -> HttpResponse:
    if not ids:
        return conflict(
            request,
            reverse("book_moves", args=[book.pk]),
            "None of these documents is found under another id any more. Look at the list again.",
        )
    count = move_ratings(book=book, ids=ids, by=request.user)
    tasks.enqueue_book_rescore(book.pk)
    moved = f"{counted(count, 'rating')} of {counted(len(ids), 'document')} {'was' if count == 1 else 'were'} moved."
    text = f"{moved} The scores of the cases are being computed."
    return redirect_with_message(request, reverse("book", args=[book.pk]), text)
