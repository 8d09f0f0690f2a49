"""Cases: created, copied, named, archived and deleted."""

from datetime import datetime
from functools import partial
from typing import Any, Literal

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field, StrictBool

from relevancy import cases, queries, scorers, scores, tasks
from relevancy.models import Book, Case, CaseScorer, Endpoint, Role, Run, Scorer, Team

from .access import Id, Name, ObjectId, find, get_case
from .authentication import READ, WRITE, ApiRequest
from .case_scorers import CaseScorerDetails, scorers_of
from .inputs import Input
from .paging import Page, PageParameters, paginate
from .preconditions import IfMatch, check_if_match, set_etag
from .runs import RunDetails, rescore_outdated

MAX_QUERIES = 1_000  # in one request
MAX_NAME = 191
router = Router(tags=["Cases"])


class CaseSummary(Schema):
    """A case. role: yours, which is viewer, rater, editor or owner."""

    id: int
    name: str = Field(examples=["Movies"])
    role: str = Field(validation_alias="role_label", examples=["editor"])
    book_id: int
    created_at: datetime
    archived_at: datetime | None


class CaseDetails(CaseSummary):
    """A case with its scorers, the primary one first, and its newest run."""

    owner: Name
    query_count: int
    scorers: list[CaseScorerDetails]
    newest_run: RunDetails | None

    @staticmethod
    def resolve_query_count(case: Case) -> int:
        return scores.count_queries(case)

    @staticmethod
    def resolve_scorers(case: Case) -> list[CaseScorer]:
        return scorers_of(case)

    @staticmethod
    def resolve_newest_run(case: Case) -> Run | None:
        newest: Run | None = Run.objects.newest_for(case).select_related("attempt", "created_by").first()
        if newest is not None:
            newest.case = case
        return newest


class NewCase(Input):
    """A case. Only the name is needed; the rest is what the pages ask for when a case is created.

    endpoint_id, template, fields: the first attempt, which is run at once. Without an endpoint, the case waits for runs that were made
    elsewhere, or for its first attempt.
    """

    name: str = Field(min_length=1, max_length=MAX_NAME, examples=["Movies"])
    scorer_id: ObjectId | None = Field(None, description="The primary scorer; null: your default.")
    scale: str = Field(
        "",
        max_length=4_000,
        examples=["0 Poor, 1 Fair, 2 Good, 3 Perfect"],
        description="LOWEST:HIGHEST, or grades with labels. Default: of the scorer.",
    )
    book_id: ObjectId | None = Field(
        None, description="A book that you can edit: the case has its scale and all its queries. null: a new book."
    )
    team_id: ObjectId | None = Field(None, description="A team that the case is shared with, and its book.")
    queries: list[str] = Field(default_factory=list, max_length=MAX_QUERIES, examples=[["star wars", "star trek"]])
    endpoint_id: ObjectId | None = Field(None, description="An endpoint that you may use.")
    template: str = Field("", max_length=20_000, examples=["q=#$query##"])
    fields: str = Field("", max_length=2_000, examples=["title:title id:id"])


class CaseCopy(Input):
    """How to copy a case. ratings: whether they are copied into a book of its own, the copy shares the book, or its book has none."""

    name: str = Field(min_length=1, max_length=MAX_NAME, examples=["Movies, second try"])
    ratings: Literal["copy", "share", "none"] = "copy"
    with_attempts: StrictBool = Field(True, description="Whether attempts are copied that are not archived.")


class CopiedCase(Schema):
    """A copy. left_out: attempts and scorers that you may not use in another case."""

    id: int = Field(validation_alias="case.pk")
    name: str = Field(validation_alias="case.name")
    ratings: int = Field(description="Number of ratings that were copied.")
    left_out: list[str] = Field(examples=[["attempt 3"]])


class CaseChanges(Input):
    """What to change. Fields that are left out or null stay as they are."""

    name: str | None = Field(None, min_length=1, max_length=MAX_NAME, examples=["Movies"])
    archived: StrictBool | None = Field(
        None, description="true hides the case and keeps everything; false restores it. For owners."
    )


class CaseDeletion(Input):
    with_book: bool = Field(False, description="Whether the book is deleted, too, with all its ratings.")


class CaseFilter(PageParameters):
    text: str = Field(
        "", max_length=200, description="Words that the name of the case, of its engine or scorer contains."
    )
    archived: bool = Field(False, description="Archived cases instead of the others.")


@router.get("/cases", auth=READ, response=Page[CaseSummary])
def list_cases(request: ApiRequest, page: Query[CaseFilter]) -> dict[str, Any]:
    """The cases that you may see, oldest first."""
    visible = cases.find_cases(request.user, archived=page.archived, text=page.text)
    return paginate(visible, page, "id")


@router.post("/cases", auth=WRITE, response={201: CaseDetails})
def create_case(request: ApiRequest, response: HttpResponse, new: NewCase) -> Status[CaseDetails]:
    """Creates a case that is yours, or nothing if anything is wrong. With an endpoint, its first run starts."""
    user = request.user
    # The case gives its members access to the queries of the book, and the team to the book itself.
    book = find(Book.objects.editable_by(user), "book_id", "There is no book {} that you may edit.", pk=new.book_id)
    sharing = "There is no team {} that you may share a case with."
    team = find(Team.objects.shareable_by(user), "team_id", sharing, pk=new.team_id)
    if team and book and not Book.objects.owned_by(user).filter(pk=book.pk).exists():
        message = f"The case shares its book “{book}” with the team. You need the role Owner on the book for that."
        raise ValidationError({"team_id": message})
    if book is not None and new.scale:
        raise ValidationError({"scale": "The case has the scale of its book. Send scale or book_id."})
    pasted = queries.parse_lines(new.queries)
    if pasted.rejected:
        raise ValidationError({"queries": [f"Query {number}: {message}" for number, message in pasted.rejected]})
    if new.endpoint_id is not None and not pasted.texts and not (book and book.queries.live().exists()):
        raise ValidationError(
            {"queries": "Send at least one query for the first run, or create the case without endpoint_id."}
        )
    setup = cases.CaseSetup(
        name=new.name,
        scorer=find(
            Scorer.objects.offered(user),
            "scorer_id",
            "There is no scorer {} that you may use in a new case.",
            pk=new.scorer_id,
        )
        or scorers.default_scorer(user),
        endpoint=find(
            Endpoint.objects.usable_by(user).live(),
            "endpoint_id",
            "You may use no endpoint with the id {}.",
            pk=new.endpoint_id,
        ),
        template=new.template,
        fields=new.fields,
        texts=pasted.texts,
        scale=scorers.parse_scale(new.scale) if new.scale else None,
        book=book,
        team=team,
    )
    created = cases.create_from_setup(setup=setup, by=user)
    if created.run is not None:
        transaction.on_commit(partial(tasks.enqueue_run, created.run))
    response["Location"] = f"/api/v1/cases/{created.case.pk}"
    return Status(201, _tagged(response, get_case(request, created.case.pk)))


@router.get("/cases/{case_id}", auth=READ, response=CaseDetails)
def read_case(request: ApiRequest, response: HttpResponse, case_id: Id) -> CaseDetails:
    """A case with its newest run and its scores. The ETag can be sent as If-Match when you change or delete it."""
    return _tagged(response, get_case(request, case_id))


@router.patch("/cases/{case_id}", auth=WRITE, response=CaseDetails)
def change_case(
    request: ApiRequest, response: HttpResponse, case_id: Id, changes: CaseChanges, if_match: IfMatch
) -> CaseDetails:
    """Renames a case, whose book keeps its name; archives or restores it, for which you need the role owner."""
    needs = Role.EDITOR if changes.archived is None else Role.OWNER
    with transaction.atomic():
        case = get_case(request, case_id, needs=needs, lock=True)
        check_if_match(if_match, state=_state(case))
        if changes.name is not None:
            cases.rename(case=case, name=changes.name, by=request.user)
        if changes.archived not in (None, case.archived_at is not None):
            change = cases.archive if changes.archived else cases.restore
            change(case=case, by=request.user)
    return _tagged(response, case)


@router.delete("/cases/{case_id}", auth=WRITE, response={204: None})
def delete_case(request: ApiRequest, case_id: Id, parameters: Query[CaseDeletion], if_match: IfMatch) -> Status[None]:
    """Deletes a case with its attempts, runs and scores for good. Needs the role owner. To hide it only, archive it."""
    case = get_case(request, case_id, needs=Role.OWNER)
    check_if_match(if_match, state=_state(case))
    cases.delete(case=case, by=request.user, with_book=parameters.with_book)
    return Status(204, None)


@router.post("/cases/{case_id}/copies", auth=WRITE, response={201: CopiedCase})
def copy_case(request: ApiRequest, response: HttpResponse, case_id: Id, new: CaseCopy) -> Status[cases.Duplicate]:
    """Copies a case with its queries and scorers; the copy is yours and not shared. Runs and scores are not copied."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    copy = cases.duplicate(
        case=case, name=new.name, ratings=new.ratings, with_attempts=new.with_attempts, by=request.user
    )
    response["Location"] = f"/api/v1/cases/{copy.case.pk}"
    return Status(201, copy)


def _state(case: Case) -> object:
    """Returns what `change_case` changes."""
    return [case.name, case.archived_at]


def _tagged(response: HttpResponse, case: Case) -> CaseDetails:
    details = CaseDetails.from_orm(case)
    if details.newest_run is not None:
        rescore_outdated(details.newest_run)
    return set_etag(response, details, state=_state(case))
