"""Another rule or scale for a book, with what it does to every case score before it is applied."""

from enum import StrEnum

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from relevancy import books, tasks
from relevancy.models import Book, Role
from relevancy.views.forms import add_errors
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest, submitted
from relevancy.views.responses import redirect_with_message

from .forms import BookChangeForm

QUEPID_WARNING = (
    "One more rating can change a grade by the whole scale: of two ratings the mean counts, of three the lowest. "
    "Choose another rule unless the scores have to be those of Quepid."
)


class Action(StrEnum):
    """What the buttons below the preview do."""

    APPLY = "apply"
    COPY = "copy"


@require_http_methods(["GET", "HEAD", "POST"])
def book_change(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The form; with parameters, the preview of what they would do. A post applies them, or creates a copy of the book with them."""
    book: Book = get_or_403(Book.objects.select_related("owner"), request.user, book_id, needs=Role.EDITOR)
    if request.method == "POST":
        return _store(request, book)
    form = BookChangeForm(book, request.GET if "scale" in request.GET else None)
    return _render(request, book, form)


def _store(request: HtmxRequest, book: Book) -> HttpResponse:
    action = submitted(request, Action)
    form = BookChangeForm(book, request.POST)
    if not form.is_valid():
        return _render(request, book, form, status=422)
    data = form.cleaned_data
    changes = {
        "settings": form.settings,
        "new_grades": form.new_grades,
        "can_merge_grades": data["can_merge_grades"],
        "by": request.user,
    }
    try:
        if action == Action.COPY:
            copy = books.copy_book(book=book, name=data["name"], **changes)
            return redirect_with_message(request, reverse("book", args=[copy.pk]), "The copy of the book was created.")
        books.change_settings(book=book, expected=form.expected, **changes)
    except ValidationError as error:
        book.refresh_settings()
        add_errors(form, error)
        return _render(request, book, form, status=422)
    tasks.enqueue_book_rescore(book.pk)
    text = "Rule and scale are changed. The scores of the cases are being computed."
    return redirect_with_message(request, reverse("book", args=[book.pk]), text)


def _render(request: HtmxRequest, book: Book, form: BookChangeForm, *, status: int = 200) -> HttpResponse:
    preview = None
    if form.is_bound and not form.errors.keys() - {"can_merge_grades", "name", "__all__"}:
        try:
            preview = books.preview_settings(
                book=book, settings=form.settings, new_grades=form.new_grades, by=request.user
            )
        except ValidationError as error:
            add_errors(form, error)
            status = 422
    context = {
        "book": book,
        "form": form,
        "preview": preview,
        "warning": QUEPID_WARNING if form["rule"].value() == Book.Rule.QUEPID else "",
        "has_ratings": bool(books.rated_values(book)),
    }
    return render(request, "books/change.html", context, status=status)
