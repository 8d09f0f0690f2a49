"""The objects that addresses name, if the user of the token may use them: the same rules as on the pages.

lock: whether the row is locked until the end of the transaction, for a change that If-Match may refuse.
"""

from typing import Annotated, Any, overload

from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.shortcuts import get_object_or_404
from ninja import Path
from pydantic import BeforeValidator, Field

from relevancy.models import Attempt, Book, Case, Endpoint, Query, Role, Run, Scorer
from relevancy.views.permissions import get_or_403

from .authentication import ApiRequest

Id = Annotated[int, Path(ge=1, le=2**63 - 1, examples=[1])]
ObjectId = Annotated[int, Field(ge=1, le=2**63 - 1)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Name = Annotated[str, BeforeValidator(str)]  # of a user, by the user


def lockable[Q: QuerySet[Any]](rows: Q, *, lock: bool) -> Q:
    """Returns the rows, which are locked when they are read if `lock` is set; others that they are joined with are not."""
    return rows.select_for_update(of=("self",), no_key=True) if lock else rows


@overload
def find[M: Model](rows: QuerySet[M], field: str, message: str, **wanted: int) -> M: ...
@overload
def find[M: Model](rows: QuerySet[M], field: str, message: str, **wanted: int | None) -> M | None: ...
def find[M: Model](rows: QuerySet[M], field: str, message: str, **wanted: int | None) -> M | None:
    """Returns the row that a field of a request names, such as `pk=7`; None if its value is null.

    Raises `ValidationError` with the message, in which {} is the value, if there is no such row.
    """
    (value,) = wanted.values()
    if value is None:
        return None
    row = rows.filter(**wanted).first()
    if row is None:
        raise ValidationError({field: message.format(value)})
    return row


def get_case(request: ApiRequest, case_id: int, *, needs: Role = Role.VIEWER, lock: bool = False) -> Case:
    """Returns a case, with its book and owner. Raises `Http404`, `PermissionDenied`."""
    rows = lockable(Case.objects.select_related("book", "owner"), lock=lock)
    case: Case = get_or_403(rows, request.user, case_id, needs=needs)
    return case


def check_book_editable(request: ApiRequest, case: Case, *, hint: str, needs: Role = Role.EDITOR) -> None:
    """Raises `PermissionDenied` unless the user has a role on the book of a case, too. hint: why, in a sentence."""
    get_or_403(Book.objects, request.user, case.book_id, needs=needs, hint=hint)


def get_book(request: ApiRequest, book_id: int, *, needs: Role = Role.VIEWER, lock: bool = False) -> Book:
    """Returns a book, with its owner. Raises `Http404`, `PermissionDenied`."""
    rows = lockable(Book.objects.select_related("owner"), lock=lock)
    book: Book = get_or_403(rows, request.user, book_id, needs=needs)
    return book


def get_query(request: ApiRequest, query_id: int, *, needs: Role = Role.VIEWER, lock: bool = False) -> Query:
    """Returns a query by the role on its book. Raises `Http404`, `PermissionDenied`."""
    query: Query = get_object_or_404(lockable(Query.objects.all(), lock=lock), pk=query_id)
    query.book = get_book(request, query.book_id, needs=needs)
    return query


def get_attempt(
    request: ApiRequest, case_id: int, number: int, *, needs: Role = Role.VIEWER, lock: bool = False
) -> Attempt:
    """Returns an attempt by its number in a case; `lock` locks the case, too. Raises `Http404`, `PermissionDenied`."""
    case = get_case(request, case_id, needs=needs, lock=lock)
    attempts = case.attempts.select_related("endpoint__owner", "parent", "created_by")
    attempt: Attempt = get_object_or_404(lockable(attempts, lock=lock), number=number)
    attempt.case = case
    return attempt


def get_run(request: ApiRequest, run_id: int, *, needs: Role = Role.VIEWER) -> Run:
    """Returns a run by the role on its case. Raises `Http404`, `PermissionDenied`."""
    run: Run = get_object_or_404(Run.objects.select_related("attempt", "created_by"), pk=run_id)
    run.case = get_case(request, run.case_id, needs=needs)
    return run


def get_endpoint(request: ApiRequest, endpoint_id: int, *, needs: Role = Role.VIEWER) -> Endpoint:
    """Returns an endpoint; its secrets are read where they are needed. Raises `Http404`, `PermissionDenied`."""
    rows = Endpoint.objects.select_related("owner").defer("credentials", "headers")
    endpoint: Endpoint = get_or_403(rows, request.user, endpoint_id, needs=needs)
    return endpoint


def get_scorer(request: ApiRequest, scorer_id: int, *, needs: Role = Role.VIEWER) -> Scorer:
    """Returns a scorer. Raises `Http404`, `PermissionDenied`."""
    scorer: Scorer = get_or_403(Scorer.objects.select_related("owner"), request.user, scorer_id, needs=needs)
    return scorer
