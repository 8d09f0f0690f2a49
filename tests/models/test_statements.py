"""Statements whose SQL is built once."""

import threading
from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet

from relevancy.models import Case, ScorerVersion, compiled, statements
from tests import factories

pytestmark = pytest.mark.django_db


@compiled
def cases_of(owner_id: int, *, limit: int) -> QuerySet[Case]:
    return Case.objects.filter(owner=owner_id).select_related("owner").order_by("pk")[:limit]


@compiled
def case(pk: int) -> QuerySet[Case]:
    return Case.objects.filter(pk=pk)


@compiled
def named(name: str, owner_id: int) -> QuerySet[Case]:
    return Case.objects.filter(name=name, owner=owner_id)


def test_rows_are_those_of_the_queryset(django_assert_num_queries: Any) -> None:
    """Two calls with different numbers and keyword arguments."""
    first, second = (factories.make_case() for _ in range(2))
    third = factories.make_case(owner=second.owner)
    with django_assert_num_queries(3):
        assert cases_of(first.owner_id, limit=5) == [first]
        assert cases_of(second.owner_id, limit=5) == [second, third]
        assert cases_of(second.owner_id, limit=1) == [second]
    (read,) = cases_of(first.owner_id, limit=5)
    with django_assert_num_queries(0):
        assert (read.owner, read.name) == (first.owner, first.name)


def test_texts_are_parameters() -> None:
    """Also one that looks like the placeholder of another statement, or like SQL."""
    first = factories.make_case()
    second = factories.make_case(owner=first.owner)
    first.name, second.name = "placeholder 0 of a statement", "' OR 1 = 1 --"
    Case.objects.bulk_update([first, second], ["name"])
    assert named(first.name, first.owner_id) == [first]
    assert named(second.name, first.owner_id) == [second]
    assert named("", first.owner_id) == []


@pytest.mark.parametrize("number", [-1, 0, statements.MAX_NUMBER, 2**31, 2**63, 10**30])
def test_a_number_that_no_row_can_have_finds_nothing(number: int) -> None:
    assert case(number) == []


def test_the_sql_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "CHECKS", False)
    calls = []

    @compiled
    def versions(pk: int) -> QuerySet[ScorerVersion]:
        calls.append(pk)
        return ScorerVersion.objects.filter(pk=pk)

    version = ScorerVersion.objects.earliest("pk")
    assert [versions(version.pk), versions(0), versions(version.pk)] == [[version], [], [version]]
    assert calls == [statements.MAX_NUMBER]


def test_tests_find_a_statement_that_depends_on_something_else() -> None:
    """A number that changes the SQL, and one that another value hides."""
    numbers = iter(range(10))

    @compiled
    def sliced(limit: int) -> QuerySet[Case]:
        return Case.objects.order_by("pk")[: min(limit, 3)]

    @compiled
    def counted(owner_id: int) -> QuerySet[Case]:
        return Case.objects.filter(owner=owner_id, pk=next(numbers))

    for read in (sliced, counted):
        with pytest.raises(AssertionError, match="is not"):
            read(1)


@pytest.mark.django_db(transaction=True)
def test_each_thread_uses_its_own_connection() -> None:
    stored = factories.make_case()
    assert case(stored.pk) == [stored]
    found: list[Any] = []

    def read() -> None:
        found.extend(case(stored.pk))
        connection.close()
        if connection.connection:
            connection.connection.close()  # Django keeps a database in memory open

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert found == [stored]
