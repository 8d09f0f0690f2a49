"""Annotations of a case's history: every user of the case reads them, its editors write them."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from relevancy import cases
from relevancy.models import Annotation, Case, Role
from relevancy.views.forms import errors_to, form_error
from relevancy.views.requests import HtmxRequest, parse_number
from relevancy.views.responses import conflict, redirect_to, redirect_with_message, toast

from .forms import AnnotationForm, AnnotationTextForm
from .workbench import Workbench, open_workbench

HISTORY = "history"  # the value of `back` if the dialog was opened on the history page


@require_http_methods(["GET", "POST"])
def annotation_list(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Lists the annotations, with a form to annotate a run."""
    if request.method == "GET":
        return _render_list(request, open_workbench(request, case_id))
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    form = AnnotationForm(workbench.case, request.POST)
    if form.is_valid():
        run, text = form.cleaned_data["at"], form.cleaned_data["text"]
        with errors_to(form):
            cases.annotations.add(case=workbench.case, run=run, text=text, by=request.user)
            return _render_change(request, workbench)
    return _render_list(request, workbench, form=form)


@require_POST
def change(request: HtmxRequest, case_id: int, annotation_id: int) -> HttpResponse:
    """Changes the text of an annotation."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    annotation = _get_annotation(workbench.case, annotation_id)
    form = AnnotationTextForm(request.POST)
    if not form.is_valid():
        return conflict(request, _back_url(request, workbench), form_error(form))
    cases.annotations.change(annotation=annotation, text=form.cleaned_data["text"], by=request.user)
    return _render_change(request, workbench)


@require_POST
def remove(request: HtmxRequest, case_id: int, annotation_id: int) -> HttpResponse:
    """Removes an annotation; `restore` undoes it."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    annotation = _get_annotation(workbench.case, annotation_id)
    cases.annotations.remove(annotation=annotation, by=request.user)
    back = HISTORY if _is_from_history(request) else ""
    undo = reverse("annotation_restore", args=[case_id, annotation_id], query={"back": back} if back else None)
    text = f"Annotation “{annotation}” removed"
    if back or not request.htmx:
        return redirect_with_message(request, _back_url(request, workbench), text, undo=undo)
    return toast(_render_change(request, workbench), text, undo=undo)


@require_POST
def restore(request: HtmxRequest, case_id: int, annotation_id: int) -> HttpResponse:
    """Undoes `remove`."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    cases.annotations.restore(annotation=_get_annotation(workbench.case, annotation_id), by=request.user)
    return redirect_to(request, _back_url(request, workbench))


def _is_from_history(request: HtmxRequest) -> bool:
    return HISTORY in (request.POST.get("back"), request.GET.get("back"))


def _back_url(request: HtmxRequest, workbench: Workbench) -> str:
    """Returns the address of the page that the dialog was opened on."""
    return reverse("history", args=[workbench.case.pk]) if _is_from_history(request) else workbench.queries.url()


def _get_annotation(case: Case, annotation_id: int) -> Annotation:
    return get_object_or_404(Annotation, case=case, pk=annotation_id)


def _render_change(request: HtmxRequest, workbench: Workbench) -> HttpResponse:
    if _is_from_history(request) or not request.htmx:
        return redirect_to(request, _back_url(request, workbench))
    changed = Workbench(request, workbench.case, selection=workbench.selection)
    return _render_list(request, changed, with_head=True)


def _render_list(
    request: HtmxRequest, workbench: Workbench, *, form: AnnotationForm | None = None, with_head: bool = False
) -> HttpResponse:
    """Renders the dialog. `form`: the one that was sent, with its errors. `with_head` adds the head of the page, whose chart
    has changed."""
    shown_run = workbench.selection.run
    run_number = parse_number(request.GET.get("at", "")) or (shown_run.number if shown_run else 0)
    return workbench.render(
        "workbench/annotations.html",
        status=422 if form else 200,
        form=form or AnnotationForm(workbench.case, run_number=run_number),
        with_head=with_head,
        back=HISTORY if _is_from_history(request) else "",
        back_url=_back_url(request, workbench),
    )
