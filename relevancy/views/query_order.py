"""The order of the queries by hand: a query is put to another place."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST

from relevancy import cases

from .answers import go, refused, toast
from .bench import Bench, editable, find_case
from .listing import STATES, number

MOST_STEPS = 1000


@require_POST
def move(request: HttpRequest, case_id: int, entry_id: int) -> HttpResponse:
    """Right `before` or `after` another query, or by so many `steps` down (negative: up). The answer is the list as it is then."""
    bench = editable(request, case_id)
    entries = bench.case.case_queries.present().select_related("query", "case")
    entry = get_object_or_404(entries, pk=entry_id)
    try:
        _move(entry, request.POST, entries)
    except cases.Refused as reason:
        return refused(request, bench.url(), reason)
    if not request.htmx:  # type: ignore[attr-defined]
        return go(request, bench.open_url(entry))
    fresh = Bench(request, find_case(request, case_id))
    context = {"bench": fresh, "states": STATES, "updating": 0, "only_list": True}
    response = render(request, "case/workbench.html#queries", context)
    if all(shown.pk != entry.pk for shown in fresh.page):
        page = "the page before" if request.POST.get("steps", "").startswith("-") else "the next page"
        return toast(response, f"“{entry.query}” is on {page} now")
    return response


def _move(entry: Any, sent: Any, entries: Any) -> None:
    for side in ("before", "after"):
        if anchor := entries.filter(pk=number(sent.get(side, ""))).first():
            cases.queries.move(case=entry.case, entry=entry, **{side: anchor})
            return
    steps = sent.get("steps", "")
    size = min(number(steps.removeprefix("-")), MOST_STEPS)
    if not size:
        raise cases.Refused("That query is not in this case any more. Reload the page.")
    cases.queries.move_by(entry, -size if steps.startswith("-") else size)
