"""The attempts of a case: listed as a tree, shown in the tune pane, named, archived."""

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy import runs
from relevancy.models import Attempt, Case, Role
from relevancy.views.forms import errors_to
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, redirect_to, redirect_with_message, toast

from .forms import AttemptDetailsForm
from .workbench import Workbench, open_workbench


@require_GET
def attempt_tree(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Returns the tree of attempts, whose scores have changed when a run has finished."""
    return open_workbench(request, case_id).render("workbench/_attempts.html")


@require_http_methods(["GET", "POST"])
def edit(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """Changes the name and the note of an attempt."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    attempt = _get_attempt(workbench.case, number)
    form = AttemptDetailsForm(request.POST or None, initial={"name": attempt.name, "note": attempt.note})
    if request.method == "POST" and form.is_valid():
        with errors_to(form):
            runs.attempts.describe(attempt=attempt, **form.cleaned_data, by=request.user)
            return _render_change(request, workbench, number)
    status = 422 if request.method == "POST" else 200
    return workbench.render("workbench/edit_attempt.html", status=status, attempt=attempt, form=form)


@require_POST
def archive(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """Leaves an attempt out of the tree; `restore` undoes it."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
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
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    runs.attempts.restore(attempt=_get_attempt(workbench.case, number), by=request.user)
    return _render_change(request, workbench, number)


def _get_attempt(case: Case, number: int) -> Attempt:
    return get_object_or_404(Attempt, case=case, number=number)


def _render_change(request: HtmxRequest, workbench: Workbench, number: int) -> HttpResponse:
    """Renders the head of the tune pane, which shows the attempt, and the tree; the dialog is gone."""
    if not request.htmx:
        return redirect_to(request, workbench.queries.url(attempt=number))
    workbench.attempt_number = str(number)
    return workbench.render("workbench/_attempt_changed.html")
