"""The page for editors: the qualification set of a book, and how far each rater has come."""

import random
from enum import StrEnum

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from relevancy import tasks
from relevancy.models import Book, Role
from relevancy.views.forms import errors_to, form_error
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest, parse_number, submitted
from relevancy.views.responses import conflict, redirect_with_message
from relevancy.wording import counted

from . import qualification
from .forms import DrawForm, KeyForm, QualificationForm
from .models import Qualification


class Action(StrEnum):
    """What the buttons of the page do."""

    SETTINGS = "settings"
    DRAW = "draw"
    KEYS = "keys"
    ACCEPT = "accept"
    AGAIN = "again"


@require_http_methods(["GET", "HEAD", "POST"])
def book_qualification(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The page for editors of the book; a post changes the settings, the set, or the state of a rater (`do`)."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.EDITOR)
    if request.method != "POST":
        return _render(request, book)
    action = submitted(request, Action)
    if action == Action.SETTINGS:
        return _change_settings(request, book)
    if action == Action.DRAW:
        return _draw(request, book)
    try:
        text = (
            _change_rater(request, book, action)
            if action in (Action.ACCEPT, Action.AGAIN)
            else _change_keys(request, book)
        )
    except ValidationError as error:
        return conflict(request, _url(book), error)
    return redirect_with_message(request, _url(book), text)


def _change_settings(request: HtmxRequest, book: Book) -> HttpResponse:
    form = QualificationForm(request.POST, instance=qualification.find_rule(book))
    if form.is_valid():
        with errors_to(form):
            qualification.set_rule(book=book, by=request.user, **form.cleaned_data)
            tasks.enqueue_book_rescore(book.pk)  # answers may have become ratings
            return redirect_with_message(request, _url(book), "The settings are saved.")
    return _render(request, book, form=form, status=422)


def _draw(request: HtmxRequest, book: Book) -> HttpResponse:
    form = DrawForm(request.POST)
    if form.is_valid():
        with errors_to(form):
            seed = random.SystemRandom().randrange(2**31)
            added = qualification.draw_pairs(book=book, count=form.cleaned_data["count"], seed=seed, by=request.user)
            text = (
                f"{counted(added, 'document was', 'documents were')} added. Check their keys."
                if added
                else "No other document to judge is rated."
            )
            return redirect_with_message(request, _url(book), text)
    return _render(request, book, draw_form=form, status=422)


def _change_keys(request: HtmxRequest, book: Book) -> str:
    """Changes the keys of all documents of the set that the form has, and takes out those that are marked."""
    changed = removed = 0
    with transaction.atomic():
        for pair in qualification.active_pairs(book).select_related("query__book"):
            if f"remove-{pair.pk}" in request.POST:
                qualification.remove_pair(pair=pair, by=request.user)
                removed += 1
            elif (text := request.POST.get(f"key-{pair.pk}")) is not None:
                form = KeyForm({"value": text})
                if not form.is_valid():
                    raise form_error(form)
                changed += qualification.set_key(pair=pair, value=form.cleaned_data["value"], by=request.user)
    parts = [f"{counted(changed, 'key')} changed"] if changed or not removed else []
    return ", ".join([*parts, *([f"{counted(removed, 'document')} removed"] if removed else [])]) + "."


def _change_rater(request: HtmxRequest, book: Book, action: Action) -> str:
    rater_id = parse_number(request.POST.get("rater", ""))
    rater = get_object_or_404(Qualification.objects.select_related("rater"), book=book, rater=rater_id).rater
    if action == Action.AGAIN:
        qualification.let_try_again(book=book, rater=rater)
        return f"{rater} can judge the set again."
    count = qualification.accept_rater(book=book, rater=rater, by=request.user)
    tasks.enqueue_book_rescore(book.pk)
    return f"The ratings of {rater} count. {counted(count, 'answer became a rating', 'answers became ratings')}."


def _render(
    request: HtmxRequest,
    book: Book,
    *,
    form: QualificationForm | None = None,
    draw_form: DrawForm | None = None,
    status: int = 200,
) -> HttpResponse:
    rule = qualification.find_rule(book)
    context = {
        "book": book,
        "rule": rule,
        "form": form or QualificationForm(instance=rule),
        "draw_form": draw_form or DrawForm(),
        "rows": qualification.read_set(book=book, by=request.user),
        "min_pairs": qualification.MIN_PAIRS,
        "raters": qualification.list_raters(book),
    }
    return render(request, "qualification/settings.html", context, status=status)


def _url(book: Book) -> str:
    return reverse("book_qualification", args=[book.pk])
