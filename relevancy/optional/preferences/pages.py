"""The preference tests of a book, a new one, and the result of one."""

from enum import StrEnum

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy import comparison
from relevancy.models import Book, Case, Role, Run
from relevancy.views.forms import errors_to
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest, parse_number, submitted
from relevancy.views.responses import redirect_with_message
from relevancy.views.workbench.access import get_case

from . import preferences
from .forms import NewTestForm
from .judging import get_test
from .models import PreferenceTest
from .sentences import describe_draw, result_details, result_sentence

OFFERED_CASES = 3  # whose runs can be compared


class CloseAction(StrEnum):
    """Whether raters get a test."""

    CLOSE = "close"
    OPEN = "open"


@require_GET
def preference_list(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The tests of a book, without the names of their runs, which raters must not know: what is left for the user, and links to the
    results of those whose cases the user can see."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.VIEWER)
    visible = set(Case.objects.visible_to(request.user).filter(book=book).values_list("pk", flat=True))
    rows = [
        (
            test,
            preferences.preference_progress(test=test, by=request.user),
            {test.run_a.case_id, test.run_b.case_id} <= visible,
        )
        for test in PreferenceTest.objects.of_book(book)
    ]
    context = {
        "book": book,
        "rows": rows,
        "can_rate": book.is_rateable,
        "can_edit": book.is_editable,
        "next_id": next((test.pk for test, progress, _ in rows if progress.left and not test.closed_at), None),
        "cases": Case.objects.editable_by(request.user).live().filter(book=book)[:OFFERED_CASES] if not rows else [],
    }
    return render(request, "preferences/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def preference_new(request: HtmxRequest, case_id: int) -> HttpResponse:
    """The form for a test of two runs, whose ids are `a` and `b`. If there is such a test already, leads to its result."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    sent = request.POST if request.method == "POST" else request.GET
    a, b = (_get_run(request, case, sent.get(name, "")) for name in ("a", "b"))
    present = preferences.find_preference_test(a, b)
    if present is not None:
        return HttpResponseRedirect(_result_url(case.book_id, present))
    drawn, identical, depth = preferences.count_lists(a, b)
    initial = {"queries": max(preferences.MIN_QUERIES, min(30, drawn - identical))}
    form = NewTestForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST" and form.is_valid():
        with errors_to(form):
            test = preferences.start_preference_test(a=a, b=b, queries=form.cleaned_data["queries"], by=request.user)
            text = f"Raters of {case.book} can begin. {describe_draw(test.drawn, test.identical, test.depth)}"
            return redirect_with_message(request, _result_url(case.book_id, test), text)
    context = {
        "case": case,
        "form": form,
        "a": a,
        "b": b,
        "names": comparison.name_runs([a, b]),
        "different": drawn - identical,
        "draw": describe_draw(drawn, identical, depth),
        "back_url": reverse("compare", args=[case.pk]),
    }
    return render(request, "preferences/new.html", context, status=422 if request.method == "POST" else 200)


@require_GET
def preference_result(request: HtmxRequest, book_id: int, test_id: int) -> HttpResponse:
    """What raters prefer. Names the runs, so it is for users who can see both cases."""
    book, test = get_test(request, book_id, test_id, needs=Role.VIEWER)
    for case_id in {test.run_a.case_id, test.run_b.case_id}:
        get_or_403(Case.objects, request.user, case_id, needs=Role.VIEWER)
    result = preferences.measure_preferences(test)
    names = comparison.name_runs([test.run_a, test.run_b])
    context = {
        "book": book,
        "test": test,
        "result": result,
        "names": names,
        "sentence": result_sentence(result, names),
        "details": result_details(test, result),
        "can_rate": book.is_rateable,
        "can_edit": book.is_editable,
    }
    return render(request, "preferences/result.html", context)


@require_POST
def preference_close(request: HtmxRequest, book_id: int, test_id: int) -> HttpResponse:
    """Ends a test (`do=close`), or opens it again (`do=open`). Answers stay."""
    book, test = get_test(request, book_id, test_id, needs=Role.EDITOR)
    is_closed = submitted(request, CloseAction) == CloseAction.CLOSE
    preferences.set_preference_test_closed(test=test, is_closed=is_closed, by=request.user)
    text = "The test is closed. All answers are kept." if is_closed else "Raters can answer again."
    return redirect_with_message(request, reverse("preferences", args=[book.pk]), text)


def _get_run(request: HtmxRequest, case: Case, pk: str) -> Run:
    """Returns a run on the book of a case. A test pins its runs, so the user has to be an editor of the case of each."""
    run: Run = get_object_or_404(Run.objects.select_related("case__book"), pk=parse_number(pk), case__book=case.book_id)
    if run.case_id != case.pk:
        get_or_403(Case.objects, request.user, run.case_id, needs=Role.EDITOR)
    return run


def _result_url(book_id: int, test: PreferenceTest) -> str:
    return reverse("preference_result", args=[book_id, test.pk])
