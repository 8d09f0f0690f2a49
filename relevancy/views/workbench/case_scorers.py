"""The scorers of a case: which one is primary, which are secondary, and in which version. Nothing is searched for them."""

from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from relevancy import scorers, tasks
from relevancy.models import Case, Role, Scorer, User
from relevancy.models.errors import error_text
from relevancy.views.forms import form_error
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, redirect_to, redirect_with_message

from .forms import CaseScorerForm, RestoreScorerForm
from .stale_scores import rescore_after_change_of_scorers
from .workbench import Workbench, open_workbench


@require_GET
def show(request: HtmxRequest, case_id: int) -> HttpResponse:
    """The scorers of the case; for editors with what can be changed."""
    workbench = open_workbench(request, case_id)
    context = {"case": workbench.case, "access": workbench.access, "panel": workbench.panel}
    return render(request, "workbench/case_scorers.html", context)


def _back_url(request: HtmxRequest, workbench: Workbench) -> str:
    """Returns the page that a form was sent from: the list of scorers, or the queries."""
    if request.POST.get("back") == "settings":
        return reverse("case_scorers", args=[workbench.case.pk])
    return workbench.queries.url()


@require_POST
def choose(request: HtmxRequest, case_id: int, *, primary: bool) -> HttpResponse:
    """Adds an available scorer to the case as a secondary one. With `primary`, makes it primary; it may be one of the case's."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    case, panel, url = workbench.case, workbench.panel, _back_url(request, workbench)
    form = CaseScorerForm([*(panel.scorers if primary else ()), *panel.available_scorers], request.POST)
    if not form.is_valid():
        return conflict(request, url, form_error(form))
    scorer: Scorer = form.cleaned_data["scorer"]
    is_new = scorer not in panel.scorers
    try:
        if is_new:
            scorers.add_scorer(case=case, scorer=scorer, by=request.user)
        if primary:
            scorers.make_primary(case=case, scorer=scorer, by=request.user)
    except ValidationError as error:
        return conflict(request, url, f"{error_text(error)} Remove one of them first.")
    if is_new:
        rescore_after_change_of_scorers(case)
    return redirect_to(request, url)


@require_POST
def remove(request: HtmxRequest, case_id: int, scorer_id: int) -> HttpResponse:
    """Removes a scorer from the case; its scores stay stored, and `restore` undoes it."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    url = _back_url(request, workbench)
    position = next((index for index, version in enumerate(workbench.versions) if version.scorer_id == scorer_id), None)
    if position is None:
        return conflict(request, url, "This scorer has already been removed from the case.")
    version = workbench.versions[position]
    try:
        scorers.drop_scorer(case=workbench.case, scorer=version.scorer, by=request.user)
    except ValidationError as error:
        return conflict(request, url, error)
    undo = reverse(
        "case_scorer_restore", args=[case_id, scorer_id], query={"position": position, "version": version.number}
    )
    text = f"{version.scorer.name} removed from this case; its scores are kept"
    return redirect_with_message(request, url, text, undo=undo)


@require_POST
def restore(request: HtmxRequest, case_id: int, scorer_id: int) -> HttpResponse:
    """Undoes `remove`: adds the scorer at the position and in the version that it had."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    case, url = workbench.case, workbench.queries.url()
    scorer = get_object_or_404(_restorable_scorers(case, request.user), pk=scorer_id)
    form = RestoreScorerForm(request.GET)
    if not form.is_valid():
        return conflict(request, url, form_error(form))
    version = scorer.versions.filter(number=form.cleaned_data["version"] or 0)
    restored = [other for other in workbench.panel.scorers if other.pk != scorer_id]
    restored.insert(form.cleaned_data["position"] or 0, scorer)
    try:
        scorers.choose_scorers(case=case, scorers=restored, versions=list(version), by=request.user)
    except ValidationError as error:
        return conflict(request, url, error)
    rescore_after_change_of_scorers(case)
    return redirect_to(request, url)


def _restorable_scorers(case: Case, user: User) -> "QuerySet[Scorer]":
    """Scorers that the user could choose, retired or not, and those with scores in this case, regardless of their owner."""
    available = Q(only_for=None) | Q(only_for=case)
    used: QuerySet[Scorer] = Scorer.objects.filter(versions__case_scores__run__case=case)
    visible: QuerySet[Scorer] = Scorer.objects.visible_to(user).filter(available)
    return (visible | used).distinct()


@require_POST
def adopt(request: HtmxRequest, case_id: int, scorer_id: int) -> HttpResponse:
    """Scores the case with the newest version of one of its scorers from now on."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    scorer = get_object_or_404(Scorer.objects.filter(case_scorers__case=workbench.case), pk=scorer_id)
    if scorers.adopt(scorer=scorer, cases=[workbench.case], by=request.user):
        rescore_after_change_of_scorers(workbench.case)
    return redirect_to(request, workbench.queries.url())


@require_POST
def score_again(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Scores the queries again whose scorer failed in the run shown, for example because a script ran out of time."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    run, url = workbench.selection.finished_run, workbench.queries.url(**workbench.selection.parameters)
    if run is None:
        return conflict(request, url, "No run is complete. Wait for it, or start one, then score again.")
    tasks.send(tasks.rescore_failed, run.pk)
    return redirect_with_message(request, url, "The queries whose scorer failed are being scored again.")
