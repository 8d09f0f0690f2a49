"""Sizes of tables and the disk, on each database."""

import pytest
from django.db import connection

from relevancy.optional.background_work import sizes

pytestmark = pytest.mark.django_db


def test_the_largest_tables_are_listed_with_their_indexes() -> None:
    measured = sizes.measure()
    assert len(measured.tables) == sizes.MAX_LISTED
    names = {*connection.introspection.table_names(), "sqlite_schema"}
    assert {table.name for table in measured.tables} <= names  # and no index by itself
    measured_sizes = [table.size for table in measured.tables]
    assert measured_sizes == sorted(measured_sizes, reverse=True)
    assert measured_sizes[-1] >= 4096
    assert 0 < measured.free <= measured.disk


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL knows the sizes of its tables")
def test_a_large_sqlite_file_is_not_read(monkeypatch, django_assert_num_queries) -> None:
    monkeypatch.setattr(sizes, "_database_size", lambda: sizes.MAX_MEASURED + 1)
    with django_assert_num_queries(0):
        assert sizes.measure().tables == []
