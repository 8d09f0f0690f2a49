"""The clicks of a book: a log is imported, its estimates are looked at, and accepted as ratings."""

from enum import StrEnum

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from relevancy import tasks
from relevancy.formats.errors import BadFile
from relevancy.models import Book, Role
from relevancy.views.forms import add_errors, errors_to
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest, submitted
from relevancy.views.responses import redirect_with_message
from relevancy.wording import counted

from . import click_logs, counting
from .forms import MIN_EVIDENCE, ClickLogForm, ThresholdsForm
from .models import ClickLog


class CountAction(StrEnum):
    """Whether the estimates become ratings, or stop being ones; or what would happen if they did."""

    PREVIEW = "preview"
    COUNT = "count"
    WITHDRAW = "withdraw"


@require_GET
def book_clicks(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The last log with its estimates, the grades that they would become, and a form for a log."""
    book = _get_book(request, book_id)
    return _render(request, book, click_logs.newest_log(book))


@require_POST
def clicks_import(request: HtmxRequest, book_id: int) -> HttpResponse:
    """Estimates relevance from a log. The estimates replace those of the last log and stand apart from ratings."""
    book = _get_book(request, book_id, needs=Role.EDITOR)
    form = ClickLogForm(request.user, request.POST, request.FILES)
    if form.is_valid():
        data = form.cleaned_data
        try:
            with form.read(actions=data["actions"]) as log:
                stored = click_logs.import_clicks(
                    book=book,
                    log=log,
                    method=data["method"],
                    strength=data["strength"],
                    name=form.source_name,
                    by=request.user,
                )
        except BadFile as error:
            form.add_error("endpoint" if data.get("endpoint") else "file", str(error))
        else:
            text = (
                f"{counted(stored.estimates.count(), 'document of this book has', 'documents of this book have')} an estimate. "
                "None of them is a rating yet."
            )
            return redirect_with_message(request, reverse("book_clicks", args=[book.pk]), text)
    return _render(request, book, click_logs.newest_log(book), form, status=422)


@require_POST
def clicks_count(request: HtmxRequest, book_id: int) -> HttpResponse:
    """Makes ratings of the estimates (`do=count`), says what that would lead to (`do=preview`), or removes them (`do=withdraw`)."""
    book = _get_book(request, book_id, needs=Role.EDITOR)
    log = click_logs.newest_log(book)
    if log is None:
        get_object_or_404(ClickLog.objects.none())
    assert log is not None
    url = reverse("book_clicks", args=[book.pk])
    action, form = submitted(request, CountAction), ThresholdsForm(request.POST)
    if action == CountAction.WITHDRAW:
        changed = counting.withdraw(log=log, by=request.user)
        text = f"{counted(changed, 'rating by clicks was', 'ratings by clicks were')} removed. The estimates are kept."
    else:
        if action == CountAction.PREVIEW or not form.is_valid():
            return _render(request, book, log, thresholds_form=form)
        try:
            result = counting.let_count(log=log, by=request.user, **form.cleaned_data)
        except ValidationError as error:
            add_errors(form, error)
            return _render(request, book, log, thresholds_form=form)
        changed = result.changed
        text = (
            f"{counted(changed, 'rating by clicks is', 'ratings by clicks are')} new, changed or removed. "
            f"{counted(result.left_out, 'document was', 'documents were')} left out, which others have rated."
        )
    if changed:
        tasks.enqueue_book_rescore(book.pk)
    return redirect_with_message(request, url, text)


def _get_book(request: HtmxRequest, book_id: int, *, needs: Role = Role.VIEWER) -> Book:
    return get_or_403(Book.objects.select_related("owner"), request.user, book_id, needs=needs)


def _render(
    request: HtmxRequest,
    book: Book,
    log: ClickLog | None,
    form: ClickLogForm | None = None,
    thresholds_form: ThresholdsForm | None = None,
    status: int = 200,
) -> HttpResponse:
    context: dict[str, object] = {
        "book": book,
        "log": log,
        "form": form or ClickLogForm(request.user),
        "can_edit": book.is_editable,
    }
    if log is not None:
        least = MIN_EVIDENCE if log.min_evidence is None else log.min_evidence
        if thresholds_form is None:
            thresholds, context["not_proposed"] = counting.propose_thresholds(log, least)
            values = ThresholdsForm.initial_values(thresholds, least)
            thresholds_form = ThresholdsForm(values) if thresholds else ThresholdsForm(initial=values)
        if thresholds_form.is_valid():
            with errors_to(thresholds_form):
                context["preview"] = counting.preview(log=log, **thresholds_form.cleaned_data)
        context |= {
            "thresholds_form": thresholds_form,
            "counting": click_logs.count_ratings(log),
            "positions": [(position, None if share is None else 100 * share) for position, share in log.examination],
            "estimates": click_logs.read_estimates(log),
        }
        status = 422 if thresholds_form.errors and request.method == "POST" else status
        if request.htmx and form is None:
            return render(request, "clicks/_grades.html", context, status=status)
    return render(request, "clicks/clicks.html", context, status=status)
