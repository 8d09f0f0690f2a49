"""Features of a case: versions of the set, their logs, and what was logged."""

from django.core.exceptions import ValidationError
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy.models import Role
from relevancy.views.compare.forms import comparable_runs
from relevancy.views.forms import add_errors
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import as_file, conflict, redirect_to, redirect_with_message
from relevancy.views.workbench.access import CaseAccess, get_case

from . import feature_sets, logs, tasks
from .access import get_feature_set, newest_log
from .dataset import read_dataset
from .feature_text import format_features
from .figures import MAX_DOCUMENTS, MEASURE, build_figures
from .files import FILES
from .forms import FeatureSetForm, FitForm, LogForm
from .models import FeatureModel, FeatureSet


@require_http_methods(["GET", "POST"])
def features(request: HtmxRequest, case_id: int) -> HttpResponse:
    """The versions of the features of a case, and for editors the form of the next one."""
    posted = request.method == "POST"
    case = get_case(request, case_id, needs=Role.EDITOR if posted else Role.VIEWER)
    versions = list(FeatureSet.objects.filter(case=case).select_related("attempt__endpoint", "created_by"))
    initial: dict[str, object] = (
        {"text": format_features(versions[0].items), "attempt": versions[0].attempt.number} if versions else {}
    )
    form = FeatureSetForm(case, request.POST if posted else None, initial)
    if posted and form.is_valid():
        try:
            saved = feature_sets.save(case=case, by=request.user, **form.cleaned_data)
            return redirect_to(request, reverse("feature_set", args=[case.pk, saved.version]))
        except ValidationError as error:
            add_errors(form, error)
    context = {"case": case, "access": CaseAccess(case, request.user), "versions": versions, "form": form}
    return render(request, "features/features.html", context, status=422 if form.errors else 200)


@require_GET
def feature_set(request: HtmxRequest, case_id: int, version: int) -> HttpResponse:
    """A version: its features, and how far it has been logged. Polled by htmx while it is being logged."""
    case = get_case(request, case_id)
    shown = get_feature_set(case, version)
    log = newest_log(shown)
    context: dict[str, object] = {
        "case": case,
        "access": CaseAccess(case, request.user),
        "feature_set": shown,
        "log": log,
        "form": LogForm(comparable_runs(case)),
        "files": FILES if log and log.done else {},
        "fit_form": FitForm(case),
        "figures_url": reverse("feature_figures", args=[case.pk, version]) if log and log.done else "",
        "models": FeatureModel.objects.filter(log__feature_set=shown).select_related("version__scorer", "log"),
    }
    return render(request, "features/_log.html" if request.htmx else "features/feature_set.html", context)


@require_GET
def feature_figures(request: HtmxRequest, case_id: int, version: int) -> HttpResponse:
    """What each feature of the newest log is worth alone. For editors: it follows from the grades of all raters."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    shown = get_feature_set(case, version)
    log = newest_log(shown)
    context: dict[str, object] = {"case": case, "feature_set": shown, "measure": MEASURE}
    if log is not None:
        dataset = read_dataset(log)
        context["is_too_large"] = len(dataset.doc_ids) > MAX_DOCUMENTS
        if not context["is_too_large"]:
            table = build_figures(dataset)
            context |= {"table": table, "correlations": zip(dataset.names, table.correlations, strict=True)}
    return render(request, "features/figures.html", context)


@require_POST
def feature_log(request: HtmxRequest, case_id: int, version: int) -> HttpResponse:
    """Starts to log a version."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    shown = get_feature_set(case, version)
    url = reverse("feature_set", args=[case.pk, version])
    form = LogForm(comparable_runs(case), request.POST)
    if not form.is_valid():
        return conflict(request, url, "Choose a run of the list, or none.")
    try:
        log = logs.start(feature_set=shown, run=form.cleaned_data["run"], by=request.user)
    except ValidationError as error:
        return conflict(request, url, error)
    tasks.enqueue(log.pk)
    return redirect_to(request, url)


@require_POST
def feature_log_stop(request: HtmxRequest, case_id: int, version: int) -> HttpResponse:
    """Stops the log of a version. What has been logged stays."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    log = newest_log(get_feature_set(case, version))
    if log is not None:
        logs.stop(log=log, by=request.user)
        tasks.enqueue(log.pk)
    return redirect_to(request, reverse("feature_set", args=[case.pk, version]))


@require_POST
def feature_log_go_on(request: HtmxRequest, case_id: int, version: int) -> HttpResponse:
    """Goes on with the log of a version that has ended: queries that are missing, and those that failed."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    url = reverse("feature_set", args=[case.pk, version])
    log = newest_log(get_feature_set(case, version))
    if log is None:
        return conflict(request, url, "Nothing has been logged yet.")
    try:
        logs.go_on(log=log, by=request.user)
    except ValidationError as error:
        return conflict(request, url, error)
    tasks.enqueue(log.pk)
    return redirect_to(request, url)


@require_http_methods(["GET", "POST"])
def feature_set_delete(request: HtmxRequest, case_id: int, version: int) -> HttpResponse:
    """Asks, then deletes a version with everything that was logged of it."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    shown = get_feature_set(case, version)
    if request.method == "POST":
        try:
            feature_sets.delete(feature_set=shown, by=request.user)
        except ValidationError as error:
            return conflict(request, reverse("feature_set", args=[case.pk, version]), error)
        return redirect_with_message(request, reverse("features", args=[case.pk]), f"{shown} deleted.")
    return render(request, "features/delete.html", {"case": case, "feature_set": shown})


@require_GET
def feature_file(request: HtmxRequest, case_id: int, version: int, file_kind: str) -> HttpResponseBase:
    """A file of the newest log of a version. For editors: it contains the grades of all raters."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    log = newest_log(get_feature_set(case, version))
    file = FILES.get(file_kind)
    if log is None or file is None:
        return conflict(request, reverse("feature_set", args=[case.pk, version]), "Log the features first.")
    response = StreamingHttpResponse(
        file.write(log, read_dataset(log)), content_type=f"{file.content_type}; charset=utf-8"
    )
    return as_file(response, case.name, f"-{version}{file.suffix}")
