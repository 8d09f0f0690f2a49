"""Comparing two result lists: one query after the other, without the names of the runs."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from relevancy.models import Book, Role
from relevancy.views.forms import form_error
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest, parse_number
from relevancy.views.responses import conflict

from . import preferences
from .forms import ChoiceForm
from .models import PreferenceTest


def get_test(
    request: HtmxRequest, book_id: int, test_id: int, *, needs: Role = Role.RATER
) -> tuple[Book, PreferenceTest]:
    """Returns a book on which the user has a role, and a test of it. Raises `Http404`, `PermissionDenied`."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=needs)
    return book, get_object_or_404(PreferenceTest.objects.of_book(book), pk=test_id)


@never_cache
@require_GET
def preference(request: HtmxRequest, book_id: int, test_id: int) -> HttpResponse:
    """The two lists that come next. `query` in the address: those of this query, for example to change the answer."""
    book, test = get_test(request, book_id, test_id)
    query_id = parse_number(request.GET.get("query", ""))
    if query_id:
        lists = preferences.read_lists(test=test, query_id=query_id, by=request.user)
        if lists is None:
            raise Http404
    else:
        lists = None if test.closed_at else preferences.next_lists(test=test, by=request.user)
    last = preferences.last_preferred(test=test, by=request.user)
    context = {
        "book": book,
        "test": test,
        "lists": lists,
        "progress": preferences.preference_progress(test=test, by=request.user),
        "last_query_id": last if lists is None or last != lists.query.pk else None,
    }
    return render(request, "preferences/judge.html", context)


@require_POST
def preference_choose(request: HtmxRequest, book_id: int, test_id: int) -> HttpResponse:
    """Stores an answer and shows the next lists."""
    book, test = get_test(request, book_id, test_id)
    url = reverse("preference", args=[book.pk, test.pk])
    form = ChoiceForm(request.POST)
    if not form.is_valid():
        return conflict(request, url, form_error(form))
    data = form.cleaned_data
    try:
        preferences.prefer(test=test, query_id=data["query"], side=data["side"], key=data["key"], by=request.user)
    except ValidationError as error:
        return conflict(request, url, error)
    return HttpResponseRedirect(url)


@require_POST
def preference_undo(request: HtmxRequest, book_id: int, test_id: int) -> HttpResponse:
    """Takes back the user's last answer and shows its lists again."""
    book, test = get_test(request, book_id, test_id)
    url = reverse("preference", args=[book.pk, test.pk])
    query_id = preferences.undo_preference(test=test, by=request.user)
    if query_id is None:
        messages.warning(request, "You have no answer in this test that could be taken back.")
        return HttpResponseRedirect(url)
    messages.info(request, "Your last answer was taken back.")
    has_lists = preferences.read_lists(test=test, query_id=query_id, by=request.user) is not None
    return HttpResponseRedirect(f"{url}?query={query_id}" if has_lists else url)
