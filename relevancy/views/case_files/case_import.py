"""A new case from a file, with a preview."""

from functools import partial

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from relevancy import endpoints, formats, runs, tasks
from relevancy.engines.errors import EngineError
from relevancy.formats.cases import case_import
from relevancy.formats.cases.case_import import CasePlan
from relevancy.formats.file_formats import FileKind
from relevancy.models import Case, Endpoint
from relevancy.models.errors import error_text
from relevancy.views.forms import WholeFileForm, add_errors
from relevancy.views.requests import HtmxRequest, ImportAction, submitted
from relevancy.views.responses import redirect_with_message
from relevancy.wording import counted

from .forms import CaseImportForm

FORM_ID = "case-preview-form"
MAX_RATERS = 20  # that are listed


@require_http_methods(["GET", "POST"])
def import_case(request: HtmxRequest) -> HttpResponse:
    """Says what would be made of a file (`do=preview`), and makes it (`do=import`)."""
    if request.method == "GET":
        return _render(request, WholeFileForm(FileKind.CASE))
    action = submitted(request, ImportAction)
    file_form = WholeFileForm(FileKind.CASE, files=request.FILES)
    if not file_form.is_valid():
        return _render(request, file_form, status=422)
    try:
        content = formats.parse_case(file_form.cleaned_data["file"])
        plan = case_import.plan_case(content=content, by=request.user)
        formats.check_page_limit(content.book.ratings.count, "import_case")
    except formats.BadFile as error:
        file_form.add_error("file", str(error))
        return _render(request, file_form, status=422)
    if action == ImportAction.PREVIEW:
        return _render(request, file_form, CaseImportForm(plan=plan, user=request.user, form_id=FORM_ID))
    form = CaseImportForm(request.POST, plan=plan, user=request.user, form_id=FORM_ID)
    case = _import(request, form) if form.is_valid() else None
    if case is None:
        return _render(request, file_form, form, status=422)
    for run in case.runs.all():
        transaction.on_commit(partial(tasks.enqueue_run_rescore, run))
    started = _start(request, case)
    counts = f"{counted(case.case_queries.present().count(), 'query', 'queries')} and {counted(content.book.ratings.count, 'rating')}"
    return redirect_with_message(
        request, reverse("case", args=[case.pk]), f"Case “{case}” imported with {counts}. {started}".rstrip()
    )


def _import(request: HtmxRequest, form: CaseImportForm) -> Case | None:
    """Returns the case, or None with the errors in the form."""
    try:
        plan = form.plan
        if scorer := form.cleaned_data["scorer"]:
            plan = case_import.plan_case(content=plan.content, by=request.user, scorer=scorer)
        return case_import.import_case(
            plan=plan, by=request.user, endpoint=form.chosen_endpoint(), name=form.cleaned_data["name"]
        )
    except ValidationError as error:
        add_errors(form, error)
    except (formats.BadFile, Endpoint.DoesNotExist) as error:
        form.add_error(None, str(error))
    return None


def _start(request: HtmxRequest, case: Case) -> str:
    """Starts the first run if the case has an attempt and queries. Returns a sentence about it."""
    live = case.attempts.filter(archived_at=None).select_related("endpoint", "case").order_by("-number")
    attempt = live.first()
    if attempt is None:
        return "It has no attempt yet: choose an endpoint and run the first one."
    if attempt.endpoint.archived_at is not None:
        return "Its attempts have no address: choose an endpoint before you run one."
    try:
        run = runs.start(attempt=attempt, by=request.user)
    except (runs.RunNotAllowed, EngineError) as error:
        return f"Its first run was not started: {error_text(error)}"
    transaction.on_commit(partial(tasks.enqueue_run, run))
    return "Its first run has started."


def _render(
    request: HtmxRequest, file_form: WholeFileForm, form: CaseImportForm | None = None, status: int = 200
) -> HttpResponse:
    """Renders the page; for a file sent by htmx the preview alone."""
    context: dict[str, object] = {"file_form": file_form, "form": form}
    if form is not None:
        context |= _preview(request, form.plan)
    name = "_case_preview" if request.htmx and request.method == "POST" else "import_case"
    return render(request, f"case_files/{name}.html", context, status=status)


def _preview(request: HtmxRequest, plan: CasePlan) -> dict[str, object]:
    endpoint = plan.endpoint
    raters = [*plan.known_raters, *plan.new_raters]
    return {
        "plan": plan,
        "raters": raters[:MAX_RATERS],
        "more_raters": len(raters) - MAX_RATERS,
        "engine": endpoints.engine_label(endpoint.engine) if endpoint else "",
        "cannot_create": "" if endpoint is None or endpoints.may_create(request.user) else endpoints.CREATE_DENIED,
        "attempt_problem": case_import.check_attempts(plan.content),
    }
