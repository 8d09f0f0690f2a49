"""Scorers and their versions, and scoring of typed grades."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from pydantic import Field, StrictBool

from relevancy import scorers, scores
from relevancy.models import Role, Scorer, ScorerDefinition, ScorerVersion

from .access import Id, Number, get_scorer, lockable
from .authentication import READ, WRITE, ApiRequest
from .inputs import Changes, Input
from .paging import Page, PageParameters, paginate
from .preconditions import IfMatch, check_if_match, set_etag
from .scales import Scale

MAX_GRADES = 1_000
router = Router(tags=["Scorers"])

Grades = Annotated[list[Number | None], Field(max_length=MAX_GRADES)]


class ScorerDetails(Schema):
    """A scorer in its newest version: a measure, or a script. owner: null for one that is available to all users."""

    id: int = Field(validation_alias="scorer.pk")
    name: str = Field(validation_alias="scorer.name", examples=["nDCG@10"])
    description: str = Field(validation_alias="scorer.description")
    owner: str | None
    version: int = Field(validation_alias="number")
    measure: str = Field(examples=["nDCG@10"], description="Empty for a script.")
    script: str
    scale: Scale
    output_range: str = Field(examples=["100"], description="Of a script: 100 for 0 to 100, 1 for 0 to 1.")
    cutoff: int | None = Field(description="How many results a script considers; null: as many as are displayed.")
    count_unscoreable_as_zero: bool
    is_default: bool = Field(validation_alias="scorer.is_default")
    retired_at: datetime | None = Field(validation_alias="scorer.retired_at")

    @staticmethod
    def resolve_owner(version: ScorerVersion) -> str | None:
        return str(version.scorer.owner) if version.scorer.owner else None


class Definition(Input):
    """What a scorer computes: a measure, or a script."""

    measure: str = Field("", max_length=200, examples=["nDCG@10"])
    script: str = Field("", max_length=100_000)
    scale: str = Field(
        "0:3",
        max_length=4_000,
        examples=["0 Poor, 1 Fair, 2 Good, 3 Perfect"],
        description="That new books start with: LOWEST:HIGHEST, or grades with labels.",
    )
    output_range: Literal["100", "1"] = "100"
    cutoff: int | None = Field(None, strict=True, ge=1, le=scorers.MAX_CUTOFF)
    count_unscoreable_as_zero: StrictBool = False


class Description(Input):
    """What a scorer is called, and when to use it."""

    name: str = Field(min_length=1, max_length=scorers.MAX_NAME, examples=["nDCG@5 of the shop"])
    description: str = Field("", max_length=scorers.MAX_DESCRIPTION, examples=["Only the first row counts."])


class NewScorer(Definition, Description):
    """A scorer that is yours."""


class ScorerChanges(Changes, Description):
    """What to change. Fields that are left out or null stay as they are."""

    retired: StrictBool = Field(description="true: it is not offered any more; false restores it. For its owner.")


class Trial(Input):
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

    @staticmethod
    def resolve_error(preview: scores.ScorerPreview) -> str | None:
        return preview.error or None


@router.get("/scorers", auth=READ, response=Page[ScorerDetails])
def list_scorers(request: ApiRequest, page: Query[PageParameters]) -> dict[str, Any]:
    """The scorers that you may see, except retired ones."""
    visible = Scorer.objects.visible_to(request.user).live().select_related("owner").prefetch_related("versions")
    listed = paginate(visible, page, "id")
    return {**listed, "items": [scorers.newest_version(row) for row in listed["items"]]}


@router.post("/scorers", auth=WRITE, response={201: ScorerDetails})
def create_scorer(request: ApiRequest, response: HttpResponse, new: NewScorer) -> Status[ScorerDetails]:
    """Creates a scorer that is yours."""
    created = scorers.create(name=new.name, description=new.description, definition=_parse(new), by=request.user)
    response["Location"] = f"/api/v1/scorers/{created.pk}"
    return Status(201, _tagged(response, created))


@router.post("/scorers/try", auth=WRITE, response=TrialResult)
def try_scorer(request: ApiRequest, trial: Trial) -> scores.ScorerPreview:
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
    return scores.preview_grades(definition, grades=grades, known=known, scale=scale)


@router.get("/scorers/{scorer_id}", auth=READ, response=ScorerDetails)
def read_scorer(request: ApiRequest, response: HttpResponse, scorer_id: Id) -> ScorerDetails:
    """A scorer in its newest version. The ETag can be sent as If-Match when you change it, or add a version."""
    return _tagged(response, get_scorer(request, scorer_id))


@router.patch("/scorers/{scorer_id}", auth=WRITE, response=ScorerDetails)
def change_scorer(
    request: ApiRequest, response: HttpResponse, scorer_id: Id, changes: ScorerChanges, if_match: IfMatch
) -> ScorerDetails:
    """Names, describes, retires or restores a scorer. What it computes is changed by a new version."""
    needs = Role.EDITOR if changes.retired is None else Role.OWNER
    scorer = get_scorer(request, scorer_id, needs=needs)
    if described := changes.model_dump(exclude_none=True, exclude={"retired"}):
        check = partial(_check, scorer_id, if_match)
        scorers.change(scorer=scorer, check_state=check, by=request.user, **described)
        if_match = ""  # the state that it names is that before this change
    with transaction.atomic():
        _check(scorer_id, if_match)
        if changes.retired not in (None, scorer.retired_at is not None):
            (scorers.retire if changes.retired else scorers.restore)(scorer=scorer)
    return _tagged(response, scorer)


@router.post("/scorers/{scorer_id}/versions", auth=WRITE, response={201: ScorerDetails})
def add_scorer_version(
    request: ApiRequest, response: HttpResponse, scorer_id: Id, new: Definition, if_match: IfMatch
) -> Status[ScorerDetails]:
    """Adds a version, unless it is the same as the newest one.

    Cases keep theirs until it is chosen at `cases/{case_id}/scorers`.
    """
    scorer = get_scorer(request, scorer_id, needs=Role.EDITOR)
    check = partial(_check, scorer_id, if_match)
    scorers.change(scorer=scorer, definition=_parse(new), check_state=check, by=request.user)
    return Status(201, _tagged(response, scorer))


def _definition(request: ApiRequest, trial: Trial, scale: str) -> ScorerDefinition:
    if trial.measure:
        return scorers.normalize(ScorerDefinition(measure=trial.measure))
    if not scorers.may_write_scripts(request.user):
        raise ValidationError({"script": "The admins of this site have disabled user scripts. Send a measure."})
    return scorers.check(ScorerDefinition(script=trial.script, scale=scorers.parse_scale(scale)))


def _parse(new: Definition) -> ScorerDefinition:
    values = new.model_dump(include=set(Definition.model_fields))
    return ScorerDefinition(**values | {"scale": scorers.parse_scale(new.scale)})


def _check(scorer_id: int, if_match: str) -> None:
    check_if_match(if_match, state=_state(lockable(Scorer.objects.all(), lock=True).get(pk=scorer_id)))


def _state(scorer: Scorer) -> object:
    return [scorer.name, scorer.description, scorer.retired_at, scorers.newest_version(scorer).number]


def _tagged(response: HttpResponse, scorer: Scorer) -> ScorerDetails:
    details = ScorerDetails.from_orm(scorers.newest_version(scorer))
    return set_etag(response, details, state=_state(scorer))


def _text(grades: list[float | None]) -> str:
    return " ".join("-" if grade is None else f"{grade:.17g}" for grade in grades)
