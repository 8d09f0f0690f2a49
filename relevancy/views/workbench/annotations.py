"""Annotations of a case's history: every user of the case reads them, its editors write them."""

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from relevancy import cases
from relevancy.models import Annotation, Case, Role, Run
from relevancy.models.errors import error_text
from relevancy.views.requests import HtmxRequest, parse_number
from relevancy.views.responses import conflict, redirect_to, redirect_with_message, toast

from .access import get_case
from .workbench import Workbench

MAX_RUNS = 60


@require_http_methods(["GET", "POST"])
def annotation_list(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Lists the annotations, with a form to annotate a run."""
    if request.method == "GET":
        return _render_list(request, Workbench(request, get_case(request, case_id)))
    workbench = Workbench(request, get_case(request, case_id, needs=Role.EDITOR))
    run = get_object_or_404(Run, case=workbench.case, number=parse_number(request.POST.get("at", "")))
    try:
        cases.annotations.add(case=workbench.case, run=run, text=request.POST.get("text", ""), by=request.user)
    except ValidationError as error:
        return _render_list(request, workbench, error=error_text(error))
    return _render_change(request, workbench)


@require_POST
def change(request: HtmxRequest, case_id: int, annotation_id: int) -> HttpResponse:
    """Changes the text of an annotation."""
    workbench = Workbench(request, get_case(request, case_id, needs=Role.EDITOR))
    annotation = _get_annotation(workbench.case, annotation_id)
    try:
        cases.annotations.change(annotation=annotation, text=request.POST.get("text", ""))
    except ValidationError as error:
        return conflict(request, workbench.queries.url(), error)
    return _render_change(request, workbench)


@require_POST
def remove(request: HtmxRequest, case_id: int, annotation_id: int) -> HttpResponse:
    """Removes an annotation; `restore` undoes it."""
    workbench = Workbench(request, get_case(request, case_id, needs=Role.EDITOR))
    annotation = _get_annotation(workbench.case, annotation_id)
    cases.annotations.remove(annotation=annotation)
    undo = reverse("annotation_restore", args=[case_id, annotation_id])
    text = f"Annotation “{annotation}” removed"
    if not request.htmx:
        return redirect_with_message(request, workbench.queries.url(), text, undo=undo)
    return toast(_render_change(request, workbench), text, undo=undo)


@require_POST
def restore(request: HtmxRequest, case_id: int, annotation_id: int) -> HttpResponse:
    """Undoes `remove`."""
    workbench = Workbench(request, get_case(request, case_id, needs=Role.EDITOR))
    cases.annotations.restore(annotation=_get_annotation(workbench.case, annotation_id))
    return redirect_to(request, workbench.queries.url())


def _get_annotation(case: Case, annotation_id: int) -> Annotation:
    return get_object_or_404(Annotation, case=case, pk=annotation_id)


def _render_change(request: HtmxRequest, workbench: Workbench) -> HttpResponse:
    if not request.htmx:
        return redirect_to(request, workbench.queries.url())
    changed = Workbench(request, workbench.case, selection=workbench.selection)
    return _render_list(request, changed, with_head=True)


def _render_list(
    request: HtmxRequest, workbench: Workbench, *, error: str = "", with_head: bool = False
) -> HttpResponse:
    """Renders the dialog. `with_head` adds the head of the page, whose chart has changed."""
    shown_run = workbench.selection.run
    chosen = parse_number(request.POST.get("at") or request.GET.get("at", ""))
    run_numbers = workbench.case.runs.order_by("-number").values_list("number", flat=True)
    context = {
        **workbench.score_context(),
        "run_numbers": list(run_numbers[:MAX_RUNS]),
        "chosen_number": chosen or (shown_run.number if shown_run else 0),
        "error": error,
        "text": request.POST.get("text", "") if error else "",
        "with_head": with_head,
    }
    return render(request, "workbench/annotations.html", context, status=422 if error else 200)
