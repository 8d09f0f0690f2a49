"""The release gate: whether a run passes, by the rule of the command `evaluate`."""

from typing import Annotated, Any

from django.conf import settings
from django.http import Http404, HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from relevancy import comparison
from relevancy.formats.evaluation.evaluation_gate import Gate, check_run
from relevancy.formats.evaluation.evaluation_json import BaselineComparison, Check
from relevancy.formats.evaluation.evaluation_junit import build_junit
from relevancy.models import ScorerVersion
from relevancy.slow_requests import slow_request

from .access import Id, ObjectId, get_run
from .authentication import READ, ApiRequest
from .comparisons import Pending
from .inputs import Input
from .runs import read_details

type Number = Annotated[float, Field(allow_inf_nan=False)]
router = Router(tags=["Runs"])


class GateParameters(Input):
    """What a run has to fulfil. Without a baseline and a lowest score, it only has to be complete and scored."""

    baseline: ObjectId | None = Field(None, description="The id of the run that it is compared with.")
    max_drop: Number = Field(0.0, ge=0, le=100, description="Points. Only a larger drop that is not noise fails.")
    alpha: Number = Field(comparison.DEFAULT_ALPHA, gt=0, lt=1, description="A drop is noise unless p is below this.")
    strict: bool = Field(False, description="Whether too few queries to tell fail as well.")
    fail_under: Number | None = Field(None, ge=0, le=100, description="The lowest score that passes.")
    scorer: ObjectId | None = Field(None, description="The id of a scorer of the run's case; all of them unless given.")


class GateScore(Schema):
    """The score of the run under one scorer, over `scored` of its queries."""

    name: str = Field(examples=["nDCG@10"])
    score: float | None
    low: float | None
    high: float | None
    scored: int
    queries: int


class GateResult(Schema):
    """What the gate says. error: why it could not decide, such as a failed search; then the run has not passed.

    dropped, too_few: under any scorer; `comparison` has them for each.
    """

    passed: bool
    error: str
    dropped: bool
    too_few: bool
    checks: list[Check]
    scorers: list[GateScore]
    comparison: BaselineComparison | None


@router.get("/runs/{run_id}/gate", auth=READ, response={200: GateResult, 202: Pending})
def read_gate(request: ApiRequest, run_id: Id, parameters: Query[GateParameters]) -> Status[Any]:
    """Whether a run passes the release gate: it is complete, no score is too low, and none dropped against the baseline.

    202 while the run is searched or scored.
    """
    gate = _check(request, run_id, parameters)
    if gate is None:
        return Status(202, {"status": "computing"})
    result = {
        **gate.evaluation,
        "error": gate.error,
        "dropped": any(drop.has_dropped for drop in gate.drops),
        "too_few": any(drop.is_too_few for drop in gate.drops),
        "checks": gate.checks,
    }
    return Status(200, result)


@router.get(
    "/runs/{run_id}/gate/junit",
    auth=READ,
    response={202: Pending},
    openapi_extra={
        "responses": {200: {"description": "OK", "content": {"application/xml": {"schema": {"type": "string"}}}}}
    },
)
def read_gate_junit(request: ApiRequest, run_id: Id, parameters: Query[GateParameters]) -> HttpResponse | Status[Any]:
    """The checks of `read_gate` as JUnit XML, which build servers show as tests."""
    gate = _check(request, run_id, parameters)
    if gate is None:
        return Status(202, {"status": "computing"})
    junit = build_junit(case=gate.evaluation["case"], seconds=gate.evaluation["seconds"], checks=gate.checks)
    return HttpResponse(junit, content_type="application/xml")


def _check(request: ApiRequest, run_id: int, parameters: GateParameters) -> Gate | None:
    """Returns None while a run is searched, or scores are computed."""
    run = get_run(request, run_id)
    baseline = get_run(request, parameters.baseline) if parameters.baseline else None
    if any(read_details(checked).is_unfinished for checked in (run, baseline) if checked is not None):
        return None
    versions = list(ScorerVersion.objects.used_by(run.case_id))
    if parameters.scorer is not None:
        versions = [version for version in versions if version.scorer_id == parameters.scorer]
        if not versions:
            raise Http404
    with slow_request(settings.SLOW_THREADS):
        return check_run(
            run=run,
            versions=versions,
            fail_under=parameters.fail_under,
            baseline=baseline,
            max_drop=parameters.max_drop,
            alpha=parameters.alpha,
            is_strict=parameters.strict,
        )
