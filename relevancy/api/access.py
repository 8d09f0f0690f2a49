"""The objects that addresses name, if the user of the token may use them: the same rules as on the pages."""

from typing import Annotated

from django.shortcuts import get_object_or_404
from ninja import Path
from pydantic import Field

from relevancy.models import Attempt, Book, Case, Endpoint, Query, Role, Run
from relevancy.views.permissions import get_or_403

from .authentication import ApiRequest

Id = Annotated[int, Path(ge=1, le=2**63 - 1, examples=[1])]
ObjectId = Annotated[int, Field(ge=1, le=2**63 - 1)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


def get_case(request: ApiRequest, case_id: int, *, needs: Role = Role.VIEWER) -> Case:
    """Returns a case, with its book and owner. Raises `Http404`, `PermissionDenied`."""
    case: Case = get_or_403(Case.objects.select_related("book", "owner"), request.user, case_id, needs=needs)
    return case


def get_book(request: ApiRequest, book_id: int, *, needs: Role = Role.VIEWER) -> Book:
    """Returns a book, with its owner. Raises `Http404`, `PermissionDenied`."""
    book: Book = get_or_403(Book.objects.select_related("owner"), request.user, book_id, needs=needs)
    return book


def get_query(request: ApiRequest, query_id: int, *, needs: Role = Role.VIEWER) -> Query:
    """Returns a query by the role on its book. Raises `Http404`, `PermissionDenied`."""
    query: Query = get_object_or_404(Query, pk=query_id)
    query.book = get_book(request, query.book_id, needs=needs)
    return query


def get_attempt(request: ApiRequest, case_id: int, number: int, *, needs: Role = Role.VIEWER) -> Attempt:
    """Returns an attempt by its number in a case. Raises `Http404`, `PermissionDenied`."""
    case = get_case(request, case_id, needs=needs)
    attempts = case.attempts.select_related("endpoint__owner", "parent", "created_by")
    attempt: Attempt = get_object_or_404(attempts, number=number)
    attempt.case = case
    return attempt


def get_run(request: ApiRequest, run_id: int, *, needs: Role = Role.VIEWER) -> Run:
    """Returns a run by the role on its case. Raises `Http404`, `PermissionDenied`."""
    run: Run = get_object_or_404(Run.objects.select_related("attempt", "created_by"), pk=run_id)
    run.case = get_case(request, run.case_id, needs=needs)
    return run


def get_endpoint(request: ApiRequest, endpoint_id: int, *, needs: Role = Role.VIEWER) -> Endpoint:
    """Returns an endpoint. Raises `Http404`, `PermissionDenied`."""
    endpoint: Endpoint = get_or_403(Endpoint.objects.select_related("owner"), request.user, endpoint_id, needs=needs)
    return endpoint
