"""Actions on a whole book: rename, delete."""

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from relevancy import books, hooks
from relevancy.models import Book, Case, Role
from relevancy.views.forms import errors_to
from relevancy.views.new_case.forms import NameForm
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_with_message


@require_http_methods(["GET", "POST"])
def book_rename(request: HtmxRequest, book_id: int) -> HttpResponse:
    """Changes the name of a book; its cases keep their own names."""
    book: Book = get_or_403(Book.objects.all(), request.user, book_id, needs=Role.EDITOR)
    form = NameForm(request.POST or None, initial={"name": book.name})
    if form.is_valid():
        with errors_to(form):
            books.change_book(book=book, name=form.cleaned_data["name"], by=request.user)
            return redirect_with_message(request, reverse("book", args=[book.pk]), f"Book renamed to {book.name}.")
    return render(request, "books/rename.html", {"book": book, "form": form}, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
def book_delete(request: HtmxRequest, book_id: int) -> HttpResponse:
    """Says what is lost with a book, and deletes it. One that cases use is kept."""
    book: Book = get_or_403(Book.objects.all(), request.user, book_id, needs=Role.OWNER)
    form = forms.Form(request.POST if request.method == "POST" else None)
    if form.is_valid():
        with errors_to(form):
            books.delete_book(book=book, by=request.user)
            return redirect_with_message(request, reverse("books"), f"“{book}” deleted.")
    cases = list(Case.objects.visible_to(request.user).filter(book=book).order_by("name"))
    context = {
        "book": book,
        "form": form,
        "losses": books.book_losses(book),
        "parts": hooks.parts_of_book,
        "cases": cases,
        "hidden_cases": book.cases.count() - len(cases),
    }
    return render(request, "books/delete.html", context, status=422 if form.errors else 200)
