"""What the user of a request may do with a case."""

from functools import cached_property
from typing import Any, cast

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from relevancy.models import Book, Case, CaseQuery, Role, User, compiled
from relevancy.scores import QueryRatings
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest

HIDDEN = "You judge this book blind: this would show the grades of others before you have given yours."


class CaseAccess:
    """What a user may do with a case that was read by one of the access methods, such as `Case.objects.visible_to`."""

    def __init__(self, case: Case, user: User) -> None:
        self.can_rate = case.is_rateable
        self.can_edit = case.is_editable
        self.can_share = case.is_owned
        self.role_label = case.role_label
        self._case = case
        self._user = user

    @cached_property
    def can_edit_book(self) -> bool:
        """Whether the user may also change the book, which the texts, tags and notes of queries belong to."""
        return self.can_edit and Book.objects.editable_by(self._user).filter(pk=self._case.book_id).exists()

    @cached_property
    def is_blind(self) -> bool:
        """Whether the page hides the grades of others until the user has judged a document; see `QueryRatings.blind_for`."""
        return self.can_rate and not self.can_edit and Book.objects.hides_grades(self._case.book_id, self._user)

    def read_ratings(self, query_id: int) -> QueryRatings:
        """Returns the ratings of a query that the user may see. One SQL statement, and one more for raters."""
        ratings = QueryRatings.read(query_id)
        return ratings.blind_for(self._user) if self.is_blind else ratings


def get_case(request: HtmxRequest, case_id: int, *, needs: Role = Role.VIEWER) -> Case:
    """Returns a case on which the user has at least the role `needs`, with its book; see `get_or_403`."""
    user = request.user
    for case in _cases(case_id, user.pk, is_superuser=user.is_superuser, needs=needs):
        return case
    case = get_or_403(Case.objects.select_related("book"), user, case_id, needs=needs)
    return cast(Case, case)


@compiled
def _cases(case_id: int, user_id: int, *, is_superuser: bool, needs: Role) -> QuerySet[Case]:
    cases: Any = Case.objects.select_related("book").filter(pk=case_id)
    return cases.with_role(User(pk=user_id, is_superuser=is_superuser)).filter(role__gte=needs)


def get_rateable_query(request: HtmxRequest, case_id: int, case_query_id: int) -> CaseQuery:
    """Returns a present query of a case that the user may rate, with case and book. Raises what `get_case` and
    `get_case_query` raise. One SQL statement if there is one."""
    user = request.user
    for case_query in _case_queries(case_id, case_query_id, user.pk, is_superuser=user.is_superuser):
        if case_query.role >= Role.RATER:
            case_query.case.role = case_query.role
            case_query.query.book = case_query.case.book
            return case_query
    return get_case_query(get_case(request, case_id, needs=Role.RATER), case_query_id)


@compiled
def _case_queries(case_id: int, case_query_id: int, user_id: int, *, is_superuser: bool) -> QuerySet[CaseQuery]:
    present = CaseQuery.objects.present().filter(case=case_id, pk=case_query_id)
    return present.with_role(User(pk=user_id, is_superuser=is_superuser)).select_related("query", "case__book")


def get_case_query(case: Case, case_query_id: int) -> CaseQuery:
    """Returns a present query of a case, with the book of the case. Raises `Http404` if there is none with this id."""
    case_query: CaseQuery = get_object_or_404(case.case_queries.present().select_related("query"), pk=case_query_id)
    case_query.query.book = case.book
    return case_query


def get_case_with_editable_book(request: HtmxRequest, case_id: int) -> Case:
    """Returns a case if the user may change both the case and its book; see `get_or_403`."""
    book_role = Book.objects.all().role_of(request.user, "book__")
    cases = Case.objects.select_related("book").annotate(book_role=book_role)
    case: Any = get_or_403(cases, request.user, case_id, needs=Role.EDITOR)
    if case.book_role < Role.EDITOR:  # the error says who can change that
        hint = "Queries and their texts belong to the book."
        get_or_403(Book.objects, request.user, case.book_id, needs=Role.EDITOR, hint=hint)
    return cast(Case, case)
