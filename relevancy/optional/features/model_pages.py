"""Models of logged features: fitted, shown, made an attempt of, applied here."""

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from relevancy import engines, runs
from relevancy import tasks as core_tasks
from relevancy.models import Role
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import as_file, conflict, redirect_to, redirect_with_message
from relevancy.views.workbench.access import CaseAccess, get_case

from . import fitting, tasks
from .access import get_feature_set, get_model, newest_log
from .forms import FitForm
from .model_files import FORMATS, NotWritable, list_products, write_model
from .models import FeatureModel


@require_POST
def feature_model_fit(request: HtmxRequest, case_id: int, version: int) -> HttpResponse:
    """Starts to fit a model to the newest log of a version."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    log = newest_log(get_feature_set(case, version))
    url = reverse("feature_set", args=[case.pk, version])
    form = FitForm(case, request.POST)
    if log is None or not form.is_valid():
        return conflict(request, url, "Log the features first, then choose a kind of model and a scorer.")
    try:
        model = fitting.create(log=log, by=request.user, **form.cleaned_data)
    except ValidationError as error:
        return conflict(request, url, error)
    tasks.enqueue_model(model.pk)
    return redirect_to(request, reverse("feature_model", args=[case.pk, version, model.pk]))


@require_GET
def feature_model(request: HtmxRequest, case_id: int, version: int, model_id: int) -> HttpResponse:
    """A model: what it gains, its weights, and the template that is proposed. Polled by htmx while it is being fitted."""
    case = get_case(request, case_id)
    model = get_model(case, version, model_id)
    context: dict[str, object] = {"case": case, "access": CaseAccess(case, request.user), "model": model}
    if model.status == FeatureModel.Status.COMPLETE:
        context["weights"] = sorted(model.content.get("weights", {}).items(), key=lambda pair: -pair[1])
        context["products"] = list_products(model)
        try:
            context["template"], context["knobs"] = fitting.propose(model)
        except engines.EngineError as error:
            context["reason"] = str(error)
    return render(request, "features/_model.html" if request.htmx else "features/model.html", context)


@require_GET
def feature_model_file(request: HtmxRequest, case_id: int, version: int, model_id: int, product: str) -> HttpResponse:
    """The trees of a model as a product loads them."""
    case = get_case(request, case_id)
    model = get_model(case, version, model_id)
    try:
        text = write_model(model, product)
    except NotWritable as error:
        return conflict(request, reverse("feature_model", args=[case.pk, version, model_id]), error)
    return as_file(
        HttpResponse(text, content_type="application/json; charset=utf-8"), case.name, FORMATS[product].suffix
    )


@require_POST
def feature_model_adopt(request: HtmxRequest, case_id: int, version: int, model_id: int) -> HttpResponse:
    """Makes an attempt of a model."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    model = get_model(case, version, model_id)
    try:
        attempt = fitting.adopt(model=model, by=request.user)
    except (ValidationError, engines.EngineError) as error:
        return conflict(request, reverse("feature_model", args=[case.pk, version, model_id]), error)
    url = reverse("case", args=[case.pk], query={"attempt": attempt.number})
    return redirect_with_message(request, url, f"{attempt} created. Run it to compare it with others.")


@require_POST
def feature_model_rerank(request: HtmxRequest, case_id: int, version: int, model_id: int) -> HttpResponse:
    """Ranks the results of the run of the log again, as an imported run."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    model = get_model(case, version, model_id)
    try:
        run = fitting.rerank_here(model=model, by=request.user)
    except (ValidationError, runs.RunNotAllowed) as error:
        return conflict(request, reverse("feature_model", args=[case.pk, version, model_id]), error)
    core_tasks.enqueue_run_rescore(run)
    return redirect_with_message(
        request, reverse("case", args=[case.pk], query={"run": run.number}), f"{run} stored: re-ranked here."
    )
