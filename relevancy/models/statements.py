"""Statements that every request executes, with SQL that is built once.

Django builds the SQL of a QuerySet each time, which takes 0.5 to 4 ms, and PostgreSQL plans it each time, 0.2 to 0.6 ms: both more than
reading a few rows. See docs/decisions/0051.
"""

from collections.abc import Callable, Sequence
from copy import copy
from functools import wraps
from typing import Any

from django.db import connections
from django.db.models import Model, QuerySet

CHECKS = False  # whether each call builds the statement as well and compares it; for tests
MAX_NUMBER = 2_000_000_000  # numbers from here on are placeholders, in the smallest integer column


def compiled[M: Model](build: Callable[..., QuerySet[M]]) -> Callable[..., list[M]]:
    """Decorates a function that returns a QuerySet for some integers, so that it returns the rows. One SQL statement.

    The integers are positional arguments and may only become parameters of the statement. Keyword arguments may change it, so its SQL
    is built once for each combination of them; nothing else may, such as the time or a setting.
    """
    statements: dict[Any, _Statement[M]] = {}

    @wraps(build)
    def read(*numbers: int, **shape: Any) -> list[M]:
        if not all(0 <= number < MAX_NUMBER for number in numbers):
            return list(build(*numbers, **shape))  # Django knows which columns cannot have such a number
        key = (len(numbers), *sorted(shape.items()))
        statement = statements.get(key)
        if statement is None:
            placeholders = range(MAX_NUMBER, MAX_NUMBER + len(numbers))
            statement = statements[key] = _Statement(build(*placeholders, **shape))
        if CHECKS:
            statement.check(build(*numbers, **shape), numbers)
        return statement.rows(numbers)

    return read


class _Statement[M: Model]:
    """The SQL of a QuerySet that was built for placeholders."""

    def __init__(self, queryset: QuerySet[M]) -> None:
        self._queryset = queryset
        self._compiler = queryset.query.get_compiler(queryset.db)
        self._sql, self._parameters = self._compiler.as_sql()

    def rows(self, numbers: Sequence[int]) -> list[M]:
        """Executes the statement with the numbers in place of the placeholders."""
        compiler: Any = copy(self._compiler)
        compiler.connection = connections[self._queryset.db]  # of this thread
        with compiler.connection.cursor() as cursor:
            if compiler.connection.vendor == "postgresql":
                from django.db.backends.postgresql.base import ServerBindingCursor  # noqa: PLC0415 (needs psycopg)

                # psycopg prepares its statements. Its types are not Django's.
                cursor.cursor = ServerBindingCursor(compiler.connection.connection)  # type: ignore[call-arg]
            cursor.execute(self._sql, self._bind(numbers))
            fetched = cursor.fetchall()
        compiler.execute_sql = lambda *_, **__: [fetched]
        queryset: Any = self._queryset.all()
        queryset.query.get_compiler = lambda *_, **__: compiler
        return list(queryset)

    def check(self, queryset: QuerySet[M], numbers: Sequence[int]) -> None:
        """Raises `AssertionError` if the QuerySet, built for the numbers, is another statement."""
        built = queryset.query.get_compiler(queryset.db).as_sql()
        assert built == (self._sql, self._bind(numbers)), f"{built} is not {self._sql} for {numbers}"

    def _bind(self, numbers: Sequence[int]) -> tuple[Any, ...]:
        # Of the same type as the placeholder: psycopg has one for each size of integer.
        return tuple(
            type(value)(numbers[value - MAX_NUMBER]) if isinstance(value, int) and value >= MAX_NUMBER else value
            for value in self._parameters
        )
