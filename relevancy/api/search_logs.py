"""Search logs and what users decided online, for scripts: samples of queries, clicks, outcomes of interleaving and A/B tests."""

from contextlib import closing
from datetime import datetime
from functools import partial
from typing import Any, Literal

from django.db import transaction
from django.shortcuts import get_object_or_404
from ninja import File, Query, Router, Schema, Status
from ninja.files import UploadedFile
from pydantic import Field

from relevancy import tasks, transfer
from relevancy.comparison import online
from relevancy.models import Case, ClickLog, OnlineOutcome, Role, Run

from .access import Id, check_book_editable, get_book, get_case
from .authentication import READ, WRITE, ApiRequest
from .files import DryRun
from .inputs import Input
from .paging import Page, PageParameters, paginate

router = Router(tags=["Search logs"])


class SampleParameters(DryRun):
    """How queries are drawn."""

    method: Literal["frequency", "strata", "uniform"] = Field(
        "frequency", description="`uniform` is biased where few queries have most of the searches."
    )
    size: int = Field(100, ge=1, le=transfer.query_samples.MAX_SIZE, description="Number of queries.")
    seed: int = Field(1, ge=0, le=2**31 - 1, description="The same log, method, size and seed give the same queries.")
    only_these: bool = Field(False, description="Gives the other queries of the case the weight 0.")


class DrawnQuery(Schema):
    """A drawn query. probability: of being drawn. weight: in the score of the case."""

    text: str = Field(examples=["star wars"])
    searches: int = Field(examples=[120])
    probability: float = Field(examples=[0.25])
    weight: float = Field(examples=[1.5])


class ImportedSample(Schema):
    """The queries that were drawn from a search log. left_out: searches whose text cannot be a query."""

    added: int = Field(examples=[80])
    reweighted: int = Field(examples=[20])
    searches: int = Field(description="Of the log.", examples=[12000])
    queries: int = Field(description="Of the log.", examples=[900])
    left_out: int = Field(examples=[3])
    drawn: list[DrawnQuery]


class ClickParameters(Input):
    """The click model, and the strength of its prior in examinations."""

    model: Literal["position", "ips", "coec", "cascade"] = "position"
    strength: float = Field(10, ge=0, le=transfer.click_logs.MAX_STRENGTH)


class ImportedClicks(Schema):
    """What a click model estimated. estimates: documents of the book with one; they are not ratings. remarks: what was left out."""

    estimates: int = Field(examples=[420])
    searches: int = Field(examples=[12000])
    remarks: list[str] = Field(examples=[[]])


class OutcomeParameters(DryRun):
    """The numbers of the two runs that users saw; `a` is the baseline."""

    a: int = Field(ge=1, le=2**31 - 1, examples=[3])
    b: int = Field(ge=1, le=2**31 - 1, examples=[4])
    name: str = Field("", max_length=120, description="By default that of the file.")


class OutcomeDetails(Schema):
    """What users decided between two runs, by session. effect, low, high: in favour of `b`, as shares of the sessions; p: two-sided.

    id: null with `dry_run`. wins: sessions that preferred the run; in an A/B test, its successful ones of `sessions_a`, `sessions_b`.
    """

    id: int | None = Field(examples=[5])
    name: str = Field(examples=["May"])
    method: str = Field(examples=["interleaving"], description="interleaving or ab")
    a: int = Field(description="Number of the baseline.", examples=[3])
    b: int = Field(examples=[4])
    wins_a: int = Field(examples=[6])
    wins_b: int = Field(examples=[18])
    ties: int = Field(examples=[4])
    sessions_a: int = Field(examples=[0])
    sessions_b: int = Field(examples=[0])
    effect: float | None = Field(examples=[0.214])
    low: float | None = Field(examples=[0.028])
    high: float | None = Field(examples=[0.345])
    p: float | None = Field(examples=[0.023])
    winner: Literal["a", "b"] | None = Field(examples=["b"])
    remarks: list[str] = Field(examples=[[]])
    created_at: datetime | None


@router.post("/cases/{case_id}/import/query-log", auth=WRITE, response=ImportedSample)
def import_query_log(
    request: ApiRequest, case_id: Id, parameters: Query[SampleParameters], file: File[UploadedFile]
) -> dict[str, Any]:
    """Draws queries of a search log, CSV or `ubi_queries`, and adds them with weights by which the score estimates the mean of all
    searches."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    check_book_editable(request, case, hint="Queries belong to the book.")
    with closing(transfer.log_formats.read_log(file, limit=transfer.search_log.MAX_ON_PAGE)) as log:
        sample = transfer.query_samples.sample_log(
            case=case, log=log, method=parameters.method, size=parameters.size, seed=parameters.seed
        )
    change = sample.change
    if not parameters.dry_run:
        change = transfer.query_samples.add_sample(
            case=case, sample=sample, only_these=parameters.only_these, by=request.user
        )
        transaction.on_commit(partial(tasks.send, tasks.rescore_case, case.pk))
    return {
        "added": change.added,
        "reweighted": change.reweighted,
        "searches": sample.total_searches,
        "queries": sample.total_queries,
        "left_out": log.left_out.searches,
        "drawn": [
            {"text": row.text, "searches": row.searches, "probability": row.probability, "weight": row.weight}
            for row in sample.drawn
        ],
    }


@router.post("/books/{book_id}/import/clicks", auth=WRITE, response=ImportedClicks)
def import_clicks(
    request: ApiRequest, book_id: Id, parameters: Query[ClickParameters], file: File[UploadedFile]
) -> dict[str, Any]:
    """Estimates from a search log with clicks, as CSV, how relevant the documents of a book are. The estimates are not ratings."""
    book = get_book(request, book_id, needs=Role.EDITOR)
    with closing(transfer.log_formats.read_log(file, limit=transfer.search_log.MAX_ON_PAGE)) as log:
        stored: ClickLog = transfer.click_logs.import_clicks(
            book=book,
            log=log,
            method=parameters.model,
            strength=parameters.strength,
            name=(file.name or "")[:191],
            by=request.user,
        )
    return {"estimates": stored.estimates.count(), "searches": stored.searches, "remarks": stored.remarks}


@router.get("/cases/{case_id}/outcomes", auth=READ, response=Page[OutcomeDetails])
def list_outcomes(request: ApiRequest, case_id: Id, page: Query[PageParameters]) -> dict[str, Any]:
    """The outcomes of interleaving and A/B tests of a case, oldest first."""
    case = get_case(request, case_id)
    rows, following = paginate(OnlineOutcome.objects.filter(case=case).select_related("run_a", "run_b"), page, "id")
    return {"items": [_describe(row, online.counts_of(row, first=row.run_a)) for row in rows], "next": following}


@router.delete("/cases/{case_id}/outcomes/{outcome_id}", auth=WRITE, response={204: None})
def delete_outcome(request: ApiRequest, case_id: Id, outcome_id: Id) -> Status[None]:
    """Deletes an outcome. Its runs stay pinned."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    outcomes = OnlineOutcome.objects.select_related("run_a", "run_b")
    online.delete_outcome(outcome=get_object_or_404(outcomes, case=case, pk=outcome_id), by=request.user)
    return Status(204, None)


@router.post("/cases/{case_id}/import/outcome", auth=WRITE, response={200: OutcomeDetails, 201: OutcomeDetails})
def import_outcome(
    request: ApiRequest, case_id: Id, parameters: Query[OutcomeParameters], file: File[UploadedFile]
) -> Status[dict[str, Any]]:
    """Imports an outcome as CSV, counted by session, replacing one of the same runs and kind of test. Pins both runs."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    a, b = (_get_run(case, number) for number in (parameters.a, parameters.b))
    counts = transfer.online_outcomes.read_outcome(file, limit=transfer.online_outcomes.MAX_ON_PAGE)
    online.check_outcome(a=a, b=b, counts=counts)
    name = parameters.name or (file.name or "outcome")[:120]
    if parameters.dry_run:
        return Status(200, _describe(OnlineOutcome(case=case, run_a=a, run_b=b, name=name), counts))
    stored = online.store_outcome(a=a, b=b, counts=counts, name=name, by=request.user)
    return Status(201, _describe(stored, counts))


def _get_run(case: Case, number: int) -> Run:
    run: Run = get_object_or_404(Run, case=case.pk, number=number)
    run.case = case
    return run


def _describe(outcome: OnlineOutcome, counts: online.SessionCounts) -> dict[str, Any]:
    result = counts.measure()
    return {
        "id": outcome.pk,
        "name": outcome.name,
        "method": counts.method.value,
        "a": outcome.run_a.number,
        "b": outcome.run_b.number,
        **{name: getattr(counts, name) for name in ("wins_a", "wins_b", "ties", "sessions_a", "sessions_b", "remarks")},
        **{name: getattr(result, name) for name in ("effect", "low", "high", "p")},
        "winner": result.winner.value if result.winner else None,
        "created_at": outcome.created_at,
    }
