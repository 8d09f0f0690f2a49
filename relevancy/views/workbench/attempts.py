"""The attempts of a case: listed as a tree, shown in the tune pane, named, archived."""

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy import runs
from relevancy.models import Attempt, Case, Role
from relevancy.views.forms import add_errors
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, redirect_to, redirect_with_message, toast

from .access import get_case
from .forms import AttemptDetailsForm
from .workbench import Workbench


@require_GET
def attempt_tree(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Returns the tree of attempts, whose scores have changed when a run has finished."""
    workbench = Workbench(request, get_case(request, case_id))
    context = workbench.tune_context(attempt_number=request.GET.get("attempt", ""))
    return render(request, "workbench/_attempts.html", context)


@require_http_methods(["GET", "POST"])
def edit(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """Changes the name and the note of an attempt."""
    workbench = Workbench(request, get_case(request, case_id, needs=Role.EDITOR))
    attempt = _get_attempt(workbench.case, number)
    form = AttemptDetailsForm(request.POST or None, initial={"name": attempt.name, "note": attempt.note})
    if request.method == "POST" and form.is_valid():
        try:
            runs.attempts.describe(attempt=attempt, **form.cleaned_data, by=request.user)
        except ValidationError as error:
            add_errors(form, error)
        else:
            return _render_change(request, workbench, number)
    context = {**workbench.base_context(), "attempt": attempt, "form": form}
    return render(request, "workbench/edit_attempt.html", context, status=422 if request.method == "POST" else 200)


@require_POST
def archive(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """Leaves an attempt out of the tree; `restore` undoes it."""
    workbench = Workbench(request, get_case(request, case_id, needs=Role.EDITOR))
    attempt = _get_attempt(workbench.case, number)
    try:
        runs.attempts.archive(attempt=attempt, by=request.user)
    except ValidationError as error:
        return conflict(request, workbench.queries.url(), error)
    text = f"Attempt {number} archived; its runs stay"
    undo = reverse("attempt_restore", args=[case_id, number])
    if not request.htmx:
        return redirect_with_message(request, workbench.queries.url(), text, undo=undo)
    return toast(_render_change(request, workbench, number), text, undo=undo)


@require_POST
def restore(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """Undoes `archive`."""
    workbench = Workbench(request, get_case(request, case_id, needs=Role.EDITOR))
    runs.attempts.restore(attempt=_get_attempt(workbench.case, number), by=request.user)
    return _render_change(request, workbench, number)


def _get_attempt(case: Case, number: int) -> Attempt:
    return get_object_or_404(Attempt, case=case, number=number)


def _render_change(request: HtmxRequest, workbench: Workbench, number: int) -> HttpResponse:
    """Renders the head of the tune pane, which shows the attempt, and the tree; the dialog is gone."""
    if not request.htmx:
        return redirect_to(request, workbench.queries.url(attempt=number))
    return render(request, "workbench/_attempt_changed.html", workbench.tune_context(attempt_number=str(number)))
