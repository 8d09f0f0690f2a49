"""Studies, for scripts."""

from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from pydantic import Field

from relevancy.api.access import Id, get_case
from relevancy.api.authentication import READ, WRITE, ApiRequest
from relevancy.api.inputs import Input
from relevancy.api.paging import Page, PageParameters, paginate
from relevancy.models import Case, Role, ScorerVersion
from relevancy.statistics import SEED

from . import findings, sealed_queries, studies, tasks
from .models import Study, StudyTrial
from .space import SpaceError, parse_knob
from .tasks import enqueue_if_outdated

router = Router(tags=["Studies"])


class GuardSettings(Input):
    """By how many points the mean of the queries with a tag may fall; of all without a tag."""

    tag: str = Field("", max_length=100)
    max_fall: float = Field(ge=0, le=100, examples=[2.0])


class NewStudy(Input):
    """A study. knobs: as the command `tune` takes them."""

    attempt: int = Field(ge=1, le=2**31 - 1, description="Number of the attempt that is varied.", examples=[3])
    scorer: str = Field("", max_length=200, description="By default the first scorer of the case.")
    knobs: list[str] = Field(min_length=1, max_length=20, examples=[["title_boost=0.1:10:log", "tie=0:1"]])
    trials: int = Field(100, ge=2, le=studies.MAX_TRIALS)
    max_requests: int | None = Field(None, ge=1, le=2**31 - 1)
    max_minutes: int | None = Field(None, ge=1, le=100_000)
    max_ms: int | None = Field(None, ge=1, le=600_000)
    guards: list[GuardSettings] = Field([], max_length=20)
    estimates: bool = Field(
        False, description="Whether the last trials are settings that were estimated to be the best."
    )
    seed: int = Field(SEED, ge=0, le=2**31 - 1)
    name: str = Field("", max_length=120)


class StudyPlanDetails(Schema):
    """What a study would do. requests, minutes: at most. detectable: points that so many queries find four times in five."""

    queries: int
    independent: int
    unscored: int
    sealed: int
    trials: int
    requests: int
    minutes: float
    detectable: float | None
    unchanging: list[str]
    sentences: list[str]


class OpeningDetails(Schema):
    """The opening of sealed queries for a study: what a trial gains on them, in points. The numbers are there once is_finished.

    searched_by: numbers of studies that had searched some of the queries. unsealed: how many were no longer sealed. left_out: without a
    score.
    """

    study: int
    tag: str = Field(examples=["final"])
    trial: int
    settings: dict[str, float | str]
    opened_by: str
    opened_at: datetime
    is_finished: bool
    searched_by: list[int]
    unsealed: int
    sentence: str
    verdict: str | None = None
    queries: int | None = None
    units: int | None = None
    left_out: int | None = None
    parent_score: float | None = None
    trial_score: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None


class SealedTagToSet(Input):
    """tag: of the queries that no study searches; empty for none."""

    tag: str = Field("", max_length=100, examples=["final"])


class SealedQueries(Schema):
    """The sealed queries of a case, and how often such queries were opened. queries: how many are sealed now."""

    tag: str = Field(examples=["final"])
    queries: int
    openings: list[OpeningDetails]


class StudyDetails(Schema):
    """A study.

    sealed: queries that it leaves out. estimated: how many settings were estimated; which parts of the scores are sums and of the
    rankings were repeated, 0 to 1; or the refusal; empty before. findings: points with all their digits. is_outdated: ratings have
    changed, and a worker computes the findings again.
    """

    id: int
    number: int = Field(examples=[1])
    name: str
    case_id: int
    attempt: int = Field(examples=[3])
    scorer: str = Field(examples=["nDCG@10"])
    knobs: list[str]
    seed: int
    status: str = Field(examples=["complete"], description="waiting, running, stopped, complete or failed")
    reason: str
    trials_wanted: int
    trials_done: int
    requests: int
    seconds: float
    sentence: str
    is_improvement: bool
    parent_settings: dict[str, float | str]
    best_settings: dict[str, float | str] | None
    proposed_settings: dict[str, float | str] | None
    sealed: int
    opening: OpeningDetails | None
    estimates: bool
    estimated: dict[str, Any]
    findings: dict[str, Any]
    is_outdated: bool = False


class TrialDetails(Schema):
    """Values that a study has tried. stopped: it could not win any more, and was not searched for all queries."""

    number: int
    origin: str = Field(examples=["sobol"], description="parent, grid, sobol, tpe, local or estimated")
    settings: dict[str, float | str]
    took_ms: float | None
    stopped: bool
    error: str


class EstimatedSettings(Schema):
    """Settings that were estimated without the engine. gain: points, with the ratings of then. trial: that searched them; null for
    most, which are part of no result."""

    settings: dict[str, float | str]
    gain: float
    trial: int | None


class MoreTrials(Input):
    """How many trials a study makes beyond its budget. A used budget of requests or minutes does not limit them."""

    more_trials: int = Field(0, ge=0, le=studies.MAX_TRIALS)


class AdoptedAttempt(Schema):
    """The attempt that was made of a trial."""

    attempt: int = Field(examples=[7])
    trial: int


class TrialToOpen(Input):
    """trial: the chosen or the best one; null for the chosen one, or the best if the attempt itself is the choice."""

    trial: int | None = Field(None, ge=1, le=studies.MAX_TRIALS)


class TrialToAdopt(Input):
    """trial: its number; null for the proposed one."""

    trial: int | None = Field(None, ge=1, le=studies.MAX_TRIALS)


@router.get("/cases/{case_id}/studies", auth=READ, response=Page[StudyDetails])
def list_studies(request: ApiRequest, case_id: Id, page: Query[PageParameters]) -> dict[str, Any]:
    """The studies of a case, newest first."""
    found = paginate(_studies(get_case(request, case_id)), page, "-number")
    return {**found, "items": [findings.summarize(study) for study in found["items"]]}


@router.post("/cases/{case_id}/studies/plan", auth=READ, response=StudyPlanDetails)
def plan_study(request: ApiRequest, case_id: Id, new: NewStudy) -> dict[str, Any]:
    """What a study would do and could find. Sends nothing to the engine."""
    plan = studies.plan_study(**_read(get_case(request, case_id), new))
    names = StudyPlanDetails.model_fields.keys() - {"sentences", "sealed"}
    given = {name: getattr(plan, name) for name in names}
    return {**given, "sealed": len(plan.sealed), "sentences": studies.describe_plan(plan)}


@router.post("/cases/{case_id}/studies", auth=WRITE, response={201: StudyDetails})
def start_study(request: ApiRequest, case_id: Id, new: NewStudy) -> Status[dict[str, Any]]:
    """Starts a study; a worker makes its trials."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    study = studies.create(**_read(case, new), by=request.user)
    tasks.enqueue(study.pk)
    return Status(201, findings.summarize(study))


@router.get("/studies/{study_id}", auth=READ, response=StudyDetails)
def read_study(request: ApiRequest, study_id: Id) -> dict[str, Any]:
    """A study, and what it has found."""
    study = _get(request, study_id)
    return {**findings.summarize(study), "is_outdated": enqueue_if_outdated(study)}


@router.get("/studies/{study_id}/trials", auth=READ, response=Page[TrialDetails])
def list_trials(request: ApiRequest, study_id: Id, page: Query[PageParameters]) -> dict[str, Any]:
    """The trials of a study, in their order."""
    trials = StudyTrial.objects.filter(study=_get(request, study_id)).defer("answers", "columns")
    return paginate(trials, page, "number")


@router.get("/studies/{study_id}/estimates", auth=READ, response=list[EstimatedSettings])
def list_estimates(request: ApiRequest, study_id: Id) -> list[dict[str, Any]]:
    """The best settings that were estimated, best first, at most 200; empty without estimates."""
    return findings.list_estimates(_get(request, study_id))


@router.post("/studies/{study_id}/stop", auth=WRITE, response=StudyDetails)
def stop_study(request: ApiRequest, study_id: Id) -> dict[str, Any]:
    """Lets a study end within seconds; what it has found stays. Repeating it changes nothing."""
    study = _get(request, study_id, Role.EDITOR)
    studies.stop(study=study, by=request.user)
    tasks.enqueue(study.pk)
    return findings.summarize(study)


@router.post("/studies/{study_id}/continue", auth=WRITE, response=StudyDetails)
def continue_study(request: ApiRequest, study_id: Id, more: MoreTrials) -> dict[str, Any]:
    """Lets a study that has ended go on. Refused if it has nothing left to do and is given no more trials."""
    study = _get(request, study_id, Role.EDITOR)
    studies.go_on(study=study, by=request.user, more_trials=more.more_trials)
    tasks.enqueue(study.pk)
    study.refresh_from_db()
    return findings.summarize(study)


@router.post("/studies/{study_id}/adopt", auth=WRITE, response=AdoptedAttempt)
def adopt_trial(request: ApiRequest, study_id: Id, chosen: TrialToAdopt) -> dict[str, int]:
    """Makes an attempt of a trial, a child of the attempt that was varied. Repeating it returns the same attempt."""
    study = _get(request, study_id, Role.EDITOR)
    number = study.findings.get("proposed", 0) if chosen.trial is None else chosen.trial
    trial = get_object_or_404(StudyTrial, study=study, number=number)
    return {"attempt": studies.adopt(study=study, trial=trial, by=request.user).number, "trial": number}


@router.post("/studies/{study_id}/open-sealed", auth=WRITE, response=StudyDetails)
def open_sealed(request: ApiRequest, study_id: Id, chosen: TrialToOpen) -> dict[str, Any]:
    """Opens the sealed queries of a complete study for its chosen or best trial; a worker searches them. Repeating it changes
    nothing."""
    study = _get(request, study_id, Role.EDITOR)
    studies.open_sealed(study=study, by=request.user, trial=chosen.trial)
    tasks.enqueue(study.pk)
    study.refresh_from_db()
    return findings.summarize(study)


@router.get("/cases/{case_id}/sealed-queries", auth=READ, response=SealedQueries)
def read_sealed_queries(request: ApiRequest, case_id: Id) -> dict[str, Any]:
    """Which queries of a case no study searches, and how often such queries were opened."""
    return _summarize_sealed(get_case(request, case_id))


@router.put("/cases/{case_id}/sealed-queries", auth=WRITE, response=SealedQueries)
def seal_queries(request: ApiRequest, case_id: Id, chosen: SealedTagToSet) -> dict[str, Any]:
    """Seals the queries with a tag. Studies that have started stay as they are."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    sealed_queries.set_tag(case=case, tag=chosen.tag, by=request.user)
    return _summarize_sealed(case)


@router.delete("/studies/{study_id}", auth=WRITE, response={204: None})
def delete_study(request: ApiRequest, study_id: Id) -> Status[None]:
    """Deletes a study with its trials. Attempts that were made of it stay."""
    studies.delete(study=_get(request, study_id, Role.EDITOR), by=request.user)
    return Status(204, None)


def _summarize_sealed(case: Case) -> dict[str, Any]:
    openings = case.sealed_openings.select_related("opened_by")
    return {
        "tag": sealed_queries.read_tag(case),
        "queries": len(sealed_queries.find_sealed(case)),
        "openings": [findings.summarize_opening(opening) for opening in openings],
    }


def _studies(case: Case) -> QuerySet[Study]:
    return Study.objects.filter(case=case).select_related("case", "parent__endpoint", "version__scorer")


def _get(request: ApiRequest, study_id: int, needs: Role = Role.VIEWER) -> Study:
    study = get_object_or_404(Study.objects.only("case"), pk=study_id)
    return _studies(get_case(request, study.case_id, needs=needs)).get(pk=study_id)


def _read(case: Case, new: NewStudy) -> dict[str, Any]:
    """Returns the arguments of the services. Raises `ValidationError`."""
    attempts = case.attempts.filter(archived_at=None).select_related("endpoint__owner", "case")
    parent = get_object_or_404(attempts, number=new.attempt)
    versions = ScorerVersion.objects.used_by(case)
    version = next((version for version in versions if new.scorer in ("", version.scorer.name)), None)
    if version is None:
        names = ", ".join(str(version.scorer) for version in versions) or "none"
        raise ValidationError({"scorer": f"The case has no scorer {new.scorer}. Its scorers: {names}."})
    try:
        knobs = [parse_knob(text) for text in new.knobs]
    except SpaceError as error:
        raise ValidationError({"knobs": str(error)}) from None
    fields = new.model_dump(
        include={"trials", "max_requests", "max_minutes", "max_ms", "guards", "estimates", "seed", "name"}
    )
    return {
        "case": case,
        "parent": parent,
        "version": version,
        "settings": studies.StudySettings(knobs=knobs, **fields),
    }
