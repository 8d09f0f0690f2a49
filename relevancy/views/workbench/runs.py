"""Attempts are run and previewed; runs are cancelled and completed."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST
from django_htmx.http import replace_url, reswap, retarget, trigger_client_event

from relevancy import runs, tasks
from relevancy.engines.errors import EngineError
from relevancy.models import Case, Role, Run
from relevancy.views.requests import HtmxRequest, page_parameters, parse_number
from relevancy.views.responses import conflict, pretty_json, redirect_to, redirect_with_message, toast

from .attempt_form import SECRETS, AttemptForm
from .run_progress import RunProgress
from .run_selection import RunSelection
from .workbench import Workbench, open_workbench


@require_POST
def run(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Saves the attempt in the tune pane, or keeps the one it was made from if nothing changed, and starts a run."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR, of_page=True)
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


def _follow(request: HtmxRequest, workbench: Workbench, active: Run, *, by_tune_pane: bool) -> HttpResponse:
    """Enqueues a run and lets the page follow it without leaving. With htmx, sends only the parts that its start changes.

    by_tune_pane: whether the tune pane was sent, which then shows the attempt that is run.
    """
    transaction.on_commit(lambda: tasks.enqueue_run(active))
    if not request.htmx:
        return redirect_to(request, workbench.queries.url(run=""))
    changed = Workbench(request, workbench.case, selection=RunSelection(workbench.case), of_page=True)
    changed.progress = RunProgress(polls=0)
    number, address_number = active.attempt.number, page_parameters(request).get("attempt", "")
    if by_tune_pane:
        changed.attempt_number = str(number)
        address_number = "" if number == changed.tune.last_number else str(number)
    response = changed.render("workbench/_run_started.html", with_tune=by_tune_pane)
    details = {"attempt": number, "list_url": changed.queries.page_url if workbench.filter.run else ""}
    response = trigger_client_event(response, "run-started", details, after="settle")
    if not changed.header.is_active:  # tasks may be executed when they are created
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
    workbench.attempt_number, workbench.attempt_form = request.POST.get("parent", ""), form
    return workbench.render("workbench/_tune.html", status=422) if request.htmx else workbench.render_page(status=422)


@require_POST
def preview(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Shows the request that the attempt in the tune pane sends for the first query of the case."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    case_queries = workbench.case.case_queries.present().select_related("query")
    case_query = case_queries.order_by("position", "id").first()
    text = case_query.query.text if case_query else "example"
    form = sent_attempt_form(request, workbench.case)
    rendered, warnings = None, None
    try:
        attempt = form.build()
        if attempt is not None:
            options = runs.query_options(attempt.template, case_query) if case_query else {}
            rendered = runs.attempts.preview(attempt=attempt, text=text, options=options)
            warnings = runs.attempts.template_warnings(endpoint=attempt.endpoint, template=attempt.template)
        errors = form.error_texts()
    except EngineError as reason:
        errors = [str(reason)]
    return workbench.render(
        "workbench/preview.html",
        status=422 if errors else 200,
        text=text,
        rendered_request=pretty_json(rendered),
        warnings=warnings,
        errors=errors,
    )


@require_POST
def cancel(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """Stops a run; results that it has already are kept."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    active = get_object_or_404(Run, case=workbench.case, number=number)
    url = workbench.queries.url()
    if not active.is_active:
        return conflict(request, url, f"Run {number} has already ended: {active.get_status_display().lower()}.")
    runs.cancel(run=active, by=request.user)
    text = f"Run {number} is being stopped. Its results so far are kept."
    if not request.htmx:
        return redirect_with_message(request, url, text)
    changed = Workbench(request, workbench.case)
    response = toast(changed.render("workbench/_case_score.html"), text)
    return response if changed.header.is_active else trigger_client_event(response, "run-finished")


@require_POST
def complete(request: HtmxRequest, case_id: int, number: int) -> HttpResponse:
    """Searches the queries that failed, are new or were edited since, and adds their results to the run."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR, of_page=True)
    run_with_attempt = Run.objects.select_related("case__owner", "attempt__endpoint__owner", "attempt__case")
    stopped = get_object_or_404(run_with_attempt, case=workbench.case, number=number)
    try:
        resumed = runs.complete(run=stopped, by=request.user)
    except (runs.RunNotAllowed, EngineError) as reason:
        return conflict(request, workbench.queries.url(), reason)
    return _follow(request, workbench, resumed, by_tune_pane=False)
