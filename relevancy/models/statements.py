"""Statements that every request executes, with SQL that is built once.

Django builds the SQL of a QuerySet each time, which takes 0.5 to 4 ms, and PostgreSQL plans it each time, 0.2 to 0.6 ms: both more than
reading a few rows. See docs/decisions/0051.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import wraps
from typing import Any

from django.db import connection, connections
from django.db.backends.utils import CursorWrapper
from django.db.models import Model, QuerySet

CHECKS = False  # whether each call builds the statement as well and compares it; for tests
MAX_NUMBER = 2_000_000_000  # numbers from here on are placeholders, in the smallest integer column


def compiled[M: Model](build: Callable[..., QuerySet[M]]) -> Callable[..., list[M]]:
    """Decorates a function that returns a QuerySet for some integers and texts, so that it returns the rows. One SQL statement.

    They are positional arguments and may only become parameters of the statement. Keyword arguments may change it, so its SQL is built
    once for each combination of them; nothing else may, such as the time or a setting.
    """
    statements: dict[Any, _Statement[M]] = {}

    @wraps(build)
    def read(*values: int | str, **shape: Any) -> list[M]:
        if not all(isinstance(value, str) or 0 <= value < MAX_NUMBER for value in values):
            return list(build(*values, **shape))  # Django knows which columns cannot have such a number
        key = (*[isinstance(value, str) for value in values], *sorted(shape.items()))
        statement = statements.get(key)
        if statement is None:
            placeholders = [_placeholder(value, position) for position, value in enumerate(values)]
            statement = statements[key] = _Statement(build(*placeholders, **shape), placeholders)
        if CHECKS:
            statement.check(build(*values, **shape), values)
        return statement.rows(values)

    return read


def _placeholder(value: int | str, position: int) -> int | str:
    return f"placeholder {position} of a statement" if isinstance(value, str) else MAX_NUMBER + position


class _Statement[M: Model]:
    """The SQL of a QuerySet that was built for placeholders."""

    def __init__(self, queryset: QuerySet[M], placeholders: Sequence[int | str]) -> None:
        self._queryset = queryset
        self._positions = {placeholder: position for position, placeholder in enumerate(placeholders)}
        self._compiler = queryset.query.get_compiler(queryset.db)
        self._sql, self._parameters = self._compiler.as_sql()

    def rows(self, values: Sequence[int | str]) -> list[M]:
        """Executes the statement with the values in place of the placeholders."""
        compiler: Any = copy(self._compiler)
        compiler.connection = connections[self._queryset.db]  # of this thread
        with prepared_cursor() as cursor:
            cursor.execute(self._sql, self._bind(values))
            fetched = cursor.fetchall()
        compiler.execute_sql = lambda *_, **__: [fetched]
        queryset: Any = self._queryset.all()
        queryset.query.get_compiler = lambda *_, **__: compiler
        return list(queryset)

    def check(self, queryset: QuerySet[M], values: Sequence[int | str]) -> None:
        """Raises `AssertionError` if the QuerySet, built for the values, is another statement."""
        built = queryset.query.get_compiler(queryset.db).as_sql()
        assert built == (self._sql, self._bind(values)), f"{built} is not {self._sql} for {values}"

    def _bind(self, values: Sequence[int | str]) -> tuple[Any, ...]:
        # Of the same type as the placeholder: psycopg has one for each size of integer.
        return tuple(
            type(parameter)(values[self._positions[parameter]])
            if isinstance(parameter, int | str) and parameter in self._positions
            else parameter
            for parameter in self._parameters
        )


@contextmanager
def prepared_cursor() -> Iterator[CursorWrapper]:
    """A cursor for SQL that every request or rating executes and that needs the same plan for all values: PostgreSQL plans it once."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            from django.db.backends.postgresql.base import ServerBindingCursor  # noqa: PLC0415 (needs psycopg)

            # psycopg prepares its statements. Its types are not Django's.
            cursor.cursor = ServerBindingCursor(connection.connection)  # type: ignore[call-arg]
        yield cursor
