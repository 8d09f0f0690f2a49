"""How a book is judged, on one form: what, in which order, by how many, and what their grades mean.

Another rule or scale changes grades: the page shows what it does to every case score before it is applied.
"""

from enum import StrEnum
from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from relevancy import books, judging, tasks
from relevancy.models import Book, JudgingQueue, Role
from relevancy.views.forms import add_errors
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest, parse_number, submitted
from relevancy.views.responses import redirect_with_message

from .forms import COMPARED_FIELDS, GradesForm, JudgingForm

QUEPID_WARNING = (
    "One more rating can change a grade by the whole scale: of two ratings the mean counts, of three the lowest. "
    "Choose another rule unless the scores have to be those of Quepid."
)
LATEST_WARNING = (
    "With several ratings of a document, “the latest rating” would ignore all others, so another rule is chosen here. Save it, or "
    "choose one."
)
OUTDATED = "Rule or scale of the book have been changed meanwhile, so nothing was saved. Look at the form again."
NOT_PREVIEWED = "This is another change than the one that was shown, so nothing was saved. Look at what it does."


class Action(StrEnum):
    """What the form is sent for."""

    SAVE = "save"  # shows first what it does to grades
    COPY = "copy"  # a copy of the book, with another rule or scale
    RULE = "rule"  # htmx: the rule again, after another number of ratings
    STARTER = "starter"  # htmx: the guidelines again, with those of a `starter`


@require_http_methods(["GET", "HEAD", "POST"])
def book_judging(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The form. A post saves it, unless it would change grades that the page has not shown yet."""
    book: Book = get_or_403(Book.objects.select_related("owner"), request.user, book_id, needs=Role.EDITOR)
    queue = JudgingQueue.objects.of_book(book)
    if request.method != "POST":
        offered = {name: request.GET[name] for name in ("order", *COMPARED_FIELDS) if name in request.GET}
        return _render(request, book, JudgingForm(queue, request.user, offered=offered), GradesForm(book))
    action = submitted(request, Action, default=Action.SAVE)
    data = request.POST.copy()
    asks_for_rule = _choose_rule(book, queue, data)
    if action == Action.STARTER:
        _insert_starter(book, data)
    form, grades = JudgingForm(queue, request.user, data), GradesForm(book, data)
    if action == Action.RULE:
        return render(request, "books/_rule.html", _rule_context(grades))
    if action == Action.STARTER:
        return render(request, "books/_guidelines.html", {"form": form, "grades": grades, "starters": _starters(book)})
    if not (form.is_valid() & grades.is_valid()) or asks_for_rule:
        return _render(request, book, form, grades, status=422)
    return _save(request, book, action, form, grades)


@require_safe
def book_settings_moved(request: HtmxRequest, book_id: int) -> HttpResponse:
    """Leads from addresses where the settings were before to the form."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.EDITOR)
    return redirect("book_judging", book.pk)


def _save(request: HtmxRequest, book: Book, action: Action, form: JudgingForm, grades: GradesForm) -> HttpResponse:
    """Saves valid forms, or shows what they do."""
    if grades.is_outdated:
        grades.add_error(None, OUTDATED)
        return _render(request, book, form, grades, status=422)
    changes: dict[str, Any] = {
        "settings": grades.settings,
        "new_grades": grades.new_grades,
        "can_merge_grades": grades.cleaned_data["can_merge_grades"],
        "by": request.user,
    }
    preview = None
    try:
        if action == Action.COPY:
            copy = books.copy_book(book=book, name=grades.cleaned_data["name"], **changes)
            return redirect_with_message(request, reverse("book", args=[copy.pk]), "The copy of the book was created.")
        preview = _preview(request, book, grades)
        if preview and grades.cleaned_data["previewed"] != grades.token:
            if grades.cleaned_data["previewed"]:
                grades.add_error(None, NOT_PREVIEWED)
            return _render(request, book, form, grades, preview=preview, status=422 if grades.errors else 200)
        present = books.BookSettings.of(book)
        if grades.settings != present:
            books.change_settings(book=book, expected=present, **changes)
            tasks.enqueue_book_rescore(book.pk)
        told = {name: form.cleaned_data[name] for name in ("guidelines", "raters_are_blind")}
        books.change_book(book=book, by=request.user, **told)
        if form.changed_settings:
            queue = judging.set_judging(book=book, by=request.user, **form.changed_settings)
            tasks.enqueue_judging_queue(queue)
    except ValidationError as error:
        names = getattr(error, "error_dict", {})
        add_errors(form if names.keys() & form.fields.keys() else grades, error)
        book.refresh_settings()
        return _render(request, book, form, grades, preview=preview, status=422)
    return redirect_with_message(request, reverse("book_judging", args=[book.pk]), "The settings are saved.")


def _preview(request: HtmxRequest, book: Book, grades: GradesForm) -> books.BookPreview | None:
    """Returns what valid settings do; None if they change no grade that scores are computed from. Raises `ValidationError`."""
    if grades.settings.rule == book.rule and not grades.is_other_scale:
        return None
    preview = books.preview_settings(book=book, settings=grades.settings, new_grades=grades.new_grades, by=request.user)
    return preview if preview.changed or (preview.documents and grades.is_other_scale) else None


def _choose_rule(book: Book, queue: JudgingQueue, data: QueryDict) -> bool:
    """Chooses a rule that uses all ratings when there are several for the first time, and the latest one would count. Returns whether
    it did. A user who has seen that, and chooses the latest one again, gets it."""
    is_first = queue.ratings_per_pair == 1 and parse_number(str(data.get("ratings_per_pair"))) > 1
    if not is_first or data.get("rule") != Book.Rule.LATEST or data.get("rule_asked"):
        return False
    data["rule"] = Book.Rule.MAJORITY if len(book.scale) == 2 else Book.Rule.MEDIAN
    data["rule_asked"] = "1"
    return True


def _starters(book: Book) -> list[books.Starter]:
    """Returns what is written for the scale of a book, or all if none is."""
    return [starter for starter in books.STARTERS if starter.fits(book.grades)] or list(books.STARTERS)


def _insert_starter(book: Book, data: QueryDict) -> None:
    """Adds the guidelines of a starter below those of the form, and its phrases where there are none."""
    starter = next((starter for starter in books.STARTERS if starter.name == data.get("starter")), None)
    if starter is None:
        return
    data["guidelines"] = "\n\n".join(filter(None, [str(data.get("guidelines", "")).strip(), starter.guidelines]))
    if starter.fits(book.grades):
        for grade, phrase in starter.phrases:
            name = f"phrase_{book.grades.index(grade)}"
            data[name] = data.get(name) or phrase


def _rule_context(grades: GradesForm) -> dict[str, object]:
    rule = grades["rule"].value()
    return {
        "grades": grades,
        "is_asked": bool(grades.data.get("rule_asked")) if grades.is_bound else False,
        "latest_warning": LATEST_WARNING,
        "warning": QUEPID_WARNING if rule == Book.Rule.QUEPID else "",
    }


def _render(
    request: HtmxRequest,
    book: Book,
    form: JudgingForm,
    grades: GradesForm,
    *,
    preview: books.BookPreview | None = None,
    status: int = 200,
) -> HttpResponse:
    queue = JudgingQueue.objects.of_book(book)
    context = {
        "book": book,
        "form": form,
        "preview": preview,
        "has_ratings": books.has_rated_values(book),
        "choice_text": _choice_text(queue),
        "order_text": _order_text(queue),
        "starters": _starters(book),
        **_rule_context(grades),
    }
    return render(request, "books/judging.html", context, status=status)


def _choice_text(queue: JudgingQueue) -> str:
    """Returns which queries of a very large book are judged; empty if all are."""
    unchosen = judging.count_unchosen(queue)
    if not unchosen:
        return ""
    return (
        f"Documents of {judging.MAX_QUERIES:,} of the {judging.MAX_QUERIES + unchosen:,} queries are judged: those with the greatest "
        "weights, and of queries with equal weights a random sample."
    )


def _order_text(queue: JudgingQueue) -> str:
    """Returns what the order by the comparison of two runs does at present; empty for other orders."""
    if queue.order != JudgingQueue.Order.DIFFERENCE:
        return ""
    if not queue.is_by_difference:
        return (
            "One of the runs, or the scorer, has been deleted. Until others are chosen, documents come from the newest runs, best "
            "ranks first."
        )
    if queue.built_at is None:
        return "The documents of the two runs are being put in order."
    left = judging.count_changing(queue)
    if not left:
        return "No document that is to be judged can change the comparison of the two runs."
    return (
        f"{left:,} of the documents to judge can change the comparison of the two runs. Those that can change it most come first. "
        "The order is computed again after ratings, in the background."
    )
