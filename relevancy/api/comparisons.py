"""Two runs compared, with the figures of the comparison page."""

from typing import Any

from django.http import Http404
from ninja import Query, Router, Schema, Status
from pydantic import Field

from relevancy import comparison, tasks, transfer
from relevancy.models import Run, ScorerVersion
from relevancy.runs import RunNotAllowed

from .access import Id, get_run
from .authentication import READ, ApiRequest

router = Router(tags=["Runs"])


class ComparedRun(Schema):
    """A run by its id, and its mean score on the compared queries."""

    run: int
    score: float | None


class ComparedPair(Schema):
    """Run `b` against run `a`, in points; see docs/comparing.md for the meaning of each figure."""

    a: int
    b: int
    difference: float | None
    interval: list[float] | None
    interval_kind: str | None
    reliable: bool
    effect: float | None
    p_randomisation: float | None
    p_t: float | None
    p_holm: float | None
    p_hsd: float | None
    wins: int
    ties: int
    losses: int
    carried_by: int
    detectable: float | None
    jaccard: float | None
    rbo: float | None
    changed: float | None
    verdict: str


class ComparedTag(Schema):
    """Run `b` against run `a`, in points, on the compared queries with a tag. `p_holm`: corrected for all tags."""

    tag: str
    a: int
    b: int
    queries: int
    difference: float
    interval: list[float] | None
    interval_kind: str | None
    reliable: bool
    p_randomisation: float | None
    p_holm: float | None
    wins: int
    ties: int
    losses: int


class RunComparison(Schema):
    """Two runs under one scorer, on the `queries` that were scored in both; the first run is the baseline."""

    scorer: str = Field(examples=["nDCG@10"])
    queries: int
    left_out: int
    left_out_queries: list[str]
    warnings: list[str]
    runs: list[ComparedRun]
    pairs: list[ComparedPair]
    tags: list[ComparedTag]


class Pending(Schema):
    """The comparison is being computed. Ask again in a moment."""

    status: str = Field("computing", examples=["computing"])


class ComparisonParameters(Schema):
    scorer: int | None = Field(
        None, ge=1, le=2**63 - 1, description="The id of a scorer of the case; its primary scorer unless given."
    )


@router.get("/runs/{run_id}/compare/{other_id}", auth=READ, response={200: RunComparison, 202: Pending})
def compare_runs(request: ApiRequest, run_id: Id, other_id: Id, parameters: Query[ComparisonParameters]) -> Status[Any]:
    """Compares a run with another one of the same case, which is the baseline. 202 while the figures are computed.

    409 if the runs cannot be compared.
    """
    run, baseline = get_run(request, run_id), get_run(request, other_id)
    if run.case_id != baseline.case_id:
        raise RunNotAllowed("The runs belong to different cases. Compare two runs of the same case.")
    version = _find_version(run, parameters.scorer)
    compared = [baseline, run]
    for each in compared:
        if not each.is_active and not each.done:
            raise RunNotAllowed(f"Run {each.number} has no results.")
    stored = comparison.stored.find_or_create(case=run.case, runs=compared, version=version)
    if stored.is_current:
        figures = comparison.stored.load(stored, compared)
        return Status(200, transfer.comparison_json.build_comparison(figures.comparison))
    if comparison.stored.needs_computing(stored):
        tasks.enqueue_comparison(stored)
        return Status(202, {"status": "computing"})
    raise RunNotAllowed(stored.error)


def _find_version(run: Run, scorer_id: int | None) -> ScorerVersion:
    versions = ScorerVersion.objects.used_by(run.case_id)
    version = (versions.filter(scorer=scorer_id) if scorer_id else versions).first()
    if version is None:
        raise Http404
    return version
