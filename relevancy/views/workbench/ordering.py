"""The manual order of the queries: moving a query to another position."""

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST

from relevancy import queries
from relevancy.models import CaseQuery, Role
from relevancy.views.requests import HtmxRequest, parse_number
from relevancy.views.responses import conflict, redirect_to, toast

from .access import get_case
from .workbench import Workbench

MAX_STEPS = 1000


@require_POST
def move(request: HtmxRequest, case_id: int, entry_id: int) -> HttpResponse:
    """Moves a query directly `before` or `after` another one, or by a number of `steps` down (negative: up). Returns the new list."""
    workbench = Workbench(request, get_case(request, case_id, needs=Role.EDITOR))
    case_queries = workbench.case.case_queries.present().select_related("query", "case")
    case_query = get_object_or_404(case_queries, pk=entry_id)
    try:
        _move(case_query, request.POST, case_queries)
    except ValidationError as error:
        return conflict(request, workbench.queries.url(), error)
    if not request.htmx:
        return redirect_to(request, workbench.queries.open_url(case_query))
    context = {**workbench.list_context(stale_scores=0), "is_fragment": True}
    response = render(request, "workbench/workbench.html#queries", context)
    if all(shown.pk != case_query.pk for shown in workbench.queries.page):
        page = "previous" if request.POST.get("steps", "").startswith("-") else "next"
        return toast(response, f"“{case_query.query}” is now on the {page} page")
    return response


def _move(case_query: CaseQuery, parameters: QueryDict, case_queries: "QuerySet[CaseQuery]") -> None:
    for side in ("before", "after"):
        if anchor := case_queries.filter(pk=parse_number(parameters.get(side, ""))).first():
            queries.move(case=case_query.case, case_query=case_query, **{side: anchor})
            return
    steps = parameters.get("steps", "")
    count = min(parse_number(steps.removeprefix("-")), MAX_STEPS)
    if not count:
        raise ValidationError("That query is no longer in this case. Reload the page.")
    queries.move_by(case_query=case_query, steps=-count if steps.startswith("-") else count)
