"""The raters of a book, and all ratings of one: listed, and removed or given to a person after a preview."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from relevancy import books, judging, tasks
from relevancy.hooks import BookRater
from relevancy.models import Book, Rating, Role, User, Verdict
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, redirect_with_message
from relevancy.wording import counted

from .conflicts import document_url
from .forms import RaterAction, RaterActionForm, RatingFilterForm

RATINGS_PER_PAGE = 50

VERDICTS = {RaterAction.REMOVE: "", RaterAction.CANNOT: Verdict.CANNOT, RaterAction.LATER: Verdict.LATER}


@require_GET
def book_raters(request: HtmxRequest, book_id: int) -> HttpResponse:
    """Who has rated in a book, and how much."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.VIEWER)
    return render(request, "books/raters.html", {"book": book, "raters": books.count_by_rater(book)})


@require_http_methods(["GET", "HEAD", "POST"])
def book_rater(request: HtmxRequest, book_id: int, rater_id: int) -> HttpResponse:
    """What a rater has rated, and what can be done with it; with `action` in the address, what that would do. A post does it."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.EDITOR)
    rater = get_object_or_404(books.raters_of(book), pk=rater_id)
    ratings = books.count_ratings_of(book=book, rater=rater)
    pages = books.pages_of_machine(book, rater)
    data = request.POST if request.method == "POST" else request.GET if "action" in request.GET else None
    form = RaterActionForm(rater, ratings, request.user, data, can_change=not pages)
    context: dict[str, Any] = {"book": book, "rater": rater, "ratings": ratings, "form": form, "pages": pages}
    context["shown"] = BookRater(book, rater)
    if form.is_valid():
        action, person = form.cleaned_data["action"], form.cleaned_data["person"]
        if request.method == "POST":
            return _change(request, book, rater, ratings, form)
        if action == RaterAction.ASSIGN:
            preview = books.preview_assignment(book=book, rater=rater, person=person, by=request.user)
        else:
            preview = books.preview_removal(book=book, rater=rater, verdict=VERDICTS[action], by=request.user)
        sentences = _sentences(rater, ratings, preview, action, person)
        context |= {"preview": preview, "chosen": action, "person": person, "sentences": sentences}
    else:
        context |= _list_ratings(request, book, rater)
    return render(request, "books/rater.html", context, status=422 if request.method == "POST" else 200)


def _list_ratings(request: HtmxRequest, book: Book, rater: User) -> dict[str, Any]:
    """Returns the ratings of a rater that the filter lets through, the newest first, with the titles of their documents."""
    filter_form = RatingFilterForm(book, request.GET)
    given = Rating.objects.filter(query__book=book, rater=rater).select_related("query").order_by("-updated_at", "-pk")
    wanted = filter_form.cleaned_data if filter_form.is_valid() else {"text": "", "grade": ""}
    if wanted["text"]:
        given = given.filter(Q(query__text__icontains=wanted["text"]) | Q(doc_id__icontains=wanted["text"]))
    if wanted["grade"] in Verdict.values:
        given = given.filter(verdict=wanted["grade"])
    elif wanted["grade"]:
        given = given.filter(value=float(wanted["grade"]))
    page = Paginator(given, RATINGS_PER_PAGE).get_page(request.GET.get("page"))
    documents = judging.read_rated_documents(page, by=request.user)
    places = books.cases_of_queries({rating.query_id for rating in page}, request.user)
    rows = []
    for rating in page:
        found = places.get(rating.query_id, ())
        document = documents.get((rating.query_id, rating.doc_id))
        title = document.title if document else rating.doc_id
        rows.append((rating, title, document_url(found, rating.doc_id), next(iter(found), None)))
    return {"filter_form": filter_form, "is_filtered": any(wanted.values()), "page": page, "rows": rows}


def _change(
    request: HtmxRequest, book: Book, rater: User, ratings: dict[str, int], form: RaterActionForm
) -> HttpResponse:
    action, person = form.cleaned_data["action"], form.cleaned_data["person"]
    url = reverse("book_rater", args=[book.pk, rater.pk])
    if form.cleaned_data["seen"] != ratings["total"]:
        return conflict(
            request,
            url,
            f"{rater} has {counted(ratings['total'], 'rating')} by now, so nothing was changed. Look at the preview again.",
        )
    try:
        if action == RaterAction.ASSIGN:
            given, removed = books.assign_ratings(book=book, rater=rater, person=person, by=request.user)
            text = f"{person} got {counted(given, 'rating')} by {rater}."
            if removed:
                text += f" {_were(removed, 'rating')} removed, because {person} had judged the documents."
        else:
            removed = books.remove_ratings(book=book, rater=rater, verdict=VERDICTS[action], by=request.user)
            text = f"{_were(removed, 'rating')} by {rater} removed."
    except ValidationError as error:
        return conflict(request, url, error)
    tasks.enqueue_book_rescore(book.pk)
    text += " The scores of the cases are being computed."
    return redirect_with_message(request, reverse("book_raters", args=[book.pk]), text)


def _were(count: int, noun: str) -> str:
    return f"{counted(count, noun)} {'was' if count == 1 else 'were'}"


def _sentences(
    rater: User,
    ratings: dict[str, int],
    preview: books.RaterPreview,
    action: RaterAction,
    person: User | None,
) -> list[str]:
    """Returns what the change does, in words."""
    count = counted(preview.ratings, "rating")
    documents = counted(ratings["documents"], "document")
    queries = counted(ratings["queries"], "query", "queries")
    if action == RaterAction.ASSIGN:
        if not preview.left_out:
            return [f"{person} gets {count} by {rater}, of {documents} for {queries}, with grade, note and time."]
        given = preview.ratings - preview.left_out
        same = "the same document" if preview.left_out == 1 else "the same documents"
        return [
            f"Of {count} by {rater}, of {documents} for {queries}, {person} gets {given:,}, with grade, note and time.",
            f"{counted(preview.left_out, 'rating')} {'is' if preview.left_out == 1 else 'are'} removed, because {person} has judged "
            f"{same}: {person}’s own rating stays.",
        ]
    if action == RaterAction.REMOVE:
        sentences = [f"{count} by {rater} of {documents} for {queries} will be removed."]
        if ratings["decided"]:
            sentences.append(
                f"{ratings['decided']:,} of them {'is a decision' if ratings['decided'] == 1 else 'are decisions'} about conflicts: "
                "the ratings of the others count again there."
            )
        return sentences
    answer = "cannot judge" if action == RaterAction.CANNOT else "later"
    return [
        f"{counted(preview.ratings, 'answer')} “{answer}” by {rater} will be removed. The documents come back to {rater}, "
        "unless they have enough ratings by then."
    ]
