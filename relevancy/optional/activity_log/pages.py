"""The activity log of a case or a team, and the log as a file."""

from django.http import HttpResponse, HttpResponseBadRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from relevancy.models import Case, Role, Team
from relevancy.models.errors import error_text
from relevancy.views.forms import errors_to, form_error
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import csv_file
from relevancy.views.workbench.access import CaseAccess, get_case

from .activity_csv import export_lines
from .entries import Entry, EntryFilter, Log
from .forms import ActivityFilterForm


@require_GET
def activity_log(request: HtmxRequest, **ids: int) -> HttpResponse:
    """What was done in a case or a team."""
    owner = _get_owner(request, ids)
    log, cursor = Log(owner), request.GET.get("cursor", "")
    form = ActivityFilterForm(log, request.GET)
    wanted, entries, next_cursor = EntryFilter(), list[Entry](), ""
    if form.is_valid():
        wanted = form.entry_filter()
        with errors_to(form):
            entries, next_cursor = log.page(wanted, cursor=cursor)
    kind = "case" if isinstance(owner, Case) else "team"
    address, arguments = f"{kind}_activity", [owner.pk]
    chosen = {field: request.GET[field] for field in form.fields if request.GET.get(field)}
    older = {**chosen, "cursor": next_cursor}
    context = {
        kind: owner,
        "access": CaseAccess(owner, request.user) if isinstance(owner, Case) else None,
        "form": form,
        "entries": entries,
        "url": reverse(address, args=arguments),
        "csv_url": reverse(f"{address}_csv", args=arguments, query=chosen),
        "newest_url": reverse(address, args=arguments, query=chosen) if cursor else "",
        "older_url": reverse(address, args=arguments, query=older) if next_cursor else "",
        "is_filtered": bool(form.errors) or wanted != EntryFilter(),
    }
    return render(request, f"activity_log/{kind}.html", context, status=422 if form.errors else 200)


@require_GET
def activity_export(request: HtmxRequest, **ids: int) -> HttpResponseBase:
    """All entries of a log that the filter leaves, as CSV."""
    owner = _get_owner(request, ids)
    log = Log(owner)
    form = ActivityFilterForm(log, request.GET)
    if not form.is_valid():
        return HttpResponseBadRequest(error_text(form_error(form)), content_type="text/plain; charset=utf-8")
    return csv_file(export_lines(log.entries(form.entry_filter())), owner.name, "-activity.csv")


def _get_owner(request: HtmxRequest, ids: dict[str, int]) -> Case | Team:
    """Returns what an address names: a case, or a team."""
    if "case_id" in ids:
        return get_case(request, ids["case_id"])
    team: Team = get_or_403(Team.objects, request.user, ids["team_id"], needs=Role.VIEWER)
    return team
