"""Files: what the pages of import and export do, for scripts."""

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import FileResponse, Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.cache import get_conditional_response
from ninja import File, Query, Router, Schema, Status
from ninja.files import UploadedFile
from pydantic import Field

from relevancy import formats, tasks
from relevancy.formats import exports, stored_exports
from relevancy.formats.cases import book_import, case_import
from relevancy.formats.cases.case_content import BookContent
from relevancy.formats.queries import queries_import
from relevancy.formats.rankings import runs_file
from relevancy.formats.ratings import ratings_import
from relevancy.formats.ratings.ratings_preview import RatingsPreview
from relevancy.models import Book, Case, Endpoint, RatingImport, Role, Run, StoredExport

from .access import Id, check_book_editable, get_book, get_case, get_run
from .authentication import READ, WRITE, ApiRequest
from .inputs import Input
from .runs import StartedRun

MAX_LISTED = 20  # raters
READ_BYTES = 1024 * 1024
router = Router(tags=["Files"])


class LineError(Schema):
    """What is wrong with a line of a file. line: from 1; null if it is not one line."""

    line: int | None = Field(examples=[7])
    message: str = Field(examples=["Column rating: 'good' is not a number."])


class ImportedRatings(Schema):
    """What an import of ratings did or, with `dry_run`, would do.

    added, changed, unchanged: compared with the ratings of the raters. unrated: queries of the file without a rating.
    new_queries: that the case did not have. errors: only with `dry_run`, at most 20; otherwise such a file is refused.
    is_stored: false if a worker stores the ratings, as it does more than 50,000, and with `dry_run`; see
    `/books/{book_id}/rating-import`.
    """

    format: str = Field(examples=["ratings as CSV"])
    is_stored: bool = Field(examples=[True])
    raters: list[str] = Field(description="Whom the file names.", examples=[[]])
    added: int = Field(examples=[120])
    changed: int = Field(examples=[3])
    unchanged: int = Field(examples=[0])
    unrated: int = Field(examples=[0])
    new_queries: int = Field(examples=[12])
    errors: list[LineError] = Field(examples=[[]])


class RatingImportDetails(Schema):
    """An import of many ratings, which a worker stores while the book is closed for other ratings.

    status: waiting, running, undoing (what it has stored is taken back), complete or failed (nothing is left of it).
    done: ratings that were compared with those of the raters. changed: how many of them are new or differ; known at the end.
    queries: of a file with so many that they are created in parts, 0 otherwise; `done` counts them as well.
    """

    id: int = Field(examples=[1])
    status: RatingImport.Status = Field(examples=["running"])
    done: int = Field(examples=[430000])
    total: int = Field(examples=[1000000])
    queries: int = Field(examples=[0])
    percent: int = Field(examples=[43])
    changed: int = Field(examples=[0])
    error: str = Field(description="Why it has failed.", examples=[""])
    started_at: datetime


class ExportDetails(Schema):
    """A file that takes too long for one request, which a worker makes for you. It is deleted a day after that.

    status: waiting, running, complete or failed. done, total: queries and rankings that are written; a file may have them twice.
    state: the address of these details, to be asked again until the status is complete; then the file is at the address `file`.
    """

    id: int = Field(examples=[1])
    name: str = Field(examples=["ratings"])
    status: StoredExport.Status = Field(examples=["running"])
    done: int = Field(examples=[430000])
    total: int = Field(examples=[1000000])
    percent: int = Field(examples=[43])
    error: str = Field(description="Why it has failed.", examples=[""])
    state: str = Field(examples=["/api/v1/exports/1"])
    file: str = Field(examples=["/api/v1/exports/1/file"])

    @staticmethod
    def resolve_state(stored: StoredExport) -> str:
        return reverse("api:read_export", args=[stored.pk])

    @staticmethod
    def resolve_file(stored: StoredExport) -> str:
        return reverse("api:download_export", args=[stored.pk])


class ImportedQueries(Schema):
    """What an import of queries did or, with `dry_run`, would do.

    changed: queries of the case that get other details. rejected: lines of a list that cannot be a query and are left out, at most 20.
    errors: only with `dry_run`, at most 20; otherwise such a file is refused.
    """

    format: str = Field(examples=["queries as CSV"])
    added: int = Field(examples=[40])
    changed: int = Field(examples=[3])
    present: int = Field(description="Queries that the case has already, with these details.", examples=[2])
    repeated: int = Field(examples=[0])
    rejected: list[LineError] = Field(examples=[[]])
    errors: list[LineError] = Field(examples=[[]])


class ImportedRuns(Schema):
    """The runs of a file; none with `dry_run`. remarks: what of the file and of the case was not part of it."""

    runs: list[StartedRun]
    names: list[str] = Field(description="Of the runs, in the order of the file.", examples=[["before", "after"]])
    remarks: str = Field(examples=["Run 7 imported."])


class ImportedWhole(Schema):
    """What a file with a whole case or book became. id: null with `dry_run`. remarks: what was changed or left out, and why."""

    id: int | None = Field(examples=[7])
    name: str = Field(examples=["Movies"])
    queries: int = Field(examples=[40])
    ratings: int = Field(examples=[1200])
    raters: list[str] = Field(description="At most 20 of them.", examples=[["ann@example.org"]])
    remarks: list[str] = Field(examples=[[]])


class DryRun(Input):
    dry_run: bool = Field(False, description="Checks the file and says what would be imported, and changes nothing.")


type RatingsFormat = Literal["", "csv", "trec", "ltr", "rre", "json", "searchtweak", "rankquest"]


class RatingsParameters(DryRun):
    format: RatingsFormat = Field("", description="Of the file; by default recognised by the file.")


class QueriesParameters(DryRun):
    format: Literal["", "queries-csv", "queries"] = Field(
        "", description="Of the file; by default recognised by the file."
    )


class CaseImport(DryRun):
    name: str = Field("", max_length=191, description="Of the case or book; by default that in the file.")
    endpoint_id: int | None = Field(
        None,
        ge=1,
        le=2**63 - 1,
        description="What the newest attempt searches. Without it, the attempts have no address until you choose an endpoint.",
    )


class BookImport(DryRun):
    name: str = Field("", max_length=191, description="By default that in the file.")


class RunsImport(DryRun):
    name: str = Field("", max_length=80, description="Of the run; by default the name or tag in the file.")


if TYPE_CHECKING:
    type CaseFile = str
    type RunFile = str
    type BookFile = str
else:
    CaseFile, RunFile, BookFile = (Literal[*exports.files_of(model)] for model in (Case, Run, Book))


def _documented(files: exports.Formats) -> dict[str, Any]:
    """What the OpenAPI document says about a file that is downloaded."""
    types = sorted({export.content_type for export in files.values()})
    text, json = {"type": "string", "format": "binary"}, {"oneOf": [{"type": "object"}, {"type": "array"}]}
    content = {name: {"schema": json if name == exports.JSON else text} for name in types}
    return {"responses": {200: {"description": "The file", "content": content}}}


LARGE = {202: ExportDetails}


@router.get(
    "/cases/{case_id}/export/{name}",
    auth=READ,
    response=LARGE,
    openapi_extra=_documented(exports.files_of(Case)),
)
def export_case_file(request: ApiRequest, case_id: Id, name: CaseFile) -> HttpResponseBase | Status[StoredExport]:
    """A file of a case: its ratings, its queries, its scores and results, or the whole case, also for another product.

    In a file for another product, `left_out` says what its format does not hold. 202 if a worker makes the file, because there are more
    than 500,000 ratings or results.
    """
    return _download(request, get_case(request, case_id), name)


@router.get(
    "/books/{book_id}/export/{name}",
    auth=READ,
    response=LARGE,
    openapi_extra=_documented(exports.files_of(Book)),
)
def export_book_file(request: ApiRequest, book_id: Id, name: BookFile) -> HttpResponseBase | Status[StoredExport]:
    """A file of a book: the ratings of every rater as CSV, or the whole book in the format `relevancy/1` or for another product.

    202 as for cases.
    """
    return _download(request, get_book(request, book_id), name)


@router.get(
    "/runs/{run_id}/export/{name}",
    auth=READ,
    response=LARGE,
    openapi_extra=_documented(exports.files_of(Run)),
)
def export_run_file(request: ApiRequest, run_id: Id, name: RunFile) -> HttpResponseBase | Status[StoredExport]:
    """The rankings of a run: as CSV with the displayed fields, or as a TREC run. 202 as for cases."""
    return _download(request, get_run(request, run_id), name)


@router.get("/exports/{export_id}", auth=READ, response=ExportDetails)
def read_export(request: ApiRequest, export_id: Id) -> StoredExport:
    """How far a large file is that you have asked for."""
    return _get_export(request, export_id)


@router.get(
    "/exports/{export_id}/file",
    auth=READ,
    openapi_extra=_documented({**exports.files_of(Case), **exports.files_of(Run), **exports.files_of(Book)}),
)
def download_export(request: ApiRequest, export_id: Id) -> HttpResponseBase:
    """A large file that is complete. 404 before that, and a day later."""
    stored = _get_export(request, export_id)
    export = exports.files_of(type(stored.row)).get(stored.name)
    path = stored_exports.path_of(stored)
    if export is None or stored.status != StoredExport.Status.COMPLETE or not path.exists():
        raise Http404
    return FileResponse(path.open("rb"), content_type=export.content_type)


def _get_export(request: ApiRequest, export_id: int) -> StoredExport:
    """Returns a file that the user has asked for, of what the user may still see."""
    own = StoredExport.objects.filter(by=request.user).select_related("case", "run", "book")
    stored = get_object_or_404(own, pk=export_id)
    if isinstance(stored.row, Book):
        get_book(request, stored.row.pk)
    else:
        get_case(request, stored.row.case_id if isinstance(stored.row, Run) else stored.row.pk)
    return stored


@router.post("/cases/{case_id}/import/ratings", auth=WRITE, response=ImportedRatings)
def import_ratings(
    request: ApiRequest, case_id: Id, parameters: Query[RatingsParameters], file: File[UploadedFile]
) -> RatingsPreview:
    """Imports a file of ratings, or nothing if anything is wrong with it. Adds queries that the case does not have.

    Ratings whose rater the file does not name become yours.
    """
    case = get_case(request, case_id, needs=Role.EDITOR)
    check_book_editable(request, case, hint="Ratings belong to the book.")
    source = ratings_import.open_source(case=case, file=file, name=file.name or "", format=parameters.format)
    preview = ratings_import.preview_ratings(case=case, source=source, by=request.user)
    if preview.errors and not parameters.dry_run:
        line, message = preview.errors[0]
        raise formats.BadFile(message, line=line)
    imported = None
    if not parameters.dry_run:
        try:
            imported = ratings_import.import_or_queue(case=case, source=source, by=request.user)
        except formats.BadFile:
            get_case(request, case_id, needs=Role.EDITOR)  # it may have been deleted meanwhile
            raise
        if isinstance(imported, RatingImport):
            tasks.send(tasks.import_ratings, imported.pk)
        elif imported.changed:
            tasks.enqueue_book_rescore(case.book_id)
    preview.is_stored = isinstance(imported, ratings_import.ImportedRatings)
    return preview


@router.get("/books/{book_id}/rating-import", auth=READ, response=RatingImportDetails | None)
def read_rating_import(request: ApiRequest, book_id: Id) -> RatingImport | None:
    """How far the last import of ratings by a worker into a book is; null if there was none."""
    get_book(request, book_id)
    return RatingImport.objects.last_of(book_id)


@router.post("/cases/{case_id}/import/queries", auth=WRITE, response=ImportedQueries)
def import_queries(
    request: ApiRequest, case_id: Id, parameters: Query[QueriesParameters], file: File[UploadedFile]
) -> dict[str, Any]:
    """Imports a file of queries: one to a line, or CSV with a column `query` and others with details, such as `notes` and `weight`.

    Queries that the case does not have are added at its end. The others get the details of the file; an empty cell changes nothing.
    """
    case = get_case(request, case_id, needs=Role.EDITOR)
    check_book_editable(request, case, hint="Queries belong to the book.")
    source = queries_import.open_source(case=case, file=file, name=file.name or "", format=parameters.format)
    if parameters.dry_run:
        imported = queries_import.preview_queries(case=case, source=source)
    else:
        imported = queries_import.import_queries(case=case, source=source, by=request.user)
        if imported.added or imported.changed:
            tasks.enqueue_book_rescore(case.book_id)
    return {
        "format": imported.format,
        "added": imported.added,
        "changed": imported.changed,
        "present": imported.unchanged,
        "repeated": imported.repeated,
        "rejected": [] if imported.has_errors else imported.lines,
        "errors": imported.lines if imported.has_errors else [],
    }


@router.post("/cases/{case_id}/import/runs", auth=WRITE, response={200: ImportedRuns, 201: ImportedRuns})
def import_runs(
    request: ApiRequest, case_id: Id, parameters: Query[RunsImport], file: File[UploadedFile]
) -> Status[dict[str, Any]]:
    """Stores rankings that were made elsewhere as runs: a TREC run, or CSV, which may contain several snapshots."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    snapshots = runs_file.read_file(file=file, name=file.name or "")
    if parameters.dry_run:
        plan = runs_file.plan_runs(case=case, snapshots=snapshots, name=parameters.name)
        return Status(
            200, {"runs": [], "names": [rankings.name for rankings in plan.rankings], "remarks": " ".join(plan.remarks)}
        )
    imported = runs_file.import_runs(case=case, snapshots=snapshots, by=request.user, name=parameters.name)
    for run in imported.runs:
        transaction.on_commit(partial(tasks.enqueue_run_rescore, run))
    started = [{"id": run.pk, "number": run.number, "status": run.status} for run in imported.runs]
    names = [run.name for run in imported.runs]
    return Status(201, {"runs": started, "names": names, "remarks": runs_file.describe_import(imported)})


@router.post("/import/cases", auth=WRITE, response={200: ImportedWhole, 201: ImportedWhole})
def import_case(request: ApiRequest, parameters: Query[CaseImport], file: File[UploadedFile]) -> Status[dict[str, Any]]:
    """Creates a case of a file, JSON or ZIP, or nothing if anything is wrong. Starts no run."""
    content = formats.parse_case(file)
    plan = case_import.plan_case(content=content, by=request.user)
    formats.check_page_limit(content.book.ratings.count, "import_case")
    endpoint = _usable_endpoint(request, parameters.endpoint_id)
    answer = _describe(content.book, parameters.name or content.name, plan.remarks)
    if parameters.dry_run:
        return Status(200, answer)
    case = case_import.import_case(plan=plan, by=request.user, endpoint=endpoint, name=parameters.name)
    for run in case.runs.all():
        transaction.on_commit(partial(tasks.enqueue_run_rescore, run))
    return Status(201, {**answer, "id": case.pk, "name": case.name})


@router.post("/import/books", auth=WRITE, response={200: ImportedWhole, 201: ImportedWhole})
def import_book(request: ApiRequest, parameters: Query[BookImport], file: File[UploadedFile]) -> Status[dict[str, Any]]:
    """Creates a book of a file, JSON or ZIP, or nothing if anything is wrong."""
    content = formats.read_book(file)
    formats.check_page_limit(content.ratings.count, "import_book", is_book=True)
    answer = _describe(content, parameters.name or content.name, content.remarks)
    if parameters.dry_run:
        return Status(200, answer)
    book = book_import.import_book(content=content, by=request.user, name=parameters.name)
    return Status(201, {**answer, "id": book.pk, "name": book.name})


def _describe(book: BookContent, name: str, remarks: Sequence[str]) -> dict[str, Any]:
    return {
        "id": None,
        "name": name,
        "queries": len(book.details),
        "ratings": book.ratings.count,
        "raters": book.ratings.names[:MAX_LISTED],
        "remarks": remarks,
    }


def _usable_endpoint(request: ApiRequest, endpoint_id: int | None) -> Endpoint | None:
    if endpoint_id is None:
        return None
    endpoint: Endpoint | None = Endpoint.objects.usable_by(request.user).live().filter(pk=endpoint_id).first()
    if endpoint is None:
        raise ValidationError({"endpoint_id": f"You may use no endpoint with the id {endpoint_id}."})
    return endpoint


def _download(request: ApiRequest, row: Case | Run | Book, name: str) -> HttpResponseBase | Status[StoredExport]:
    """Returns a file with an ETag of its content, or 304 if that is the one of If-None-Match. A large one is left to a worker, even if
    there is one already that is complete."""
    export = exports.files_of(type(row))[name]
    if export.is_large(row):
        return Status(202, tasks.enqueue_export(row=row, name=name, by=request.user, again=True))
    file = export.open(row, request.user)
    digest = hashlib.sha256()
    read: Callable[[], bytes] = partial(file.read, READ_BYTES)
    for content in iter(read, b""):
        digest.update(content)
    file.seek(0)
    etag = f'"{digest.hexdigest()[:32]}"'
    unchanged: HttpResponse | None = get_conditional_response(request, etag=etag)
    if unchanged is not None:
        file.close()
    response = FileResponse(file, content_type=export.content_type) if unchanged is None else unchanged
    response["ETag"] = etag
    return response
