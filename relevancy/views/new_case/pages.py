"""A new case in four steps. Nothing is created before the last one, which creates everything in one transaction."""

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy import cases, endpoints, queries
from relevancy.models import Endpoint
from relevancy.views.requests import HtmxRequest, submitted

from .engine_steps import check_fields, endpoint_step, fields_form, fields_step, rebuild_endpoint, render_step
from .forms import QueriesForm, ScaleForm
from .queries_step import check_or_create, render_queries
from .wizard import STEPS, StepAction, WizardState, previous_step


@require_GET
def begin(request: HtmxRequest) -> HttpResponse:
    """Continue with the first step; `?engine=static` preselects an engine."""
    query = {"engine": request.GET["engine"]} if "engine" in request.GET else None
    return redirect(reverse("new_case_step", args=[STEPS[0]], query=query))


@require_POST
def start_over(request: HtmxRequest) -> HttpResponse:
    """Discard everything that was entered."""
    WizardState(request).clear()
    return redirect("new_case_step", STEPS[0])


@require_http_methods(["GET", "POST"])
def new_case(request: HtmxRequest, step: str) -> HttpResponse:
    """One step; incomplete steps before it come first. `do=back` keeps what was entered without checking it."""
    if step not in STEPS:
        raise Http404
    state = WizardState(request)
    if STEPS.index(step) > STEPS.index(state.first_incomplete()):
        return redirect("new_case_step", state.first_incomplete())
    if request.method == "POST":
        state.enter(step, request.POST)
        if submitted(request, StepAction, default=StepAction.NEXT) == StepAction.BACK:
            return redirect("new_case_step", previous_step(step))
    return VIEWS[step](request, state)


def scale_step(request: HtmxRequest, state: WizardState) -> HttpResponse:
    """Name, scorer and rating scale."""
    form = ScaleForm(request.POST or None, user=request.user, initial=state.entered("scale"))
    engine = request.GET.get("engine", "")
    if form.is_valid():
        if engine:
            state.enter("endpoint", {**state.entered("endpoint"), "engine": engine, "endpoint_id": ""})
        state.complete("scale")
        return redirect("new_case_step", "endpoint")
    can_use_endpoint = endpoints.may_create(request.user) or Endpoint.objects.usable_by(request.user).live().exists()
    context = {
        "can_use_endpoint": can_use_endpoint,
        "create_denied": endpoints.CREATE_DENIED,
        "engine": engine,
    }
    return render_step(request, state, "scale", form, context)


def queries_step(request: HtmxRequest, state: WizardState) -> HttpResponse:
    """Give the case its queries, or none, and create it."""
    endpoint = rebuild_endpoint(request, state) if state.has_engine else None
    if endpoint is None and state.has_engine:
        return redirect("new_case_step", "endpoint")
    setup, invalid_step = _setup(request, state, endpoint)
    if setup is None:
        messages.warning(request, "Something has changed meanwhile. Check this step again.")
        return redirect("new_case_step", invalid_step)
    initial = state.entered("queries")
    if endpoint is not None and not initial:  # the queries of an uploaded file of rankings
        initial = {"queries": "\n".join(endpoints.known_queries(endpoint, queries.MAX_QUERIES + 1))}
    form = QueriesForm(request.POST or None, request.FILES or None, initial=initial, needs_queries=setup.book is None)
    if not form.is_valid():
        return render_queries(request, state, setup, form)
    return check_or_create(request, state, setup, form)


def _setup(
    request: HtmxRequest, state: WizardState, endpoint: Endpoint | None
) -> tuple[cases.CaseSetup, str] | tuple[None, str]:
    """Validates the steps before again; returns the set-up without queries, or None and the name of the invalid step."""
    scale = ScaleForm(state.entered("scale"), user=request.user)
    if not scale.is_valid():
        return None, "scale"
    template, fields = "", ""
    if endpoint is not None:
        form = fields_form(state, endpoint, state.entered("fields"))
        if not form.is_valid() or not check_fields(form, endpoint):
            return None, "fields"
        template, fields = form.cleaned_data["template"], form.chosen.spec
    data = scale.cleaned_data
    setup = cases.CaseSetup(
        name=data["name"],
        scorer=data["scorer"],
        endpoint=endpoint,
        template=template,
        fields=fields,
        texts=[],
        scale=data.get("grades") if data["scale_from"] == ScaleForm.OWN else None,
        book=data["book"] if data["scale_from"] == ScaleForm.BOOK else None,
        team=data.get("team"),
        new_team=data.get("new_team", ""),
    )
    return setup, ""


VIEWS: dict[str, Callable[[HtmxRequest, WizardState], HttpResponse]] = {
    "scale": scale_step,
    "endpoint": endpoint_step,
    "fields": fields_step,
    "queries": queries_step,
}
