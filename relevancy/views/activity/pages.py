"""The activity log of a case or a team, and the log as a file."""

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpResponse, HttpResponseBadRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from relevancy import activity
from relevancy.formats.reports import activity_csv
from relevancy.models import Case, Role, Team
from relevancy.models.errors import error_text
from relevancy.views.forms import add_errors, form_error
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.workbench.access import CaseAccess, get_case

from .forms import ActivityFilterForm


@dataclass(frozen=True)
class ActivityPage:
    """What the page shows. newest_url, older_url: of the first page with the same filter and of the entries before these; older_url is
    empty if there are none."""

    form: ActivityFilterForm
    log: activity.LogPage
    url: str
    csv_url: str
    newest_url: str
    older_url: str
    is_first: bool
    is_filtered: bool


@require_GET
def case_log(request: HtmxRequest, case_id: int) -> HttpResponse:
    """What was done in a case."""
    case = get_case(request, case_id)
    context = {"case": case, "access": CaseAccess(case, request.user)}
    return _render(request, case, "activity/case.html", context)


@require_GET
def team_log(request: HtmxRequest, team_id: int) -> HttpResponse:
    """What was done in a team."""
    team: Team = get_or_403(Team.objects, request.user, team_id, needs=Role.VIEWER)
    return _render(request, team, "activity/team.html", {"team": team})


@require_GET
def case_export(request: HtmxRequest, case_id: int) -> HttpResponseBase:
    """All entries of a case's log that the filter leaves, as CSV."""
    return _export(request, get_case(request, case_id))


@require_GET
def team_export(request: HtmxRequest, team_id: int) -> HttpResponseBase:
    """All entries of a team's log that the filter leaves, as CSV."""
    team: Team = get_or_403(Team.objects, request.user, team_id, needs=Role.VIEWER)
    return _export(request, team)


def _render(request: HtmxRequest, owner: Case | Team, template: str, context: dict[str, Any]) -> HttpResponse:
    page = _read(request, owner)
    return render(request, template, {**context, "page": page}, status=422 if page.form.errors else 200)


def _read(request: HtmxRequest, owner: Case | Team) -> ActivityPage:
    name = "case_activity" if isinstance(owner, Case) else "team_activity"
    log, cursor = activity.Log(owner), request.GET.get("cursor", "")
    form = ActivityFilterForm(log, request.GET)
    log_page, wanted = activity.LogPage(), activity.EntryFilter()
    if form.is_valid():
        wanted = form.entry_filter()
        try:
            log_page = activity.read_page(log, wanted, cursor=cursor)
        except ValidationError as error:
            add_errors(form, error)
    chosen = {field: request.GET[field] for field in form.fields if request.GET.get(field)}
    return ActivityPage(
        form=form,
        log=log_page,
        url=reverse(name, args=[owner.pk]),
        csv_url=reverse(f"{name}_csv", args=[owner.pk], query=chosen),
        newest_url=reverse(name, args=[owner.pk], query=chosen),
        older_url=reverse(name, args=[owner.pk], query={**chosen, "cursor": log_page.next}) if log_page.next else "",
        is_first=not cursor,
        is_filtered=bool(form.errors) or wanted.is_active,
    )


def _export(request: HtmxRequest, owner: Case | Team) -> HttpResponseBase:
    log = activity.Log(owner)
    form = ActivityFilterForm(log, request.GET)
    if not form.is_valid():
        return HttpResponseBadRequest(error_text(form_error(form)), content_type="text/plain; charset=utf-8")
    lines = activity_csv.export_lines(log.entries(form.entry_filter()))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    name = f"{slugify(owner.name) or 'export'}-activity.csv"
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return response
