"""The studies of a case: what they have found, a new one, and the buttons of one."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import Count, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from relevancy import runs
from relevancy.models import Attempt, Case, Role
from relevancy.models.errors import error_text
from relevancy.views.forms import add_errors, form_error
from relevancy.views.requests import HtmxRequest, parse_number
from relevancy.views.responses import conflict, redirect_with_message
from relevancy.views.workbench.access import get_case
from relevancy.wording import counted

from . import sealed_queries, studies, tasks
from .forms import MoreTrialsForm, SealedTagForm, StudyForm
from .models import Study, StudyTrial
from .study_page import StudyPage, StudyState

STUDIES_PER_PAGE = 25
MAX_PARENTS = 100


@require_GET
def study_list(request: HtmxRequest, case_id: int) -> HttpResponse:
    """The studies of a case, the newest first. The list asks for itself while one of them is active."""
    case = get_case(request, case_id)
    page = Paginator(case.studies.select_related("parent").order_by("-number"), STUDIES_PER_PAGE).get_page(
        request.GET.get("page")
    )
    listed = list(page)
    trials = StudyTrial.objects.filter(study__in=listed).order_by().values_list("study").annotate(Count("pk"))
    done = dict(trials)
    states = [StudyState(study, done.get(study.pk, 0)) for study in listed]
    context = {
        "case": case,
        "page": page,
        "rows": states,
        "is_active": any(state.study.is_active for state in states),
        "has_knobs": _parents(case).exists(),
    }
    return render(request, "studies/_list.html" if request.htmx else "studies/list.html", context)


@require_http_methods(["GET", "POST"])
def study_new(request: HtmxRequest, case_id: int) -> HttpResponse:
    """The form of a new study of an attempt, and what such a study would do; creates it."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    parent = _parent(request, case)
    if parent is None:
        return render(request, "studies/no_knobs.html", {"case": case, "attempt": case.attempts.last()})
    form = StudyForm(case, parent, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            study = studies.create(
                case=case, parent=parent, version=form.version, settings=form.settings, by=request.user
            )
        except ValidationError as error:
            add_errors(form, error)
        else:
            tasks.enqueue(study.pk)
            return redirect_with_message(request, _url(study), f"{study} started.")
    context = {
        "case": case,
        "form": form,
        "attempt": parent,
        "parents": _parents(case)[:MAX_PARENTS],
        **_describe_plan(case, parent, form),
        "why_not": runs.why_not_usable(case=case, endpoint=parent.endpoint, by=request.user),
    }
    return render(request, "studies/new.html", context, status=422 if form.is_bound else 200)


@require_POST
def study_plan(request: HtmxRequest, case_id: int) -> HttpResponse:
    """What a study with the entered settings would do, or why it cannot be started. Sends nothing to the engine."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    parent = _parent(request, case)
    if parent is None:
        raise Http404("The attempt has no knobs.")
    form = StudyForm(case, parent, request.POST)
    form.is_valid()
    return render(request, "studies/_plan.html", {"case": case, "is_live": True, **_describe_plan(case, parent, form)})


@require_GET
def study(request: HtmxRequest, case_id: int, study_number: int) -> HttpResponse:
    """What a study has found. Its state and its charts ask for themselves while it is active or its figures are computed again."""
    case = get_case(request, case_id)
    found = _get_study(case, study_number)
    is_outdated = tasks.enqueue_if_outdated(found)
    page = StudyPage(case, found, request.user, request.GET)
    context = {"case": case, "study": found, "page": page, "state": page.state, "is_outdated": is_outdated}
    part = request.GET.get("part", "") if request.htmx else ""
    if part and not (found.is_active or is_outdated):
        return HttpResponseClientRefresh()
    if part == "charts":
        return render(request, "studies/_charts.html", context)
    return render(request, "studies/_state.html" if part else "studies/study.html", context)


@require_POST
def study_stop(request: HtmxRequest, case_id: int, study_number: int) -> HttpResponse:
    """Lets a study end. What it has found stays."""
    found = _get_editable(request, case_id, study_number)
    studies.stop(study=found, by=request.user)
    return redirect_with_message(request, _url(found), f"{found} stops within seconds. What it has found is kept.")


@require_POST
def study_continue(request: HtmxRequest, case_id: int, study_number: int) -> HttpResponse:
    """Lets a study that has ended go on, with `more` trials beyond its budget."""
    found = _get_editable(request, case_id, study_number)
    form = MoreTrialsForm(request.POST)
    if not form.is_valid():
        return conflict(request, _url(found), form_error(form))
    try:
        studies.go_on(study=found, by=request.user, more_trials=form.cleaned_data["more"] or 0)
    except ValidationError as error:
        return conflict(request, _url(found), error)
    tasks.enqueue(found.pk)
    return redirect_with_message(request, _url(found), f"{found} goes on.")


@require_POST
def study_open_sealed(request: HtmxRequest, case_id: int, study_number: int) -> HttpResponse:
    """Opens the sealed queries of a study, once, for the chosen setting, or the best."""
    found = _get_editable(request, case_id, study_number)
    try:
        studies.open_sealed(study=found, by=request.user)
    except ValidationError as error:
        return conflict(request, _url(found), error)
    tasks.enqueue(found.pk)
    return redirect_with_message(request, _url(found), f"The sealed queries were opened for {found}.")


@require_http_methods(["GET", "POST"])
def sealed(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Which queries of a case are sealed, and how often such queries were opened. Editors choose their tag."""
    case = get_case(request, case_id, needs=Role.EDITOR if request.method == "POST" else Role.VIEWER)
    form = SealedTagForm(case, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            sealed_queries.set_tag(case=case, tag=form.cleaned_data["tag"], by=request.user)
        except ValidationError as error:
            add_errors(form, error)
        else:
            count = len(sealed_queries.find_sealed(case))
            text = f"{counted(count, 'query is', 'queries are')} sealed." if count else "No queries are sealed."
            return redirect_with_message(request, reverse("sealed_queries", args=[case.pk]), text)
    context = {
        "case": case,
        "form": form,
        "tag": sealed_queries.read_tag(case),
        "count": len(sealed_queries.find_sealed(case)),
        "openings": case.sealed_openings.select_related("opened_by", "study"),
        "counts": sealed_queries.describe_openings(case),
    }
    return render(request, "studies/sealed.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
def study_delete(request: HtmxRequest, case_id: int, study_number: int) -> HttpResponse:
    """Asks whether a study is to be deleted, and deletes it."""
    found = _get_editable(request, case_id, study_number)
    if request.method == "GET":
        context = {"case": found.case, "study": found, "state": StudyState(found, found.trials.count())}
        return render(request, "studies/delete.html", context)
    try:
        studies.delete(study=found, by=request.user)
    except ValidationError as error:
        return conflict(request, _url(found), error)
    return redirect_with_message(request, reverse("studies", args=[case_id]), f"{found} is deleted.")


@require_POST
def study_adopt(request: HtmxRequest, case_id: int, study_number: int) -> HttpResponse:
    """Makes an attempt of the trial `trial`, and shows it in the editor."""
    found = _get_editable(request, case_id, study_number)
    trial = get_object_or_404(found.trials, number=parse_number(request.POST.get("trial", "")))
    try:
        attempt = studies.adopt(study=found, trial=trial, by=request.user)
    except ValidationError as error:
        return conflict(request, _url(found), error)
    url = reverse("case", args=[case_id], query={"attempt": attempt.number}) + "#tune"
    text = f"Attempt {attempt.number} has the settings of trial {trial.number}. Run it to compare it."
    return redirect_with_message(request, url, text)


def _parents(case: Case) -> QuerySet[Attempt]:
    """Returns the attempts of a case that have knobs, the newest first."""
    return (
        case.attempts.filter(archived_at=None).exclude(knobs={}).select_related("endpoint__owner").order_by("-number")
    )


def _parent(request: HtmxRequest, case: Case) -> Attempt | None:
    """Returns the attempt with the number `attempt`, or the newest with knobs; None if no attempt has any."""
    number = parse_number(request.POST.get("attempt") or request.GET.get("attempt", ""))
    attempt: Attempt | None = get_object_or_404(_parents(case), number=number) if number else _parents(case).first()
    return attempt


def _describe_plan(case: Case, parent: Attempt, form: StudyForm) -> dict[str, object]:
    """Returns what a study would do, in sentences, or why it cannot be started."""
    if not form.versions:
        return {"refusal": "The case has no scorer. Add a measure in the settings of the case."}
    if form.is_bound and (problem := form.first_problem()):
        return {"refusal": problem}
    chosen = form.version if form.is_bound else next((item for item in form.versions if not item.script), None)
    if chosen is None:
        return {
            "refusal": "A study needs a measure, which scores thousands of rankings within seconds. Add one to the case."
        }
    settings = form.settings if form.is_bound else form.initial_settings
    try:
        plan = studies.plan_study(case=case, parent=parent, version=chosen, settings=settings)
    except ValidationError as error:
        return {"refusal": error_text(error)}
    return {"plan": plan, "sentences": studies.describe_plan(plan)}


def _get_study(case: Case, number: int) -> Study:
    related = ("parent__endpoint__owner", "version__scorer", "created_by")
    found: Study = get_object_or_404(case.studies.select_related(*related), number=number)
    found.case = case
    return found


def _get_editable(request: HtmxRequest, case_id: int, study_number: int) -> Study:
    return _get_study(get_case(request, case_id, needs=Role.EDITOR), study_number)


def _url(study: Study) -> str:
    return reverse("study", args=[study.case_id, study.number])
