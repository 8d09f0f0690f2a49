"""The attempts of a case: listed as a tree."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy.views.requests import HtmxRequest

from .access import get_case
from .workbench import Workbench


@require_GET
def attempt_tree(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Returns the tree of attempts, whose scores have changed when a run has finished."""
    workbench = Workbench(request, get_case(request, case_id))
    context = workbench.tune_context(attempt_number=request.GET.get("attempt", ""))
    return render(request, "workbench/_attempts.html", context)
