"""What is written on a case's history. Everybody who sees the case reads it, its editors write."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from relevancy import cases
from relevancy.models import Annotation, Run

from .answers import go, refused, said, toast
from .bench import Bench, editable, find_case
from .listing import number

RUNS_OFFERED = 60


@require_http_methods(["GET", "POST"])
def annotations(request: HttpRequest, case_id: int) -> HttpResponse:
    """All of them, and a form for another one at the run the address names."""
    if request.method == "GET":
        return _listed(request, Bench(request, find_case(request, case_id)))
    bench = editable(request, case_id)
    run = get_object_or_404(Run, case=bench.case, number=number(request.POST.get("at", "")))
    try:
        cases.annotations.add(case=bench.case, run=run, text=request.POST.get("text", ""), by=request.user)
    except cases.Refused as reason:
        return _listed(request, bench, error=str(reason))
    return _changed(request, bench)


@require_POST
def change(request: HttpRequest, case_id: int, annotation_id: int) -> HttpResponse:
    """Other words."""
    bench, annotation = _one(request, case_id, annotation_id)
    try:
        cases.annotations.change(annotation=annotation, text=request.POST.get("text", ""))
    except cases.Refused as reason:
        return refused(request, bench.url(), reason)
    return _changed(request, bench)


@require_POST
def remove(request: HttpRequest, case_id: int, annotation_id: int) -> HttpResponse:
    """Off the history, with Undo."""
    bench, annotation = _one(request, case_id, annotation_id)
    cases.annotations.remove(annotation=annotation)
    undo = reverse("annotation_restore", args=[case_id, annotation_id])
    text = f"Annotation “{annotation}” removed"
    if not request.htmx:  # type: ignore[attr-defined]
        return said(request, bench.url(), text, undo=undo)
    return toast(_changed(request, bench), text, undo=undo)


@require_POST
def restore(request: HttpRequest, case_id: int, annotation_id: int) -> HttpResponse:
    """Undo of `remove`."""
    bench, annotation = _one(request, case_id, annotation_id)
    cases.annotations.restore(annotation=annotation)
    return go(request, bench.url())


def _one(request: HttpRequest, case_id: int, annotation_id: int) -> tuple[Bench, Annotation]:
    bench = editable(request, case_id)
    return bench, get_object_or_404(Annotation, case=bench.case, pk=annotation_id)


def _changed(request: HttpRequest, bench: Bench) -> HttpResponse:
    if not request.htmx:  # type: ignore[attr-defined]
        return go(request, bench.url())
    return _listed(request, Bench(request, bench.case), head=True)


def _listed(request: HttpRequest, bench: Bench, *, error: str = "", head: bool = False) -> HttpResponse:
    """The dialog; with `head` the case's head too, whose chart has changed."""
    at = number(request.POST.get("at") or request.GET.get("at", "")) or (bench.run.number if bench.run else 0)
    context: dict[str, Any] = {
        "bench": bench,
        "runs": list(bench.case.runs.order_by("-number").values_list("number", flat=True)[:RUNS_OFFERED]),
        "at": at,
        "error": error,
        "typed": request.POST.get("text", "") if error else "",
        "head": head,
    }
    return render(request, "case/annotations.html", context, status=422 if error else 200)
