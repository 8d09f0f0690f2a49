"""Search logs, for scripts: samples of queries, and clicks."""

from contextlib import closing
from functools import partial
from typing import Any, Literal

from django.db import transaction
from ninja import File, Query, Router, Schema
from ninja.files import UploadedFile
from pydantic import Field

from relevancy import tasks
from relevancy.api.access import Id, check_book_editable, get_book, get_case
from relevancy.api.authentication import WRITE, ApiRequest
from relevancy.api.files import DryRun
from relevancy.api.inputs import Input
from relevancy.models import Role

from . import click_logs, query_samples
from .log_formats import read_log
from .models import ClickLog
from .search_log import MAX_ON_PAGE
from .weights import add_weighted

router = Router(tags=["Search logs"])


class SampleParameters(DryRun):
    """How queries are drawn."""

    method: Literal["frequency", "strata", "uniform"] = Field(
        "frequency", description="`uniform` is biased where few queries have most of the searches."
    )
    size: int = Field(100, ge=1, le=query_samples.MAX_SIZE, description="Number of queries.")
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
    strength: float = Field(10, ge=0, le=click_logs.MAX_STRENGTH)


class ImportedClicks(Schema):
    """What a click model estimated. estimates: documents of the book with one; they are not ratings. remarks: what was left out."""

    estimates: int = Field(validation_alias="estimates.count", examples=[420])
    searches: int = Field(examples=[12000])
    remarks: list[str] = Field(examples=[[]])


@router.post("/cases/{case_id}/import/query-log", auth=WRITE, response=ImportedSample)
def import_query_log(
    request: ApiRequest, case_id: Id, parameters: Query[SampleParameters], file: File[UploadedFile]
) -> dict[str, Any]:
    """Draws queries of a search log, CSV or `ubi_queries`, and adds them with weights by which the score estimates the mean of all
    searches."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    check_book_editable(request, case, hint="Queries belong to the book.")
    with closing(read_log(file, limit=MAX_ON_PAGE)) as log:
        sample = query_samples.sample_log(
            case=case, log=log, method=parameters.method, size=parameters.size, seed=parameters.seed
        )
    change = sample.change
    if not parameters.dry_run:
        change = add_weighted(case=case, weights=sample.weights, only_these=parameters.only_these, by=request.user)
        transaction.on_commit(partial(tasks.enqueue_book_rescore, case.book_id))
    return {
        "added": change.added,
        "reweighted": change.reweighted,
        "searches": sample.total_searches,
        "queries": sample.total_queries,
        "left_out": log.left_out.searches,
        "drawn": sample.drawn,
    }


@router.post("/books/{book_id}/import/clicks", auth=WRITE, response=ImportedClicks)
def import_clicks(
    request: ApiRequest, book_id: Id, parameters: Query[ClickParameters], file: File[UploadedFile]
) -> ClickLog:
    """Estimates from a search log with clicks, as CSV, how relevant the documents of a book are. The estimates are not ratings."""
    book = get_book(request, book_id, needs=Role.EDITOR)
    with closing(read_log(file, limit=MAX_ON_PAGE)) as log:
        return click_logs.import_clicks(
            book=book,
            log=log,
            method=parameters.model,
            strength=parameters.strength,
            name=(file.name or "")[:191],
            by=request.user,
        )
