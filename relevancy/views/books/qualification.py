"""The qualification set of a book, and how far each rater has come."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from relevancy import judgments, tasks
from relevancy.models import Book, Qualification, QualificationPair, Role
from relevancy.views.forms import add_errors, form_error
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest, parse_number, submitted
from relevancy.views.responses import conflict, redirect_with_message
from relevancy.wording import counted

from .forms import DrawForm, KeyForm, QualificationForm


class Action(StrEnum):
    """What the buttons of the page do."""

    SETTINGS = "settings"
    DRAW = "draw"
    KEY = "key"
    REMOVE = "remove"
    ACCEPT = "accept"
    AGAIN = "again"


@dataclass(frozen=True)
class RaterRow:
    """A rater with words for how far the qualification is."""

    rater_qualification: judgments.RaterQualification

    @property
    def state_text(self) -> str:
        qualification, state = self.rater_qualification.qualification, Qualification.State
        share = 100 * (self.rater_qualification.share or 0)
        match qualification.state:
            case state.JUDGING:
                text = f"{self.rater_qualification.answered} of {self.rater_qualification.total} judged"
            case state.ACCEPTED:
                text = f"accepted by {qualification.decided_by}"
            case _:
                name = "passed" if qualification.state == state.PASSED else "not passed"
                text = f"{name}: {qualification.agreed} of {qualification.answered} agree ({share:.0f} %)"
        return text + (f", round {qualification.round}" if qualification.round > 1 else "")


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
            else _change_pair(request, book, action)
        )
    except ValidationError as error:
        return conflict(request, _url(book), error)
    return redirect_with_message(request, _url(book), text)


def _change_settings(request: HtmxRequest, book: Book) -> HttpResponse:
    form = QualificationForm(request.POST)
    if form.is_valid():
        try:
            judgments.set_qualification(book=book, by=request.user, **form.cleaned_data)
        except ValidationError as error:
            add_errors(form, error)
        else:
            tasks.enqueue_book_rescore(book.pk)  # answers may have become ratings
            return redirect_with_message(request, _url(book), "The settings are saved.")
    return _render(request, book, form=form, status=422)


def _draw(request: HtmxRequest, book: Book) -> HttpResponse:
    form = DrawForm(request.POST)
    if form.is_valid():
        try:
            seed = random.SystemRandom().randrange(2**31)
            added = judgments.draw_qualification_pairs(
                book=book, count=form.cleaned_data["count"], seed=seed, by=request.user
            )
        except ValidationError as error:
            add_errors(form, error)
        else:
            text = (
                f"{counted(added, 'document was', 'documents were')} added. Check their keys."
                if added
                else "No other document to judge is rated."
            )
            return redirect_with_message(request, _url(book), text)
    return _render(request, book, draw_form=form, status=422)


def _change_pair(request: HtmxRequest, book: Book, action: Action) -> str:
    pair = get_object_or_404(
        judgments.active_pairs(book).select_related("query__book"), pk=parse_number(request.POST.get("pair", ""))
    )
    if action == Action.REMOVE:
        judgments.remove_qualification_pair(pair=pair, by=request.user)
        return "The document was removed from the set."
    form = KeyForm(request.POST)
    if not form.is_valid():
        raise form_error(form)
    judgments.set_key(pair=pair, value=form.cleaned_data["value"], by=request.user)
    return "The key was changed."


def _change_rater(request: HtmxRequest, book: Book, action: Action) -> str:
    rater_id = parse_number(request.POST.get("rater", ""))
    rater = get_object_or_404(book.qualifications.select_related("rater"), rater=rater_id).rater
    if action == Action.AGAIN:
        judgments.let_try_again(book=book, rater=rater)
        return f"{rater} can judge the set again."
    count = judgments.accept_rater(book=book, rater=rater, by=request.user)
    tasks.enqueue_book_rescore(book.pk)
    return f"The ratings of {rater} count. {count:,} answers became ratings."


def _render(
    request: HtmxRequest,
    book: Book,
    *,
    form: QualificationForm | None = None,
    draw_form: DrawForm | None = None,
    status: int = 200,
) -> HttpResponse:
    initial = {"share": book.qualification_share, "distance": book.qualification_distance}
    pairs: Sequence[QualificationPair] = list(
        judgments.active_pairs(book).select_related("query").order_by("value", "pk")
    )
    context = {
        "book": book,
        "form": form or QualificationForm(initial=initial),
        "draw_form": draw_form or DrawForm(),
        "pairs": pairs,
        "min_pairs": judgments.MIN_PAIRS,
        "raters": [RaterRow(qualification) for qualification in judgments.rater_qualifications(book)],
    }
    return render(request, "books/qualification.html", context, status=status)


def _url(book: Book) -> str:
    return reverse("book_qualification", args=[book.pk])
