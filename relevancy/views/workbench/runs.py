"""Attempts are run and previewed; runs are cancelled and completed."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST
from django_htmx.http import replace_url, reswap, retarget, trigger_client_event

from relevancy import runs, tasks
from relevancy.engines.errors import EngineError
from relevancy.models import Case, Role, Run
from relevancy.views.requests import HtmxRequest, page_parameters, parse_number
from relevancy.views.responses import conflict, pretty_json, redirect_to, redirect_with_message, toast

from .access import get_case
from .attempt_form import SECRETS, AttemptForm
from .query_filter import QueryFilter
from .run_progress import RunProgress
from .workbench import Workbench


@require_POST
def run(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Saves the attempt in the tune pane, or keeps the one it was made from if nothing changed, and starts a run."""
    workbench = _workbench_of_page(request, get_case(request, case_id, needs=Role.EDITOR))
    form = sent_attempt_form(request, workbench.case)
    started = None
    try:
        # An attempt that cannot be run must not be stored: running it again would add another one.
        with transaction.atomic():
            attempt = form.save(by=request.user)
            if attempt is not None:
                started = runs.start(attempt=attempt, by=request.user)
    except (runs.RunNotAllowed, EngineError) as reason:
        if request.htmx:
            return conflict(request, workbench.queries.url(), reason)
        messages.error(request, str(reason))
    if started is None:
        return _render_form(request, workbench, form)
    return _follow(request, workbench, started, by_tune_pane=True)


def _workbench_of_page(request: HtmxRequest, case: Case) -> Workbench:
    """Returns the page that the request was sent from, with its filter, its order and its run."""
    return Workbench(request, case, query_filter=QueryFilter.from_parameters(page_parameters(request)))


def _follow(request: HtmxRequest, workbench: Workbench, active: Run, *, by_tune_pane: bool) -> HttpResponse:
    """Enqueues a run and lets the page follow it without leaving. With htmx, sends only the parts that its start changes.

    by_tune_pane: whether the tune pane was sent, which then shows the attempt that is run.
    """
    transaction.on_commit(lambda: tasks.enqueue_run(active))
    if not request.htmx:
        return redirect_to(request, workbench.queries.url(run=""))
    changed = workbench.showing_newest_run()
    changed.progress = RunProgress.first_look(active, has_started_it=True)
    context: dict[str, object] = {**changed.score_context(), "queries": changed.queries}
    number, address_number = active.attempt.number, page_parameters(request).get("attempt", "")
    if by_tune_pane:
        tune_context = changed.tune_context(attempt_number=str(number))
        context |= tune_context
        address_number = "" if number == tune_context["tune"].last_number else str(number)
    response = render(request, "workbench/_run_started.html", context)
    details = {"attempt": number, "list_url": changed.queries.page_url if workbench.filter.run else ""}
    response = trigger_client_event(response, "run-started", details, after="settle")
    if not changed.header().is_active:  # tasks may be executed when they are created
        response = trigger_client_event(response, "run-finished", after="settle")
    address = changed.queries.url(page=changed.queries.page_number, attempt=address_number)
    return replace_url(reswap(retarget(response, "#case-score"), "outerHTML"), address)


def sent_attempt_form(request: HtmxRequest, case: Case) -> AttemptForm:
    """Returns the form of the tune pane as it was sent."""
    attempts = case.attempts.select_related("endpoint").defer(*SECRETS).order_by("-number")
    shown = attempts.filter(number=parse_number(request.POST.get("parent", ""))).first() or attempts.first()
    return AttemptForm(case, request.user, shown, request.POST)


def _render_form(request: HtmxRequest, workbench: Workbench, form: AttemptForm) -> HttpResponse:
    """Renders the tune pane as it was sent, with its errors; without htmx on the whole page."""
    number = request.POST.get("parent", "")
    if request.htmx:
        tune = workbench.tune_context(attempt_number=number, form=form)
        return render(request, "workbench/_tune.html", tune, status=422)
    context = workbench.page_context(stale_scores=0, attempt_number=number, form=form)
    return render(request, "workbench/workbench.html", context, status=422)


@require_POST
def preview(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Shows the request that the attempt in the tune pane sends for the first query of the case."""
    workbench = Workbench(request, get_case(request, case_id, needs=Role.EDITOR))
    case_queries = workbench.case.case_queries.present().select_related("query")
    case_query = case_queries.order_by("position").first()
    text = case_query.query.text if case_query else "example"
    form = sent_attempt_form(request, workbench.case)
    context = {**workbench.base_context(), "text": text}
    try:
        attempt = form.build()
        if attempt is not None:
            options = runs.query_options(attempt.template, case_query) if case_query else {}
            rendered = runs.attempts.preview(attempt=attempt, text=text, options=options)
            context["warnings"] = runs.attempts.template_warnings(endpoint=attempt.endpoint, template=attempt.template)
            return render(request, "workbench/preview.html", {**context, "rendered_request": pretty_json(rendered)})
        errors = [str(error) for listed in form.errors.values() for error in listed]
    except EngineError as reason:
        errors = [str(reason)]
    return render(request, "workbench/preview.html", {**context, "errors": errors}, status=422)


@require_POST
def cancel(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """Stops a run; results that it has already are kept."""
    workbench = Workbench(request, get_case(request, case_id, needs=Role.EDITOR))
    active = get_object_or_404(Run, case=workbench.case, number=number)
    url = workbench.queries.url()
    if not active.is_active:
        return conflict(request, url, f"Run {number} has already ended: {active.get_status_display().lower()}.")
    runs.cancel(run=active, by=request.user)
    text = f"Run {number} is being stopped. Its results so far are kept."
    if not request.htmx:
        return redirect_with_message(request, url, text)
    changed = Workbench(request, workbench.case)
    response = toast(render(request, "workbench/_case_score.html", changed.score_context()), text)
    return response if changed.header().is_active else trigger_client_event(response, "run-finished")


@require_POST
def complete(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """Searches the queries that failed, are new or were edited since, and adds their results to the run."""
    workbench = _workbench_of_page(request, get_case(request, case_id, needs=Role.EDITOR))
    run_with_attempt = Run.objects.select_related("case__owner", "attempt__endpoint__owner", "attempt__case")
    stopped = get_object_or_404(run_with_attempt, case=workbench.case, number=number)
    try:
        resumed = runs.complete(run=stopped, by=request.user)
    except (runs.RunNotAllowed, EngineError) as reason:
        return conflict(request, workbench.queries.url(), reason)
    return _follow(request, workbench, resumed, by_tune_pane=False)
