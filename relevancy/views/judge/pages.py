"""Judging one document at a time. Each response has the next documents, so that the page can show them without waiting."""

from collections.abc import Sequence

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy import judging, ratings, tasks
from relevancy.models import Book, Case, JudgingPair, JudgingQueue, Role, User
from relevancy.views.forms import form_error
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest, parse_number
from relevancy.views.responses import conflict, refresh_after_conflict

from .cards import Card, build_cards, build_choices, parse_card, read_cards
from .forms import REASONS, JudgeForm
from .progress import progress_context

PAIRS_AHEAD = 3  # the one that is shown, and two that the page has ready


@never_cache
@require_GET
def judge(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The page. `pair` in the address: shows this pair, for example to change its rating."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.RATER)
    if refusal := ratings.find_refusal(book, request.user):
        return HttpResponseRedirect(refusal.url)
    queue = judging.judging_queue(book)
    tasks.enqueue_judging_queue(queue)
    queue.refresh_from_db()
    last = judging.last_judged(book=book, by=request.user)
    chosen = _chosen_pair(request, queue)
    pairs = [pair for pair in judging.next_pairs(queue=queue, by=request.user, count=PAIRS_AHEAD) if pair != chosen]
    pairs = [chosen, *pairs] if chosen else pairs
    counts = judging.count_by_query(query_ids={pair.query_id for pair in pairs}, by=request.user)
    cards = read_cards(book, pairs, request.user, counts)
    cards = _with_repeats(request, queue, cards)
    last_pairs = judging.pairs_of(last)
    shown = cards[0].document.pair if cards else None
    earlier = last_pairs[last_pairs.index(shown) + 1 :] if shown in last_pairs else last_pairs
    # Those that have to be run before there is something to judge.
    cases = Case.objects.visible_to(request.user).live().filter(book=book)
    context = {
        "book": book,
        "queue": queue,
        "cards": cards,
        "reasons": REASONS,
        "choices": build_choices(book),
        **progress_context(request.user, queue),
        "last": read_cards(book, last_pairs, request.user),
        "back_pair": next(iter(earlier), None),
        "is_being_prepared": queue.built_at is None,
        "cases": [] if queue.pair_count else cases[:5],
    }
    return render(request, "judge/judge.html", context)


@never_cache
@require_POST
def judge_rate(request: HtmxRequest, book_id: int) -> HttpResponse:
    """Stores a grade, "cannot judge" or "later". The page's script gets the next documents, a browser without it the page."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.RATER)
    url = reverse("judge", args=[book.pk])
    form = JudgeForm(request.POST)
    if not form.is_valid():
        return conflict(request, url, form_error(form))
    data = form.cleaned_data
    query = get_object_or_404(book.queries.select_related("book"), pk=data["query"])
    judgment = form.judgment
    try:
        if data["card"] >= judging.REPEAT_OFFSET:
            given = {name: judgment[name] for name in ("verdict", "value", "expected_scale")}
            judging.answer_repeat(book=book, card_id=data["card"], by=request.user, **given)
            has_changed = False
        else:
            has_changed = judging.judge(query=query, by=request.user, **judgment) > 0
    except ratings.ScaleChanged as reason:
        return refresh_after_conflict(request, url, reason)
    except ratings.InvalidRating as reason:
        return conflict(request, url, reason)
    if has_changed:
        tasks.enqueue_book_rescore(book.pk)
    if not request.htmx:
        return HttpResponseRedirect(url)
    queue = judging.judging_queue(book)
    pairs = judging.next_pairs(queue=queue, by=request.user, count=PAIRS_AHEAD)
    counts = judging.count_by_query(query_ids={query.pk, *(pair.query_id for pair in pairs)}, by=request.user)
    cards = read_cards(book, [pair for pair in pairs if pair.pk not in form.known_pairs], request.user, counts)
    context = {
        "counts": counts,
        "book": book,
        "cards": _with_repeats(request, queue, cards, form.known_pairs),
        "reasons": REASONS,
        **progress_context(request.user, queue),
    }
    return render(request, "judge/_next.html", context)


@never_cache
@require_http_methods(["GET", "POST"])
def judge_pause(request: HtmxRequest, book_id: int) -> HttpResponse:
    """Frees the documents that are kept for the user, and shows what was done and where to go on."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.RATER)
    queue = judging.judging_queue(book)
    if request.method == "POST":
        judging.release_pairs(queue=queue, by=request.user)
        return HttpResponseRedirect(reverse("judge_pause", args=[book.pk]))
    return render(request, "judge/pause.html", {"book": book, **progress_context(request.user, queue)})


@require_POST
def judge_undo(request: HtmxRequest, book_id: int) -> HttpResponse:
    """Takes back the user's last rating in the book and shows its document again; with `list`, in the list of its query."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.RATER)
    is_list = "list" in request.POST
    url = reverse("judge_list" if is_list else "judge", args=[book.pk])
    newest = ratings.last_change(book=book, by=request.user)
    repeat_id = judging.undo_repeat(book=book, by=request.user, after=newest.at if newest else None)
    if repeat_id is not None:
        messages.info(request, "Your last rating was taken back.")
        return HttpResponseRedirect(f"{reverse('judge', args=[book.pk])}?pair={repeat_id}")
    undone = ratings.undo(book=book, by=request.user, change=newest)
    if undone is None:
        messages.warning(request, "You have no rating in this book that could be taken back.")
        return HttpResponseRedirect(url)
    tasks.enqueue_book_rescore(book.pk)
    if undone.kept:
        messages.warning(request, "The rating was changed elsewhere since; it stays as it is.")
        return HttpResponseRedirect(url)
    messages.info(request, "Your last rating was taken back.")
    pair = JudgingPair.objects.filter(query=undone.query, doc_id=undone.undone[0].doc_id).first()
    if pair is None:
        return HttpResponseRedirect(url)
    return HttpResponseRedirect(
        f"{url}?query={pair.query_id}#document-{pair.pk}" if is_list else f"{url}?pair={pair.pk}"
    )


def _with_repeats(
    request: HtmxRequest, queue: JudgingQueue, cards: list[Card], present_ids: frozenset[int] | set[int] = frozenset()
) -> list[Card]:
    """Adds a document that the user judges again, unless the page has it; after the others, so that nothing tells it apart."""
    card_id = parse_card(request) if request.method == "GET" else 0
    chosen = judging.read_repeat(book=queue.book, card_id=card_id, by=request.user) if card_id else None
    if chosen is not None:
        return [*_repeated_cards(queue.book, [chosen], request.user), *cards]
    due = judging.due_repeats(queue=queue, by=request.user)
    return [
        *cards,
        *_repeated_cards(
            queue.book, [document for document in due if document.pair.pk not in present_ids], request.user
        ),
    ]


def _repeated_cards(book: Book, documents: Sequence[judging.JudgedDocument], user: User) -> list[Card]:
    """Returns the cards of documents that come again. They count as unrated, as those of others that the page shows."""
    if not documents:
        return []
    counts = judging.count_by_query(query_ids={document.pair.query_id for document in documents}, by=user)
    return build_cards(book, documents, {query_id: (done - 1, total) for query_id, (done, total) in counts.items()})


def _chosen_pair(request: HtmxRequest, queue: JudgingQueue) -> JudgingPair | None:
    """Returns the pair that the address names, claimed for the user if it is free."""
    pair: JudgingPair | None = queue.pairs.filter(pk=parse_number(request.GET.get("pair", ""))).first()
    if pair is not None:
        judging.claim_pair(pair=pair, by=request.user)
    return pair
