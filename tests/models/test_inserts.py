"""Many rows by one statement, as `bulk_create` stores them."""

from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

import pytest
from django.db import DataError, IntegrityError, connection, transaction

from relevancy.models import Ranking, Run
from relevancy.models.inserts import as_array, insert_rows
from tests.factories import make_attempt, make_case, run_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
COLUMNS = tuple(field.attname for field in Ranking._meta.concrete_fields if not field.primary_key)


@pytest.fixture
def run() -> Run:
    run = run_now(make_attempt(make_case(3)))
    run.rankings.all().delete()
    return run


def build(run: Run, **values: Any) -> list[Ranking]:
    """A ranking for each query, with values that each database stores in another way."""
    made = [
        Ranking(run=run, query_id=query_id, former_text="“é” %s ?", **values)
        for query_id in run.case.case_queries.order_by("pk").values_list("query_id", flat=True)
    ]
    made[0].documents, made[0].options = b"\\x00\x00\\", {"n": None, "t": True, "title": 'x "y" \\ é'}
    made[0].total, made[0].took_ms, made[0].explanations = 2**62, 0, '{"a": [1]}'
    return made


def stored(run: Run) -> list[tuple[Any, ...]]:
    return [attrgetter(*COLUMNS)(row) for row in run.rankings.order_by("query_id")]


def insert(rows: list[Ranking], **options: str) -> None:
    insert_rows(Ranking, COLUMNS, map(attrgetter(*COLUMNS), rows), **options)


def test_rows_are_those_of_bulk_create(run: Run, django_assert_num_queries: Any) -> None:
    Ranking.objects.bulk_create(build(run))
    expected = stored(run)
    run.rankings.all().delete()
    rows = build(run)
    with django_assert_num_queries(1):
        insert(rows)
    assert stored(run) == expected
    assert run.rankings.filter(explanations="").count() == 2
    run.rankings.all().delete()
    insert(build(run), on_conflict="(query_id, run_id) DO NOTHING")  # as arrays, on PostgreSQL
    assert stored(run) == expected
    with django_assert_num_queries(0):
        insert([])


VALUES: list[list[Any]] = [
    [],
    [1, -2, 2**40],
    [0.1, float("inf"), 1e-300, None],
    [True, None, False],
    ["", "NULL", "null", None, 'a"b', "a\\b", "{a,b}", " é ", "x\ny", "%s", "'"],
    [b"", b'\x00\\"', memoryview(b"\xff")],
    [datetime(2026, 2, 3, 4, 5, 6, 789, tzinfo=UTC), None],
    [Run.Status.COMPLETE, "complete"],
]
TYPES = ["integer", "bigint", "float8", "boolean", "text", "bytea", "timestamptz", "text"]


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no arrays.")
@pytest.mark.parametrize(("kind", "values"), list(zip(TYPES, VALUES, strict=True)))
def test_arrays_are_read_as_they_were_written(kind: str, values: list[Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM unnest(%s::{kind}[])", [as_array(values)])
        assert [row[0] for row in cursor.fetchall()] == values


def test_conflicts_raise_or_do_what_they_are_told(run: Run) -> None:
    first, *others = build(run)
    insert([first])
    with pytest.raises(IntegrityError), transaction.atomic():
        insert([first, *others])
    assert run.rankings.count() == 1
    first.error = "another"
    insert([first, *others], on_conflict="DO NOTHING")
    assert (run.rankings.count(), run.rankings.filter(error="another").count()) == (3, 0)
    insert([first], on_conflict="(query_id, run_id) DO UPDATE SET error = EXCLUDED.error")
    assert (run.rankings.count(), run.rankings.filter(error="another").count()) == (3, 1)


def test_texts_are_not_cut(run: Run) -> None:
    (row, *_) = build(run, error_kind="x" * 21)
    if connection.vendor == "postgresql":
        with pytest.raises(DataError), transaction.atomic():
            insert([row])
        return
    insert([row])
    assert run.rankings.get().error_kind == "x" * 21


def test_postgresql_returns_the_rows_that_were_inserted(run: Run) -> None:
    first, *others = build(run)
    insert([first])
    rows = [attrgetter(*COLUMNS)(row) for row in (first, *others)]
    inserted = insert_rows(Ranking, COLUMNS, rows, on_conflict="DO NOTHING", returning=("query_id", "id"))
    expected = list(run.rankings.exclude(query=first.query_id).values_list("query_id", "pk"))
    assert len(expected) == 2
    assert sorted(inserted) == (sorted(expected) if connection.vendor == "postgresql" else [])
