"""The scorer preview: scores typed grades, or a query of a case, with a saved or unsaved scorer. Stores nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from relevancy import scorers, scores
from relevancy.models import Case, CaseQuery, Query, Run, Scorer, ScorerDefinition
from relevancy.models.errors import error_location, error_text
from relevancy.scores import ScorerPreview
from relevancy.scoring.errors import ScoringError
from relevancy.views.forms import form_error
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


@require_POST
def scorer_try(request: HtmxRequest) -> HttpResponse:
    """Previews the newest version of a saved scorer, or the definition in the form. Returns a fragment to htmx, otherwise a page."""
    number = request.POST.get("scorer", "")
    scorer = get_scorer(request, parse_number(number)) if number.isdecimal() else None
    preview_form = PreviewForm(request.user, request.POST, scorer=scorer)
    result = build_preview(request, preview_form, scorer or ScorerForm(request.POST))
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


def build_preview(request: HtmxRequest, preview_form: PreviewForm, source: ScorerForm | Scorer) -> PreviewResult:
    """Returns the preview of the definition in the form, or of a saved scorer."""
    result = PreviewResult(name=source.name if isinstance(source, Scorer) else "Unsaved scorer")
    try:
        if not preview_form.is_valid():
            raise form_error(preview_form)
        if isinstance(source, Scorer):
            definition, misses_range = ScorerDefinition.of(scorers.newest_version(source)), False
        else:
            definition, misses_range = _unsaved(request, source), source.misses_output_range
        if definition.script:
            definition = _check_range(definition, misses_range, result)
        data = preview_form.cleaned_data
        if data["on"] == "query":
            result.matches, result.query = _find_query(data)
        elif not data["grades"].strip() and not data["known"].strip():
            raise ValidationError("Type grades in rank order, such as 3 2 - 1.")
        result.preview = _score(definition, data, result.query)
    except (ValidationError, ScoringError) as error:
        result.problems = error.messages if isinstance(error, ValidationError) else [str(error)]
        result.line, result.column = error_location(error) if isinstance(error, ValidationError) else (None, None)
        return result
    if other := data["compare"]:
        result.other_name = other.name
        rated = result.preview.scale  # typed grades keep the scale of the previewed scorer
        try:
            definition = ScorerDefinition.of(scorers.newest_version(other))
            result.other = _score(definition, data, result.query, f"{rated.lowest:g}:{rated.top:g}")
        except (ValidationError, ScoringError) as error:
            result.other_problem = error_text(error)
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


def _unsaved(request: HtmxRequest, form: ScorerForm) -> ScorerDefinition:
    """Returns the definition in the form. Raises `ValidationError`."""
    invalid = {name: errors for name, errors in form.errors.items() if name not in {"name", "description"}}
    if form.misses_output_range:
        invalid.pop("output_range", None)
    titles = {name: form.fields[name].label or name.title() for name in invalid if name in form.fields}
    problems = [f"{titles.get(name, '')}: {error}" for name, errors in invalid.items() for error in errors]
    if form.scorer_definition is None or problems:
        raise ValidationError(problems)
    if form.scorer_definition.script and not scorers.may_write_scripts(request.user):
        raise ValidationError("The admins of this site have disabled user scripts. Choose a measure.")
    return scorers.check(form.scorer_definition)


def _find_query(data: dict[str, Any]) -> tuple[Sequence[Query], Query]:
    """Returns the queries that match the search text, and the one that was selected, else an exact match, else the first."""
    if not data["case"]:
        raise ValidationError("Choose a case.")
    matches, text = _matching(data["case"], data["find"]), data["find"].strip()
    if not matches:
        raise ValidationError(
            f"No query of {data['case']} contains “{text}”." if text else "The case has no queries yet."
        )
    return matches, max(matches, key=lambda query: (query.pk == data["query"], query.text == text))


def _score(definition: ScorerDefinition, data: dict[str, Any], query: Query | None, scale: str = "") -> ScorerPreview:
    """Scores a query in the newest run of its case, or typed grades. scale: of typed grades; empty for that of the definition."""
    if query is None:
        return scores.preview_grades(definition, grades=data["grades"], known=data["known"], scale=scale)
    run = Run.objects.newest_for(data["case"]).with_details().first()
    if run is None:
        raise ValidationError(f"{data['case']} has no run yet. Run an attempt first, or type grades.")
    preview = scores.preview_query(definition, run=run, query_id=query.pk)
    if preview is None:
        raise ValidationError(
            f"Run {run.number} has no results for “{query}”: it was not searched, or the search failed."
        )
    return preview


def _matching(case: Case, text: str) -> list[Query]:
    case_queries = CaseQuery.objects.filter(case=case).present().select_related("query").order_by("position", "id")
    if text.strip():
        case_queries = case_queries.filter(query__text__icontains=text.strip())
    return [case_query.query for case_query in case_queries[:MATCHES]]
