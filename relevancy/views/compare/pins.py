"""Pinning, naming and noting a run."""

from urllib.parse import urlencode

from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from relevancy import runs
from relevancy.models import Case, Role, Run
from relevancy.views.forms import errors_to
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, redirect_with_message
from relevancy.views.workbench.access import get_case

from .forms import RunDetailsForm


@require_POST
def pin(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """Pins a run; `unpin` undoes it."""
    run = _get_run(get_case(request, case_id, needs=Role.EDITOR), number)
    try:
        runs.pin(run=run, by=request.user)
    except runs.RunNotAllowed as reason:
        return conflict(request, _back_url(request, run), reason)
    undo = reverse("run_unpin", args=[case_id, number])
    return redirect_with_message(
        request, _back_url(request, run), f"Run {number} pinned: its results and fields are kept", undo=undo
    )


@require_POST
def unpin(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """Undoes `pin`."""
    run = _get_run(get_case(request, case_id, needs=Role.EDITOR), number)
    runs.unpin(run=run, by=request.user)
    undo = reverse("run_pin", args=[case_id, number])
    return redirect_with_message(request, _back_url(request, run), f"Run {number} is no longer pinned", undo=undo)


@require_http_methods(["GET", "POST"])
def edit(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """Changes the name and the note of a run."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    run = _get_run(case, number)
    form = RunDetailsForm(request.POST or None, initial={"name": run.name, "note": run.note})
    if request.method == "POST" and form.is_valid():
        with errors_to(form):
            runs.describe(run=run, **form.cleaned_data, by=request.user)
            return redirect_with_message(request, _back_url(request, run), f"Run {number} saved")
    back_url = _back_url(request, run)
    context = {"case": case, "run": run, "form": form, "back_url": back_url, "next": back_url.partition("?")[2]}
    return render(request, "compare/run_details.html", context, status=422 if request.method == "POST" else 200)


def _get_run(case: Case, number: int) -> Run:
    run: Run = get_object_or_404(Run, case=case, number=number)
    return run


def _back_url(request: HtmxRequest, run: Run) -> str:
    """Returns the address of the comparison that the form was sent from, or that of the run with the one before."""
    parameters = QueryDict(request.POST.get("next") or request.GET.get("next") or "")
    kept = [(name, value) for name in ("run", "scorer", "other", "best") for value in parameters.getlist(name)]
    return f"{reverse('compare', args=[run.case_id])}?{urlencode(kept or [('run', run.number)])}"
