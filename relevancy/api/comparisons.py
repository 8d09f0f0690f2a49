"""Two runs compared, with the figures of the comparison page."""

from typing import Any

from django.http import Http404
from ninja import Query, Router, Schema, Status
from pydantic import Field

from relevancy import comparison, tasks
from relevancy.models import Run, ScorerVersion
from relevancy.runs import RunNotAllowed
from relevancy.transfer.comparison_json import ComparisonResult, build_comparison

from .access import Id, get_run
from .authentication import READ, ApiRequest

router = Router(tags=["Runs"])


class Pending(Schema):
    """The comparison is being computed. Ask again in a moment."""

    status: str = Field("computing", examples=["computing"])


class ComparisonParameters(Schema):
    scorer: int | None = Field(
        None,
        ge=1,
        le=2**63 - 1,
        description="The id of a scorer of the baseline's case; its primary scorer unless given.",
    )


@router.get("/runs/{run_id}/compare/{other_id}", auth=READ, response={200: ComparisonResult, 202: Pending})
def compare_runs(request: ApiRequest, run_id: Id, other_id: Id, parameters: Query[ComparisonParameters]) -> Status[Any]:
    """Compares a run with another one, the baseline, of the same case or of a case on the same book.

    202 while the figures are computed. 409 or 422 if the runs cannot be compared.
    """
    run, baseline = get_run(request, run_id), get_run(request, other_id)
    version = _find_version(baseline, parameters.scorer)
    compared = [baseline, run]
    for each in compared:
        if not each.is_active and not each.done:
            raise RunNotAllowed(f"Run {each.number} has no results.")
    stored = comparison.stored.find_or_create(runs=compared, version=version)
    if stored.is_current:
        figures = comparison.stored.load(stored, compared)
        return Status(200, build_comparison(figures.comparison))
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
