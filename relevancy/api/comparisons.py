"""Two runs compared, with the figures of the comparison page."""

from typing import Any

from django.http import Http404, HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from relevancy import comparison, tasks
from relevancy.formats.reports.comparison_html import build_report
from relevancy.formats.reports.comparison_json import ComparisonResult, build_comparison
from relevancy.models import Run, ScorerVersion, StoredComparison
from relevancy.runs import RunNotAllowed

from .access import Id, get_run
from .authentication import READ, ApiRequest
from .inputs import Input

router = Router(tags=["Runs"])


class Pending(Schema):
    """The comparison is being computed. Ask again in a moment."""

    status: str = Field("computing", examples=["computing"])


class ComparisonParameters(Input):
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
    stored, compared = _find_comparison(request, run_id, other_id, parameters)
    if stored.is_current:
        return Status(200, build_comparison(comparison.stored.load(stored, compared)))
    return _request_figures(stored)


@router.get(
    "/runs/{run_id}/compare/{other_id}/report",
    auth=READ,
    response={202: Pending},
    openapi_extra={"responses": {200: {"description": "OK", "content": {"text/html": {"schema": {"type": "string"}}}}}},
)
def report_comparison(
    request: ApiRequest, run_id: Id, other_id: Id, parameters: Query[ComparisonParameters]
) -> HttpResponse | Status[Any]:
    """Returns the comparison as one HTML file that is read without the server; otherwise as `compare_runs`."""
    stored, compared = _find_comparison(request, run_id, other_id, parameters)
    if stored.is_current and stored.computed_at is not None:
        return HttpResponse(build_report(comparison.stored.load(stored, compared), computed_at=stored.computed_at))
    return _request_figures(stored)


def _find_comparison(
    request: ApiRequest, run_id: int, other_id: int, parameters: ComparisonParameters
) -> tuple[StoredComparison, list[Run]]:
    """Returns the stored comparison of a run with another one, and both runs, the baseline first."""
    run, baseline = get_run(request, run_id), get_run(request, other_id)
    version = _find_version(baseline, parameters.scorer)
    compared = [baseline, run]
    for compared_run in compared:
        if not compared_run.is_active and not compared_run.done:
            raise RunNotAllowed(f"Run {compared_run.number} has no results.")
    return comparison.stored.find_or_create(runs=compared, version=version), compared


def _request_figures(stored: StoredComparison) -> Status[Any]:
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
