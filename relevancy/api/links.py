"""Links between queries of a case: variants of one query, which count once in tests."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Router, Schema, Status
from pydantic import Field, StrictBool

from relevancy import books, queries, scores, tasks
from relevancy.models import Case, QueryLink, Role
from relevancy.models import Query as BookQuery

from .access import Id, ObjectId, check_book_editable, find, get_case, lockable
from .authentication import READ, WRITE, ApiRequest
from .inputs import Input
from .preconditions import IfMatch, check_if_match, set_etag

router = Router(tags=["Links"])


class LinkedQuery(Schema):
    """A query of the case that is linked with others."""

    query_id: int
    text: str = Field(validation_alias="query.text", examples=["star treck"])


class LinkDetails(Schema):
    """Queries that count once in tests.

    queries: those of the case, in its order; the link may have others of the same book.
    """

    id: int
    queries: list[LinkedQuery]


class NewLink(Input):
    """Queries to link with each other, and with those that one of them is linked with already."""

    query_ids: list[ObjectId] = Field(
        min_length=2,
        max_length=queries.MAX_LINKED,
        examples=[[1, 2]],
        description="Queries of the case, by `query_id`.",
    )


class CopySource(Input):
    """The linked query whose ratings are copied."""

    query_id: ObjectId = Field(examples=[1])
    dry_run: StrictBool = Field(False, description="Says how many ratings would be copied, and changes nothing.")


class CopiedRatings(Schema):
    """How many ratings were stored."""

    copied: int = Field(examples=[12])


@router.get("/cases/{case_id}/links", auth=READ, response=list[LinkDetails])
def list_links(request: ApiRequest, case_id: Id) -> list[dict[str, Any]]:
    """All links between queries of a case, in one answer. Those that only one query of the case is part of are left out."""
    return _links(get_case(request, case_id))


@router.post("/cases/{case_id}/links", auth=WRITE, response={201: LinkDetails})
def link_queries(request: ApiRequest, case_id: Id, new: NewLink) -> Status[dict[str, Any]]:
    """Links queries. Needs the role editor on the case and on its book."""
    case = _get_editable(request, case_id)
    present = case.case_queries.present().filter(query__in=new.query_ids).select_related("query")
    chosen: list[BookQuery] = [row.query for row in present]
    if unknown := sorted(set(new.query_ids) - {query.pk for query in chosen}):
        raise ValidationError({"query_ids": f"The case has no query with the id {unknown[0]}."})
    for query in chosen:
        query.book = case.book
    stored = queries.link(queries=chosen, by=request.user)
    return Status(201, next(link for link in _links(case) if link["id"] == stored.pk))


@router.get("/cases/{case_id}/links/{link_id}", auth=READ, response=LinkDetails)
def read_link(request: ApiRequest, response: HttpResponse, case_id: Id, link_id: Id) -> dict[str, Any]:
    """A link between queries of the book of a case. The ETag can be sent as If-Match when you change or remove it."""
    case = get_case(request, case_id)
    link = _find(case, link_id)
    present = case.case_queries.present().filter(query__link=link).select_related("query")
    details = {"id": link.pk, "queries": list(present.order_by("position", "pk"))}
    return set_etag(response, details, state=_state(link))


@router.post("/cases/{case_id}/links/{link_id}/copy", auth=WRITE, response=CopiedRatings)
def copy_linked_ratings(request: ApiRequest, case_id: Id, link_id: Id, source: CopySource) -> dict[str, int]:
    """Copies the grades of a query to the queries that it is linked with. Documents that have a grade there keep it.

    Raters, notes and times stay. Needs the role editor on the case and on its book. Repeating it copies what has been rated since.
    """
    case = _get_editable(request, case_id)
    link = _find(case, link_id)
    query = find(link.queries.all(), "query_id", "The link has no query with the id {}.", pk=source.query_id)
    if source.dry_run:
        return {"copied": books.preview_copies(link).get(query.pk, 0)}
    query.book = case.book
    count = books.copy_to_linked(query=query, by=request.user)
    if count:
        tasks.enqueue_book_rescore(case.book_id)
    return {"copied": count}


@router.delete("/cases/{case_id}/links/{link_id}", auth=WRITE, response={204: None})
def remove_link(request: ApiRequest, case_id: Id, link_id: Id, if_match: IfMatch) -> Status[None]:
    """Removes a link between queries, those of the book included that are not in the case. No rating changes."""
    case = _get_editable(request, case_id)
    with transaction.atomic():
        link = _find(case, link_id, lock=True)
        check_if_match(if_match, state=_state(link))
        queries.unlink_all(query_link=link, by=request.user)
    return Status(204, None)


def _get_editable(request: ApiRequest, case_id: int) -> Case:
    case = get_case(request, case_id, needs=Role.EDITOR)
    check_book_editable(request, case, hint="Links belong to the book.")
    return case


def _find(case: Case, link_id: int, *, lock: bool = False) -> QueryLink:
    """Returns a link of the book of a case. Locks its queries first, in the order of other changes of links. Raises `Http404`."""
    if lock:
        scores.lock_queries(BookQuery.objects.filter(link=link_id).values_list("pk", flat=True))
    rows = lockable(QueryLink.objects.select_related("book"), lock=lock)
    link: QueryLink = get_object_or_404(rows, book=case.book_id, pk=link_id)
    return link


def _state(link: QueryLink) -> object:
    return sorted(link.queries.values_list("pk", flat=True))


def _links(case: Case) -> list[dict[str, Any]]:
    return [{"id": link.pk, "queries": rows} for link, rows in queries.links_of(case).items()]
