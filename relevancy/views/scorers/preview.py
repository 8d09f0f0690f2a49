"""The scorer preview: scores typed grades, or a query of a case, with a saved or unsaved scorer. Stores nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from relevancy import scorers, scores
from relevancy.models import Case, CaseQuery, Query, Run, Scorer, ScorerDefinition
from relevancy.models.errors import error_location, error_text
from relevancy.scores import ScorerPreview
from relevancy.scoring.errors import ScoringError
from relevancy.views.requests import HtmxRequest, parse_number

from .forms import ScorerForm
from .library import get_scorer
from .preview_forms import PreviewForm

MATCHES = 30


@dataclass
class PreviewResult:
    """The result of a preview: `preview`, or the `problems` that prevented it.

    line, column: the location of a syntax error in the script.
    other, other_name, other_problem: the same ranking under the scorer to compare with.
    matches: the queries of the case that match the search text.
    query: the query that was scored.
    range_note: what is to be said about the range of a script's scores; `is_range_wrong`: it is not the one that was chosen.
    """

    preview: ScorerPreview | None = None
    name: str = ""
    problems: list[str] = field(default_factory=list)
    line: int | None = None
    column: int | None = None
    other: ScorerPreview | None = None
    other_name: str = ""
    other_problem: str = ""
    matches: Sequence[Query] = ()
    query: Query | None = None
    range_note: str = ""
    is_range_wrong: bool = False

    @property
    def difference(self) -> float | None:
        """How many points the other scorer's score is higher; None if either has no score."""
        if self.preview is None or self.other is None or self.preview.score is None or self.other.score is None:
            return None
        return self.other.score - self.preview.score


class PreviewNotPossible(Exception):
    """There is nothing to score; the message explains why."""


@require_POST
def scorer_try(request: HtmxRequest) -> HttpResponse:
    """Previews the newest version of a saved scorer, or the definition in the form. Returns a fragment to htmx, otherwise a page."""
    number = request.POST.get("scorer", "")
    scorer = get_scorer(request, parse_number(number)) if number.isdecimal() else None
    preview_form = PreviewForm(request.user, request.POST, scorer=scorer)
    form = None if scorer else ScorerForm(request.POST)
    result = build_preview(request, preview_form, form, scorer)
    context = {"result": result, "preview_form": preview_form, "scorer": scorer}
    page = "scorers/_preview_swap.html" if request.htmx else "scorers/preview.html"
    return render(request, page, context, status=422 if result.problems else 200)


@require_POST
def scorer_queries(request: HtmxRequest) -> HttpResponse:
    """The queries of a case that contain the search text, as options."""
    preview_form = PreviewForm(request.user, request.POST)
    preview_form.is_valid()
    case = preview_form.cleaned_data.get("case")
    matches = _matching(case, preview_form.cleaned_data.get("find", "")) if case else []
    return render(request, "scorers/_matches.html", {"matches": matches, "case": case, "chosen": None})


def build_preview(
    request: HtmxRequest, preview_form: PreviewForm, form: ScorerForm | None, scorer: Scorer | None
) -> PreviewResult:
    """Returns the preview of the definition in the form, or of a saved scorer."""
    result = PreviewResult(name=scorer.name if scorer else "Unsaved scorer")
    if not preview_form.is_valid():
        result.problems = [str(error) for errors in preview_form.errors.values() for error in errors]
        return result
    definition = ScorerDefinition.of(scorers.newest_version(scorer)) if scorer else _unsaved(request, form, result)
    if definition is None:
        return result
    if definition.script:
        definition = _check_range(definition, form is not None and form.misses_output_range, result)
    try:
        result.preview = _score(preview_form, definition, result)
    except (PreviewNotPossible, ScoringError) as reason:
        result.problems = [str(reason)]
    other = preview_form.cleaned_data.get("compare")
    if other and result.preview:
        result.other_name = other.name
        _compare(result, preview_form, other)
    return result


def wrong_range(definition: ScorerDefinition, suggested: str) -> str:
    """Returns what is wrong with the chosen range of a script's scores; an empty string if nothing seems to be."""
    if suggested == "1" and definition.output_range == "100":
        return (
            "All scores of this script for example rankings lie between 0 and 1, but it is said to give 0–100: its best score "
            "would be 1 of 100. If it gives 0–1, choose that."
        )
    if suggested == "100" and definition.output_range == "1":
        return (
            "This script gives scores above 1 for example rankings, but it is said to give 0–1: they are cut to 1, which is "
            "100 of 100. If it gives 0–100, choose that."
        )
    return ""


def _check_range(definition: ScorerDefinition, is_missing: bool, result: PreviewResult) -> ScorerDefinition:
    """Returns the definition with the range that its scores suggest if none was chosen, and adds what is to be said to the result."""
    suggested = scores.suggest_output_range(definition)
    if not is_missing:
        result.range_note = wrong_range(definition, suggested)
        result.is_range_wrong = bool(result.range_note)
        return definition
    outcome = {
        "1": "All its scores for example rankings lie between 0 and 1, so this preview takes it as 0–1.",
        "100": "It gives scores above 1 for example rankings, so this preview takes it as 0–100.",
        "": "Example rankings do not tell. This preview takes it as 0–100.",
    }[suggested]
    result.range_note = f"You have not chosen what the script gives. {outcome}"
    return replace(definition, output_range=suggested or "100")


def _unsaved(request: HtmxRequest, form: ScorerForm | None, result: PreviewResult) -> ScorerDefinition | None:
    """Returns the definition in the form. If it is invalid, adds the problems to `result` and returns None."""
    if form is None:
        return None
    invalid = {name: errors for name, errors in form.errors.items() if name not in {"name", "description"}}
    if form.misses_output_range:
        invalid.pop("output_range", None)
    if invalid or form.scorer_definition is None:
        titles = {name: form.fields[name].label or name.title() for name in invalid if name in form.fields}
        result.problems = [f"{titles.get(name, '')}: {error}" for name, errors in invalid.items() for error in errors]
        return None
    if form.scorer_definition.script and not scorers.may_write_scripts(request.user):
        result.problems = ["The admins of this site have disabled user scripts. Choose a measure."]
        return None
    try:
        return scorers.check(form.scorer_definition)
    except ValidationError as error:
        result.problems = [error_text(error)]
        result.line, result.column = error_location(error)
        return None


def _score(preview_form: PreviewForm, definition: ScorerDefinition, result: PreviewResult) -> ScorerPreview:
    data = preview_form.cleaned_data
    if data["on"] == "typed":
        if not data["grades"].strip() and not data["known"].strip():
            raise PreviewNotPossible("Type grades in rank order, such as 3 2 - 1.")
        return scores.preview_grades(definition, grades=data["grades"], known=data["known"])
    if not data["case"]:
        raise PreviewNotPossible("Choose a case.")
    run = Run.objects.newest_for(data["case"]).with_details().first()
    if run is None:
        raise PreviewNotPossible(f"{data['case']} has no run yet. Run an attempt first, or type grades.")
    result.matches = _matching(data["case"], data["find"])
    result.query = _chosen(preview_form, result.matches)
    preview = scores.preview_query(definition, run=run, query_id=result.query.pk)
    if preview is None:
        raise PreviewNotPossible(
            f"Run {run.number} has no results for “{result.query}”: it was not searched, or the search failed."
        )
    return preview


def _matching(case: Case, text: str) -> list[Query]:
    case_queries = CaseQuery.objects.filter(case=case).present().select_related("query").order_by("position", "id")
    if text.strip():
        case_queries = case_queries.filter(query__text__icontains=text.strip())
    return [case_query.query for case_query in case_queries[:MATCHES]]


def _chosen(preview_form: PreviewForm, matches: Sequence[Query]) -> Query:
    """Returns the selected query if it matches the search text; otherwise an exact match, or the first match."""
    selected = next((query for query in matches if query.pk == preview_form.cleaned_data["query"]), None)
    text = preview_form.cleaned_data["find"].strip()
    exact = next((query for query in matches if query.text == text), None)
    query = selected or exact or next(iter(matches), None)
    if query is None:
        raise PreviewNotPossible(
            f"No query of {preview_form.cleaned_data['case']} contains “{text}”."
            if text
            else "The case has no queries yet."
        )
    return query


def _compare(result: PreviewResult, preview_form: PreviewForm, other: Scorer) -> None:
    """Adds the score of the same ranking under another scorer. Typed grades keep the scale of the previewed scorer."""
    definition = ScorerDefinition.of(scorers.newest_version(other))
    data = preview_form.cleaned_data
    try:
        if data["on"] == "typed" and result.preview:
            scale = f"{result.preview.scale.lowest:g}:{result.preview.scale.top:g}"
            result.other = scores.preview_grades(definition, grades=data["grades"], known=data["known"], scale=scale)
        elif result.query:
            run = Run.objects.newest_for(data["case"]).with_details().first()
            result.other = scores.preview_query(definition, run=run, query_id=result.query.pk) if run else None
    except ScoringError as reason:
        result.other_problem = str(reason)
