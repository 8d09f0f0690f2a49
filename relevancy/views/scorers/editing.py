"""Creating and editing scorers: a form with the scorer preview next to it."""

from enum import StrEnum

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from relevancy import scorers, scores, tasks
from relevancy.models import Role, Scorer, ScorerDefinition, ScorerVersion
from relevancy.scoring.errors import ScoringError
from relevancy.views.forms import InitialValues
from relevancy.views.requests import HtmxRequest, submitted
from relevancy.views.responses import redirect_with_message

from . import descriptions
from .forms import ScorerForm
from .library import editable_cases, get_scorer, menu
from .measure import measure_context
from .pages import uses_of
from .preview import build_preview, wrong_range
from .preview_forms import PreviewForm

STARTER = """// Runs once for each query; setScore sets its score.
const mean = avgRating100(10);

if (mean === null) {
  setScore(null);   // no rated results: not scoreable
} else {
  const distance = editDistanceFromBest(10);
  console.log(`mean ${mean}, distance ${distance}`);
  setScore(mean - distance);
}
"""
NO_SCRIPTS = "The admins of this site have disabled user scripts. Create a measure instead."


class ScorerAction(StrEnum):
    """What the submit buttons of the form do: save, save for one case, preview the scores, show the fields of a measure."""

    SAVE = "save"
    SAVE_FOR_CASE = "case"
    RUN = "run"
    SHOW = "show"


@require_http_methods(["GET", "POST"])
def scorer_new(request: HtmxRequest) -> HttpResponse:
    """Creates a scorer: a script with `kind=script` in the URL, otherwise a measure."""
    kind = request.POST.get("kind") or request.GET.get("kind", "measure")
    _check_policy(request, kind)
    initial: InitialValues = {
        "kind": kind,
        "scale": descriptions.scale_text(scorers.newest_version(scorers.default_scorer()).scale),
        "measure": request.GET.get("measure", "nDCG"),
        "cutoff": None if kind == "script" else 10,  # a script declares its own
        "script": STARTER,
        "output_range": "",  # asked: a wrong one makes every score wrong
    }
    return _edit(request, None, initial)


@require_http_methods(["GET", "POST"])
def scorer_edit(request: HtmxRequest, scorer_id: int) -> HttpResponse:
    """Edits a scorer. A changed definition becomes a new version; cases keep their version until they are rescored."""
    scorer = get_scorer(request, scorer_id, Role.EDITOR)
    version = scorers.newest_version(scorer)
    _check_policy(request, "script" if version.script else "measure")
    return _edit(request, scorer, _as_initial(scorer, version))


def _check_policy(request: HtmxRequest, kind: str) -> None:
    """Raises `PermissionDenied` if the form for scripts is opened by a user who cannot write scripts.

    Only checks GET requests: on saving, the service rejects the script and the form keeps the input.
    """
    if kind == "script" and request.method == "GET" and not scorers.may_write_scripts(request.user):
        raise PermissionDenied(NO_SCRIPTS)


def _as_initial(scorer: Scorer, version: ScorerVersion) -> InitialValues:
    initial: InitialValues = {
        **vars(ScorerDefinition.of(version)),
        "kind": "script" if version.script else "measure",
        "name": scorer.name,
        "description": scorer.description,
        "scale": descriptions.scale_text(version.scale),
    }
    if version.measure:
        try:
            measure = scorers.parse_measure(version.measure)
        except ScoringError:
            return initial  # The package of the measure is not installed: the form starts with another measure.
        initial |= {"measure": measure.name, "cutoff": measure.cutoff}
        initial |= {f"p_{name}": value for name, value in measure.parameters.items()}
    return initial


def _edit(request: HtmxRequest, scorer: Scorer | None, initial: InitialValues) -> HttpResponse:
    can_create_global = scorer is None and request.user.is_superuser
    form = ScorerForm(request.POST or None, initial=initial, offer_global=can_create_global)
    grades = descriptions.example_grades(scorers.parse_scale(str(initial["scale"])))
    preview_form = PreviewForm(request.user, request.POST or None, initial={"grades": grades}, scorer=scorer)
    action, result = submitted(request, ScorerAction, default=ScorerAction.SAVE), None
    if action in {ScorerAction.RUN, ScorerAction.SHOW}:
        result = build_preview(request, preview_form, form) if action == ScorerAction.RUN else None
        form.errors.pop("name", None)  # A preview needs no name.
        if form.misses_output_range:
            form.errors.pop("output_range", None)
    elif request.method == "POST" and form.is_valid():
        try:
            if action == ScorerAction.SAVE_FOR_CASE:
                return _for_case(request, form, preview_form)
            return _save(request, form, scorer)
        except ValidationError as error:
            form.add_service_errors(error)
    context = {
        "menu": menu(request, scorer),
        "scorer": scorer,
        "form": form,
        "preview_form": preview_form,
        "result": result,
        "reference": scorers.SCRIPT_REFERENCE if form.selected_kind == "script" else [],
        "can_write_scripts": scorers.may_write_scripts(request.user),
        **measure_context(form),
        **(uses_of(request, scorer) if scorer else {}),
    }
    return render(request, "scorers/form.html", context, status=422 if form.errors and result is None else 200)


def _save(request: HtmxRequest, form: ScorerForm, scorer: Scorer | None) -> HttpResponse:
    values = {**form.values, "by": request.user}
    if scorer is None:
        scorer = scorers.create(is_global=form.cleaned_data.get("is_global", False), **values)
        text = f"Scorer “{scorer.name}” created."
    else:
        previous = scorers.newest_version(scorer).number
        version = scorers.change(scorer=scorer, **values)
        text = f"{scorer.name} saved{f' as version {version.number}' if version.number > previous else ''}."
    definition = form.values["definition"]
    if warning := wrong_range(definition, scores.suggest_output_range(definition)):
        messages.warning(request, warning)
    return redirect_with_message(request, reverse("scorer", args=[scorer.pk]), text, level=messages.SUCCESS)


def _for_case(request: HtmxRequest, form: ScorerForm, preview_form: PreviewForm) -> HttpResponse:
    """Saves the form as a scorer of one case only, and rescores that case in the background."""
    case = preview_form.cleaned_data.get("case") if preview_form.is_valid() else None
    if case is None:
        raise ValidationError("Choose the case in the scorer preview first, under “A real query”.")
    if not editable_cases(request).filter(pk=case.pk).exists():
        raise ValidationError(
            f"Only editors of {case} can change its scorers. Save the scorer and ask an editor to add it."
        )
    primary = preview_form.cleaned_data["primary"]
    created = scorers.create_for_case(case=case, primary=primary, by=request.user, **form.values)
    tasks.enqueue_book_rescore(case.book_id)
    return redirect_with_message(
        request,
        reverse("case", args=[case.pk]),
        f"{created.name} now scores {case}. It is available in this case only.",
    )
