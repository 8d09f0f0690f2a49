"""The schedule of a group: when its cases are run, and what came of it."""

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from relevancy.models import Role
from relevancy.optional.groups.models import CaseGroup
from relevancy.views.forms import add_errors
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_with_message

from . import group_schedules
from .forms import GroupScheduleForm, initial_values
from .models import Schedule, ScheduledCheck
from .pages import saved_text, schedule_context, send_test


@require_GET
def group_schedule(request: HtmxRequest, group_id: int) -> HttpResponse:
    """The checks of a group and, for editors, its schedule."""
    return _render(request, _get_group(request, group_id))


@require_POST
def group_schedule_save(request: HtmxRequest, group_id: int) -> HttpResponse:
    """Creates or changes the schedule. The secret of a new webhook is shown once, on the page that follows."""
    group = _get_group(request, group_id, Role.EDITOR)
    form = GroupScheduleForm(group, request.POST)
    if not form.is_valid():
        return _render(request, group, form, status=422)
    former = Schedule.objects.filter(group=group).first()
    try:
        saved = group_schedules.save_for_group(group=group, by=request.user, **form.cleaned_data)
    except ValidationError as error:
        add_errors(form, error)
        return _render(request, group, form, status=422)
    return redirect_with_message(request, reverse("group_schedule", args=[group.pk]), saved_text(former, saved))


@require_POST
def group_schedule_remove(request: HtmxRequest, group_id: int) -> HttpResponse:
    """Removes the schedule. What its runs showed stays."""
    group = _get_group(request, group_id, Role.EDITOR)
    group_schedules.remove_from_group(group=group)
    return redirect_with_message(
        request, reverse("group_schedule", args=[group.pk]), "The schedule is removed. Its runs and checks are kept."
    )


@require_POST
def group_schedule_test(request: HtmxRequest, group_id: int) -> HttpResponse:
    """Sends a test message to the webhook, and an e-mail to the user."""
    group = _get_group(request, group_id, Role.EDITOR)
    stored = get_object_or_404(Schedule, group=group)
    return redirect_with_message(request, reverse("group_schedule", args=[group.pk]), send_test(stored, request.user))


def _get_group(request: HtmxRequest, group_id: int, needs: Role = Role.VIEWER) -> CaseGroup:
    group: CaseGroup = get_or_403(CaseGroup.objects.select_related("owner"), request.user, group_id, needs=needs)
    return group


def _render(
    request: HtmxRequest, group: CaseGroup, form: GroupScheduleForm | None = None, *, status: int = 200
) -> HttpResponse:
    role: int = vars(group)["role"]  # annotated by the access methods
    stored = Schedule.objects.filter(group=group).select_related("author").first()
    of_group = ScheduledCheck.objects.filter(group=group).prefetch_related(
        "notifications__recipient", "group_runs__case", "group_runs__run", "group_runs__baseline"
    )
    checks = group_schedules.with_visibility(of_group, request.user)
    if role >= Role.EDITOR and form is None:
        form = GroupScheduleForm(group, initial=initial_values(stored))
    context = {
        "group": group,
        "save_url": reverse("group_schedule_save", args=[group.pk]),
        "remove_url": reverse("group_schedule_remove", args=[group.pk]),
        "test_url": reverse("group_schedule_test", args=[group.pk]),
        **schedule_context(request, stored, form, checks),
    }
    return render(request, "schedules/group.html", context, status=status)
