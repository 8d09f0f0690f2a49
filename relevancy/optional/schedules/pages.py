"""The schedule of a case: when it is run, what it is compared with, and what came of it."""

from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from relevancy.models import Case, Role, User
from relevancy.models.errors import error_text
from relevancy.views.forms import add_errors
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_with_message
from relevancy.views.workbench.access import get_case

from . import notifications, schedules, times
from .forms import BaseScheduleForm, ScheduleForm, initial_values
from .models import Schedule, ScheduledCheck

CHECKS_PER_PAGE = 50


@require_GET
def schedule(request: HtmxRequest, case_id: int) -> HttpResponse:
    """The checks of a case and, for editors, its schedule."""
    return _render(request, get_case(request, case_id))


@require_POST
def schedule_save(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Creates or changes the schedule. The secret of a new webhook is shown once, on the page that follows."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    form = ScheduleForm(case, request.POST)
    if not form.is_valid():
        return _render(request, case, form, status=422)
    former = Schedule.objects.filter(case=case).first()
    try:
        saved = schedules.save(case=case, by=request.user, **form.cleaned_data)
    except ValidationError as error:
        add_errors(form, error)
        return _render(request, case, form, status=422)
    return redirect_with_message(request, reverse("case_schedule", args=[case.pk]), saved_text(former, saved))


@require_POST
def schedule_remove(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Removes the schedule. What its runs showed stays."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    schedules.remove(case=case, by=request.user)
    return redirect_with_message(
        request, reverse("case_schedule", args=[case.pk]), "The schedule is removed. Its runs and checks are kept."
    )


@require_POST
def schedule_test(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Sends a test message to the webhook, and an e-mail to the user."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    stored = get_object_or_404(Schedule, case=case)
    return redirect_with_message(request, reverse("case_schedule", args=[case.pk]), send_test(stored, request.user))


def send_test(stored: Schedule, by: User) -> str:
    """Sends test messages of a schedule. Returns what is said about them."""
    try:
        sent = notifications.send_test_messages(schedule=stored, by=by)
    except ValidationError as error:
        return error_text(error)
    return " ".join(f"Not delivered to {to.to}: {to.error}" if to.error else f"Delivered to {to.to}." for to in sent)


def saved_text(former: Schedule | None, saved: Schedule) -> str:
    """Returns what is said about a schedule that was saved, with the secret of a new webhook."""
    text = "The schedule is saved."
    if saved.webhook_url and (former is None or former.webhook_url != saved.webhook_url):
        text += f" The key of the webhook's signatures is {saved.webhook_secret['key']}. It is not shown again."
    return text


def schedule_context(
    request: HtmxRequest, stored: Schedule | None, form: BaseScheduleForm | None, checks: QuerySet[ScheduledCheck]
) -> dict[str, object]:
    """Returns what the pages of schedules of cases and of groups draw. form: for editors."""
    return {
        "schedule": stored,
        "times": times.describe_times(stored.cron) if stored else "",
        "form": form,
        "page": Paginator(checks, CHECKS_PER_PAGE).get_page(request.GET.get("page")),
    }


def _render(request: HtmxRequest, case: Case, form: ScheduleForm | None = None, *, status: int = 200) -> HttpResponse:
    role: int = vars(case)["role"]  # annotated by the access methods
    stored = Schedule.objects.filter(case=case).select_related("author").first()
    checks = (
        ScheduledCheck.objects.filter(case=case)
        .select_related("run", "baseline")
        .prefetch_related("notifications__recipient")
    )
    if role >= Role.EDITOR and form is None:
        form = ScheduleForm(case, initial=initial_values(stored))
    context = {
        "case": case,
        "save_url": reverse("case_schedule_save", args=[case.pk]),
        "remove_url": reverse("case_schedule_remove", args=[case.pk]),
        "test_url": reverse("case_schedule_test", args=[case.pk]),
        **schedule_context(request, stored, form, checks),
    }
    return render(request, "schedules/schedule.html", context, status=status)
