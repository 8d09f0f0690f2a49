"""Judging the qualification set: the page for one document at a time, for a rater whose ratings do not count yet."""

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy import judging, ratings, tasks
from relevancy.models import Book, Role
from relevancy.views.forms import form_error
from relevancy.views.judge.cards import build_cards, build_choices, parse_card
from relevancy.views.judge.forms import REASONS, JudgeForm
from relevancy.views.judge.pages import PAIRS_AHEAD
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, refresh_after_conflict

from . import qualification


@never_cache
@require_GET
def qualify(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The page. `pair` in the address: shows this document, for example to change its answer."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.RATER)
    if qualification.is_qualified(book, request.user):
        return HttpResponseRedirect(reverse("judge", args=[book.pk]))
    documents = qualification.next_documents(book=book, by=request.user, count=PAIRS_AHEAD)
    card_id = parse_card(request)
    chosen = qualification.read_document(book=book, card_id=card_id, by=request.user)
    if chosen is not None:
        documents = [chosen, *(document for document in documents if document.pair.pk != card_id)]
    context = {
        "book": book,
        "rule": qualification.find_rule(book),
        "qualification": qualification.find_qualification(book, request.user),
        "cards": build_cards(book, documents),
        "reasons": REASONS,
        "choices": build_choices(book),
        "progress": qualification.measure_progress(book=book, by=request.user),
    }
    return render(request, "qualification/judge.html", context)


@never_cache
@require_POST
def qualify_rate(request: HtmxRequest, book_id: int) -> HttpResponse:
    """Stores an answer; a rating if the rater was accepted meanwhile. The page's script gets the next documents."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.RATER)
    url = reverse("qualify", args=[book.pk])
    form = JudgeForm(request.POST)
    if not form.is_valid():
        return conflict(request, url, form_error(form))
    query = get_object_or_404(book.queries.select_related("book"), pk=form.cleaned_data["query"])
    judgment = {"query": query, "by": request.user, **form.judgment}
    ended = None
    try:
        if qualification.is_qualified(book, request.user):
            has_changed = judging.judge(**judgment) > 0
        else:
            ended = qualification.answer(**judgment)
            has_changed = ended.counts
    except ratings.ScaleChanged as reason:
        return refresh_after_conflict(request, url, reason)
    except ratings.InvalidRating as reason:
        return conflict(request, url, reason)
    if has_changed:
        tasks.enqueue_book_rescore(book.pk)
    if not request.htmx:
        if ended is not None and ended.counts:
            messages.success(
                request, f"Passed: {ended.agreed} of {ended.answered} agree with the key. Your ratings count."
            )
        return HttpResponseRedirect(url)
    documents = qualification.next_documents(book=book, by=request.user, count=PAIRS_AHEAD + 1)
    unknown = [document for document in documents if document.pair.pk not in form.known_pairs]
    context = {
        "book": book,
        "cards": build_cards(book, unknown),
        "reasons": REASONS,
        "progress": qualification.measure_progress(book=book, by=request.user),
        "rule": qualification.find_rule(book),
        "qualification": ended,
        "ended": "qualification/_ended.html" if ended is not None and ended.has_ended else "",
    }
    return render(request, "judge/_next.html", context)


@require_http_methods(["GET", "POST"])
def qualify_pause(request: HtmxRequest, book_id: int) -> HttpResponse:
    """Shows what is left and where to go on."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.RATER)
    if request.method == "POST":
        return HttpResponseRedirect(reverse("qualify_pause", args=[book.pk]))
    progress = qualification.measure_progress(book=book, by=request.user)
    return render(request, "judge/pause.html", {"book": book, "progress": progress})


@require_POST
def qualify_undo(request: HtmxRequest, book_id: int) -> HttpResponse:
    """Says that answers are changed and not taken back."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.RATER)
    messages.warning(request, "Answers of the qualification set are not taken back. Go back to one and change it.")
    return HttpResponseRedirect(reverse("qualify", args=[book.pk]))
