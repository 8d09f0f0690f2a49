"""The schedule of a case or of a group: when it is run, what it is compared with, and what came of it."""

from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from relevancy.models import Role
from relevancy.models.errors import error_text
from relevancy.optional.groups.models import CaseGroup
from relevancy.optional.groups.pages import get_group
from relevancy.views.forms import add_errors
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_with_message
from relevancy.views.workbench.access import get_case

from . import group_checks, notifications, schedules, times
from .forms import ScheduleForm
from .models import Schedule, ScheduledCheck
from .schedules import Scheduled

CHECKS_PER_PAGE = 50


@require_GET
def schedule(request: HtmxRequest, **ids: int) -> HttpResponse:
    """The checks of a case or a group and, for editors, its schedule."""
    return _render(request, _get_scheduled(request, ids))


@require_POST
def schedule_save(request: HtmxRequest, **ids: int) -> HttpResponse:
    """Creates or changes the schedule. The secret of a new webhook is shown once, on the page that follows."""
    scheduled = _get_scheduled(request, ids, Role.EDITOR)
    form = ScheduleForm(schedules.find(scheduled), request.POST)
    if not form.is_valid():
        return _render(request, scheduled, form)
    data = form.cleaned_data
    try:
        key = schedules.save(
            schedule=form.instance, recipients=data["recipients"], is_active=data["is_active"], by=request.user
        )
    except ValidationError as error:
        add_errors(form, error)
        return _render(request, scheduled, form)
    text = "The schedule is saved."
    if key:
        text += f" The key of the webhook's signatures is {key}. It is not shown again."
    return redirect_with_message(request, _url(scheduled), text)


@require_POST
def schedule_remove(request: HtmxRequest, **ids: int) -> HttpResponse:
    """Removes the schedule. What its runs showed stays."""
    scheduled = _get_scheduled(request, ids, Role.EDITOR)
    schedules.remove(scheduled=scheduled, by=request.user)
    text = "The schedule is removed. Its runs and checks are kept."
    return redirect_with_message(request, _url(scheduled), text)


@require_POST
def schedule_test(request: HtmxRequest, **ids: int) -> HttpResponse:
    """Sends a test message to the webhook, and an e-mail to the user."""
    scheduled = _get_scheduled(request, ids, Role.EDITOR)
    stored = get_object_or_404(Schedule, **schedules.owned_by(scheduled))
    try:
        sent = notifications.send_test_messages(schedule=stored, by=request.user)
    except ValidationError as error:
        return redirect_with_message(request, _url(scheduled), error_text(error))
    texts = (f"Not delivered to {to.to}: {to.error}" if to.error else f"Delivered to {to.to}." for to in sent)
    return redirect_with_message(request, _url(scheduled), " ".join(texts))


def _get_scheduled(request: HtmxRequest, ids: dict[str, int], needs: Role = Role.VIEWER) -> Scheduled:
    """Returns what an address names: a case, or a group."""
    if "case_id" in ids:
        return get_case(request, ids["case_id"], needs=needs)
    return get_group(request, ids["group_id"], needs)


def _kind(scheduled: Scheduled) -> str:
    (kind,) = schedules.owned_by(scheduled)
    return kind


def _url(scheduled: Scheduled, action: str = "") -> str:
    return reverse(f"{_kind(scheduled)}_schedule{action}", args=[scheduled.pk])


def _render(request: HtmxRequest, scheduled: Scheduled, form: ScheduleForm | None = None) -> HttpResponse:
    """Renders the page, with the mistakes of a form that was sent."""
    status = 422 if form else 200
    stored = schedules.find(scheduled)
    checks = ScheduledCheck.objects.filter(**schedules.owned_by(scheduled))
    checks = checks.prefetch_related("notifications__recipient", "runs__case", "runs__run", "runs__baseline")
    if scheduled.is_editable and form is None:
        form = ScheduleForm(stored)
    context = {
        _kind(scheduled): scheduled,
        "schedule": stored if stored.pk else None,
        "times": times.describe_times(stored.cron) if stored.pk else "",
        "form": form,
        "page": Paginator(group_checks.with_visibility(checks, request.user), CHECKS_PER_PAGE).get_page(
            request.GET.get("page")
        ),
        "save_url": _url(scheduled, "_save"),
        "remove_url": _url(scheduled, "_remove"),
        "test_url": _url(scheduled, "_test"),
    }
    template = "schedules/group.html" if isinstance(scheduled, CaseGroup) else "schedules/case.html"
    return render(request, template, context, status=status)
