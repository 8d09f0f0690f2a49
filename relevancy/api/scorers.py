"""Scorers, and scoring of typed grades."""

from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema
from pydantic import Field

from relevancy import scorers, scores
from relevancy.models import Scorer, ScorerDefinition, ScorerVersion

from .access import Number
from .authentication import READ, ApiRequest
from .paging import Page, PageParameters, paginate
from .scales import Scale

MAX_GRADES = 1_000
router = Router(tags=["Scorers"])

Grades = Annotated[list[Number | None], Field(max_length=MAX_GRADES)]


class ScorerDetails(Schema):
    """A scorer in its newest version: a measure, or a script. owner: null for one that is available to all users."""

    id: int
    name: str = Field(examples=["nDCG@10"])
    description: str
    owner: str | None
    version: int
    measure: str = Field(examples=["nDCG@10"], description="Empty for a script.")
    script: str
    scale: Scale
    is_default: bool


class Trial(Schema):
    """A ranking as grades, and a scorer: exactly one of `measure`, `script` and `scorer_id`."""

    measure: str = Field("", max_length=200, examples=["nDCG@10"])
    script: str = Field("", max_length=100_000)
    scorer_id: int | None = Field(None, ge=1, le=2**63 - 1)
    grades: Grades = Field(min_length=1, examples=[[3, 2, None, 1]], description="In rank order; null is unrated.")
    known: Grades = Field(default_factory=list, description="Grades of rated documents that were not returned.")
    scale: str = Field(
        "",
        max_length=20,
        examples=["0:3"],
        description="LOWEST:HIGHEST. Default: of the scorer, or 0 to the top grade.",
    )


class TrialResult(Schema):
    """What the scorer says. error: of a script on this ranking."""

    value: float | None
    score: float | None
    low: float | None
    high: float | None
    console: list[str]
    error: str | None


@router.get("/scorers", auth=READ, response=Page[ScorerDetails])
def list_scorers(request: ApiRequest, page: Query[PageParameters]) -> dict[str, Any]:
    """The scorers that you may see, except retired ones."""
    visible = Scorer.objects.visible_to(request.user).live().select_related("owner").prefetch_related("versions")
    rows, following = paginate(visible, page, "id")
    return {"items": [_details(row) for row in rows], "next": following}


@router.post("/scorers/try", auth=READ, response=TrialResult)
def try_scorer(request: ApiRequest, trial: Trial) -> dict[str, Any]:
    """Scores one ranking with a measure, a script or a stored scorer. Stores nothing."""
    if [bool(trial.measure), bool(trial.script), trial.scorer_id is not None].count(True) != 1:
        raise ValidationError({"measure": "Send exactly one of measure, script and scorer_id."})
    grades, known = _text(trial.grades), _text(trial.known)
    scale = trial.scale
    if trial.scorer_id is not None:
        scorer = get_object_or_404(Scorer.objects.visible_to(request.user), pk=trial.scorer_id)
        version = scorers.newest_version(scorer)
        definition, scale = ScorerDefinition.of(version), scale or f"{version.lowest:g}:{version.top:g}"
    else:
        scale = scale or scores.infer_scale(grades, known)
        definition = _definition(request, trial, scale)
    preview = scores.preview_grades(definition, grades=grades, known=known, scale=scale)
    return {
        "value": preview.value,
        "score": preview.score,
        "low": preview.low,
        "high": preview.high,
        "console": list(preview.console),
        "error": preview.error or None,
    }


def _definition(request: ApiRequest, trial: Trial, scale: str) -> ScorerDefinition:
    if trial.measure:
        return scorers.normalize(ScorerDefinition(measure=trial.measure))
    if not scorers.may_write_scripts(request.user):
        raise ValidationError({"script": "The admins of this site have disabled user scripts. Send a measure."})
    return scorers.check(ScorerDefinition(script=trial.script, scale=scorers.parse_scale(scale)))


def _text(grades: list[float | None]) -> str:
    return " ".join("-" if grade is None else f"{grade:.17g}" for grade in grades)


def _details(scorer: Scorer) -> dict[str, Any]:
    version: ScorerVersion = max(scorer.versions.all(), key=lambda candidate: candidate.number)
    return {
        "id": scorer.pk,
        "name": scorer.name,
        "description": scorer.description,
        "owner": str(scorer.owner) if scorer.owner else None,
        "version": version.number,
        "measure": version.measure,
        "script": version.script,
        "scale": version.scale,
        "is_default": scorer.is_default,
    }
