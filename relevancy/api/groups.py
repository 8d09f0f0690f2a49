"""Groups of cases: their mean, its history, and the newest runs against their baselines."""

from datetime import datetime
from typing import Any

from ninja import Query, Router, Schema
from pydantic import Field

from relevancy import cases, comparison, tasks
from relevancy.models import CaseGroup, Role
from relevancy.views.permissions import get_or_403

from .access import Id
from .authentication import READ, ApiRequest
from .paging import Page, PageParameters, paginate

router = Router(tags=["Groups"])


class GroupSummary(Schema):
    """A group. weighting: what counts the same in its mean, which is cases or queries."""

    id: int
    name: str = Field(examples=["Markets"])
    role: str = Field(examples=["editor"])
    weighting: str = Field(examples=["cases"])
    created_at: datetime


class GroupCase(Schema):
    """A case of a group that you may see, with the score of its newest scored run. weight: in the mean; 0 without a score."""

    id: int
    name: str
    run_id: int | None
    score: float | None
    scored: int
    queries: int
    weight: float


class GroupFigures(Schema):
    """The newest runs against their baselines, of a case or of all cases together, where p_holm is null.

    independent: what tests count: linked queries are one, and so is a query of several cases.
    """

    queries: int
    independent: int
    difference: float | None
    interval: list[float] | None
    reliable: bool
    p: float | None
    p_holm: float | None
    verdict: str


class ComparedCase(Schema):
    """The newest run of a case against its baseline. figures: null without two runs to compare, and if they cannot be compared."""

    case_id: int
    run_id: int | None
    baseline_id: int | None
    error: str
    figures: GroupFigures | None


class GroupComparison(Schema):
    """status: current, computing or failed. While figures are computed, all of them are null. together: null if there is no mean."""

    status: str = Field(examples=["current"])
    sentence: str
    together: GroupFigures | None
    cases: list[ComparedCase]


class GroupDetails(GroupSummary):
    """A group with the cases of it that you may see. reason: why there is no mean; empty if there is one."""

    mean: float | None
    reason: str
    cases: list[GroupCase]
    comparison: GroupComparison


class GroupHistoryPoint(Schema):
    """The mean after a run. scores: of the cases in the order of the group, the newest of each at that time."""

    run_id: int
    case_id: int
    at: datetime
    mean: float | None
    scores: list[float | None]


@router.get("/groups", auth=READ, response=Page[GroupSummary])
def list_groups(request: ApiRequest, page: Query[PageParameters]) -> dict[str, Any]:
    """The groups of cases that you may see, oldest first."""
    rows, following = paginate(cases.groups.groups_of(request.user), page, "id")
    return {"items": [_summary(row) for row in rows], "next": following}


@router.get("/groups/{group_id}", auth=READ, response=GroupDetails)
def read_group(request: ApiRequest, group_id: Id) -> dict[str, Any]:
    """A group: the mean of its cases, and the verdict on their newest runs, of the cases that you may see."""
    group = _get_group(request, group_id)
    view = cases.groups.read_group(group=group, by=request.user)
    compared = cases.groups.compare_group(group=group, view=view)
    tasks.enqueue_group_figures(compared)
    return {
        **_summary(group),
        "mean": view.mean.score,
        "reason": view.mean.reason,
        "cases": [_case(row, weight) for row, weight in zip(view.rows, view.mean.weights, strict=True)],
        "comparison": _comparison(compared),
    }


@router.get("/groups/{group_id}/history", auth=READ, response=list[GroupHistoryPoint])
def read_group_history(request: ApiRequest, group_id: Id) -> list[dict[str, Any]]:
    """The mean after each of the newest 60 runs, oldest first. It begins when every case has a score under the same scorer."""
    group = _get_group(request, group_id)
    view = cases.groups.read_group(group=group, by=request.user)
    return [
        {
            "run_id": point.run.pk,
            "case_id": point.run.case_id,
            "at": point.at,
            "mean": point.score,
            "scores": list(point.by_case),
        }
        for point in cases.groups.history_of(view.rows, group.weighting)
    ]


def _get_group(request: ApiRequest, group_id: int) -> CaseGroup:
    group: CaseGroup = get_or_403(CaseGroup.objects, request.user, group_id, needs=Role.VIEWER)
    return group


def _summary(group: CaseGroup) -> dict[str, Any]:
    role = Role(vars(group)["role"]).label
    return {
        "id": group.pk,
        "name": group.name,
        "role": role,
        "weighting": group.weighting,
        "created_at": group.created_at,
    }


def _case(row: cases.CaseRow, weight: float) -> dict[str, Any]:
    """Returns a case with its score; one that is being computed from newer ratings is None."""
    score = row.score if weight else None
    return {
        "id": row.case.pk,
        "name": row.case.name,
        "run_id": row.scored_run.pk if row.scored_run else None,
        "score": score.score if score else None,
        "scored": score.scored if score else 0,
        "queries": score.queries if score else 0,
        "weight": weight,
    }


def _comparison(compared: cases.groups.ComparedGroup) -> dict[str, Any]:
    status = "computing" if compared.is_pending else "failed" if compared.error else "current"
    return {
        "status": status,
        "sentence": compared.sentence,
        "together": _figures(compared.found.together) if compared.found else None,
        "cases": [
            {
                "case_id": each.row.case.pk,
                "run_id": each.row.scored_run.pk if each.baseline and each.row.scored_run else None,
                "baseline_id": each.baseline.pk if each.baseline else None,
                "error": each.error,
                "figures": _figures(each.figures),
            }
            for each in compared.cases
        ],
    }


def _figures(found: comparison.GroupFigures | None) -> dict[str, Any] | None:
    if found is None:
        return None
    interval = found.interval
    return {
        "queries": found.queries,
        "independent": found.independent,
        "difference": found.difference,
        "interval": [interval.low, interval.high] if interval else None,
        "reliable": bool(interval and interval.is_reliable),
        "p": found.p,
        "p_holm": found.p_holm,
        "verdict": found.verdict.value,
    }
