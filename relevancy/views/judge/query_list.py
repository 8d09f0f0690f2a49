"""Judging the documents of a query as a list: the same rules as for one document at a time, without JavaScript too."""

from typing import Any

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from relevancy import judging, ratings, tasks
from relevancy.models import Book, JudgingPair, Query, Rating, Role
from relevancy.views.forms import form_error
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest, parse_number
from relevancy.views.responses import conflict, refresh_after_conflict

from .cards import Card, read_cards
from .forms import LISTED_REASONS, ListedDocumentForm
from .progress import progress_context


@never_cache
@require_GET
def judge_list(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The documents of one query: `query` in the address, or the next one; other than `after`, if there is one."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.RATER)
    if refusal := ratings.find_refusal(book, request.user):
        return HttpResponseRedirect(refusal.url)
    queue = judging.judging_queue(book)
    tasks.enqueue_judging_queue(queue)
    queue.refresh_from_db()
    query = book.queries.filter(pk=parse_number(request.GET.get("query", ""))).first()
    after = parse_number(request.GET.get("after", ""))
    query = query or judging.next_query(queue=queue, by=request.user, after=after)
    cards: list[Card] = []
    if query is not None:
        pairs = judging.claim_query(queue=queue, query=query, by=request.user)
        cards = read_cards(book, pairs, request.user)
    context = {
        "book": book,
        "queue": queue,
        "query": query,
        "cards": cards,
        "unjudged": sum(not card.document.is_judged for card in cards),
        "held_by_others": judging.count_held_by_others(queue=queue, query=query, by=request.user) if query else 0,
        "reasons": LISTED_REASONS,
        "is_being_prepared": queue.built_at is None,
        **progress_context(request.user, queue),
    }
    return render(request, "judge/list.html", context)


@require_POST
def judge_list_rate(request: HtmxRequest, book_id: int, query_id: int) -> HttpResponse:
    """Stores a judgment of a listed document; takes it back if `value` is empty. htmx gets the row, a browser without it the list."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.RATER)
    query: Query = get_object_or_404(book.queries.select_related("book"), pk=query_id)
    url = reverse("judge_list", args=[book.pk], query={"query": query.pk})
    form = ListedDocumentForm(request.POST)
    if not form.is_valid():
        return conflict(request, url, form_error(form))
    try:
        has_changed = _store(form, query, request)
    except ratings.ScaleChanged as reason:
        return refresh_after_conflict(request, url, reason)
    except ratings.InvalidRating as reason:
        return conflict(request, url, reason)
    judging.keep_claims(query=query, by=request.user)
    if has_changed:
        tasks.enqueue_book_rescore(book.pk)
    pair = JudgingPair.objects.filter(query=query, doc_id=form.cleaned_data["doc_id"]).first()
    if pair is not None and form.takes_back:
        judging.claim_pair(pair=pair, by=request.user)
    if not request.htmx or pair is None:
        return HttpResponseRedirect(f"{url}#document-{pair.pk}" if pair else url)
    [card] = read_cards(book, [pair], request.user)
    context = {"book": book, "card": card, "reasons": LISTED_REASONS, "is_first": True, "is_answer": True}
    queue = judging.judging_queue(book)
    return render(request, "judge/_listed.html", {**context, **progress_context(request.user, queue)})


def _store(form: ListedDocumentForm, query: Query, request: HtmxRequest) -> bool:
    """Stores what the form says. Returns whether ratings changed."""
    data: dict[str, Any] = form.cleaned_data
    doc_id = ratings.clean_doc_id(data["doc_id"])
    if form.takes_back:
        return ratings.remove(query=query, doc_ids=[doc_id], by=request.user) > 0
    note = None
    if data["cannot"]:
        own = Rating.objects.filter(query=query, doc_id=doc_id, rater=request.user).values_list("note", flat=True)
        note = form.note_after(own.first() or "")
    changed = judging.judge(
        query=query,
        doc_id=doc_id,
        by=request.user,
        verdict=form.verdict,
        value=data["value"],
        note=note,
        expected_scale=data["scale"],
    )
    return changed > 0
