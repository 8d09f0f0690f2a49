"""New scorers and changes to those there are: a form with the test bench beside it."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from relevancy import cases, evaluation, tasks
from relevancy.evaluation import ScoringError
from relevancy.models import Scorer, ScorerVersion

from . import scorers_show
from .answers import said
from .forms import BenchForm, ScorerForm
from .scorers import uses_of
from .scorers_access import editable, editable_cases, menu, newest
from .scorers_bench import Answer, run
from .scorers_measure import measure_context

STARTER = """// Runs once for each query; setScore takes its score.
const mean = avgRating100(10);

if (mean === null) {
  setScore(null);   // nothing rated: not scoreable
} else {
  const distance = editDistanceFromBest(10);
  console.log(`mean ${mean}, distance ${distance}`);
  setScore(mean - distance);
}
"""
NO_SCRIPTS = "The admins of this site have switched scripts of one’s own off. Choose a measure."


@require_http_methods(["GET", "POST"])
def scorer_new(request: HttpRequest) -> HttpResponse:
    """A measure unless the address says kind=script."""
    kind = request.POST.get("kind") or request.GET.get("kind", "measure")
    _check_policy(request, kind)
    initial = {
        "kind": kind,
        "scale": scorers_show.scale_text(newest(cases.default_scorer()).scale),
        "measure": request.GET.get("measure", "nDCG"),
        "cutoff": 10,
        "script": STARTER,
        "gives": "100",
    }
    return _work(request, None, initial)


@require_http_methods(["GET", "POST"])
def scorer_edit(request: HttpRequest, scorer_id: int) -> HttpResponse:
    """Says which cases it touches; a changed definition is a new version, and those cases keep theirs until they are rescored."""
    scorer = editable(request, scorer_id)
    version = newest(scorer)
    _check_policy(request, "script" if version.script else "measure")
    return _work(request, scorer, _as_initial(scorer, version))


def _check_policy(request: HttpRequest, kind: str) -> None:
    """403 before anything is typed; what was typed already is refused by the workroom, and kept."""
    if kind == "script" and request.method == "GET" and not cases.scorers.may_write_scripts(request.user):
        raise PermissionDenied(NO_SCRIPTS)


def _as_initial(scorer: Scorer, version: ScorerVersion) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kind": "script" if version.script else "measure",
        "name": scorer.name,
        "description": scorer.description,
        "scale": scorers_show.scale_text(version.scale),
        "script": version.script,
        "gives": version.gives,
        "depth": version.depth,
        "zero": version.count_unscoreable_as_zero,
    }
    if version.measure:
        try:
            measure = evaluation.measure_of(version.measure)
        except ScoringError:
            return found  # of a package that is gone: the form starts with another one
        found |= {"measure": measure.name, "cutoff": measure.cutoff}
        found |= {f"p_{name}": value for name, value in measure.parameters.items()}
    return found


def _work(request: HttpRequest, scorer: Scorer | None, initial: dict[str, Any]) -> HttpResponse:
    communal = scorer is None and request.user.is_superuser  # type: ignore[union-attr]
    form = ScorerForm(request.POST or None, initial=initial, offer_communal=communal)
    bench = BenchForm(request.user, request.POST or None, initial={"grades": _typed(initial)}, scorer=scorer)
    do, answer = request.POST.get("do", ""), None
    if do in {"run", "show"}:
        answer = run(request, bench, form, None) if do == "run" else None
        form.errors.pop("name", None)  # not needed for looking
    elif request.method == "POST" and form.is_valid():
        try:
            return _for_case(request, form, bench, scorer) if do == "case" else _save(request, form, scorer)
        except cases.Refused as reason:
            form.refuse(reason)
    return _page(request, scorer, form, bench, answer)


def _typed(initial: dict[str, Any]) -> str:
    return scorers_show.as_typed(cases.parse_scale(initial["scale"]))


def _save(request: HttpRequest, form: ScorerForm, scorer: Scorer | None) -> HttpResponse:
    data, draft = form.cleaned_data, form.draft
    assert draft is not None  # the form is valid
    what: dict[str, Any] = {
        "name": data["name"],
        "description": data["description"],
        "draft": draft,
        "by": request.user,
    }
    if scorer is None:
        scorer = cases.scorers.create(communal=data.get("communal", False), **what)
        text = f"{scorer.name} is made."
    else:
        before = newest(scorer).number
        version = cases.scorers.change(scorer=scorer, **what)
        text = f"{scorer.name} is saved{f' as version {version.number}' if version.number > before else ''}."
    return said(request, reverse("scorer", args=[scorer.pk]), text, level=messages.SUCCESS)


def _for_case(request: HttpRequest, form: ScorerForm, bench: BenchForm, scorer: Scorer | None) -> HttpResponse:
    """What is in the form as a scorer of one case only; that case is scored with it in the background."""
    case = bench.cleaned_data.get("case") if bench.is_valid() else None
    if case is None:
        raise cases.Refused("Choose the case on the test bench first, under “A real query”.")
    if not editable_cases(request).filter(pk=case.pk).exists():
        raise cases.Refused(f"Only editors of {case} choose its scorers. Save it, and ask one of them to choose it.")
    data, draft = form.cleaned_data, form.draft
    assert draft is not None  # the form is valid
    what = {"name": data["name"], "description": data["description"], "draft": draft, "by": request.user}
    made = cases.scorers.create_for_case(case=case, primary=bench.cleaned_data["primary"], **what)
    tasks.send(tasks.rescore_case, case.pk)
    return said(
        request, reverse("case", args=[case.pk]), f"{made.name} scores {case} now, and is offered nowhere else."
    )


def _page(
    request: HttpRequest, scorer: Scorer | None, form: ScorerForm, bench: BenchForm, answer: Answer | None
) -> HttpResponse:
    context = {
        "menu": menu(request, scorer),
        "scorer": scorer,
        "form": form,
        "bench": bench,
        "answer": answer,
        "reference": list(evaluation.script_reference()) if form.which == "script" else [],
        "may_script": cases.scorers.may_write_scripts(request.user),
        **measure_context(form),
        **(uses_of(request, scorer) if scorer else {}),
    }
    return render(request, "scorer/form.html", context, status=422 if form.errors and answer is None else 200)
