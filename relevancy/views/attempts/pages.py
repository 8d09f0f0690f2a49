"""The page of all attempts of a case, the comparison of two of them, and copies."""

from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from relevancy import runs
from relevancy.models import Attempt, Role, Run, ScorerVersion
from relevancy.views.requests import HtmxRequest, parse_number
from relevancy.views.responses import conflict, redirect_to, redirect_with_message
from relevancy.views.workbench.access import CaseAccess, get_case

from .attempt_list import build_rows, read_tree

PAGE_SIZE = 30


@require_GET
def show(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Lists the attempts, newest first."""
    case = get_case(request, case_id)
    version = ScorerVersion.objects.used_by(case)[0]
    page = Paginator(read_tree(case), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "case": case,
        "access": CaseAccess(case, request.user),
        "version": version,
        "page": page,
        "rows": build_rows(case, version, page),
        "can_compare": page.paginator.count > 1,
    }
    return render(request, "attempts/attempts.html", context)


@require_GET
def compare(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Opens the comparison of the last runs of the chosen attempts; the older attempt is the baseline."""
    case = get_case(request, case_id)
    list_url = reverse("attempt_list", args=[case_id])
    numbers = sorted({parse_number(text) for text in request.GET.getlist("attempt")} - {0})
    if len(numbers) != 2:
        text = f"Select two attempts to compare; {len(numbers)} {'is' if len(numbers) == 1 else 'are'} selected."
        return redirect_with_message(request, list_url, text, level=messages.ERROR)
    chosen: list[int] = []
    for number in numbers:
        finished = Run.objects.newest_for(case).finished().filter(attempt__number=number)
        run = finished.filter(status=Run.Status.COMPLETE).first() or finished.first()
        if run is None:
            text = f"Attempt {number} has no finished run. Run it first, then compare it."
            return redirect_with_message(request, list_url, text, level=messages.ERROR)
        chosen.append(run.number)
    return redirect_to(request, f"{reverse('compare', args=[case_id])}?{urlencode([('run', run) for run in chosen])}")


@require_POST
def duplicate(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """Copies an attempt, and opens the copy in the tune pane. It can be archived again."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    attempt = get_object_or_404(Attempt.objects.select_related("endpoint"), case=case, number=number)
    attempt.case = case
    try:
        copy = runs.attempts.duplicate(attempt=attempt, by=request.user)
    except ValidationError as error:
        return conflict(request, reverse("attempt_list", args=[case_id]), error)
    url = f"{reverse('case', args=[case_id])}?attempt={copy.number}#tune"
    return redirect_with_message(request, url, f"Attempt {copy.number} is a copy of attempt {number}")
