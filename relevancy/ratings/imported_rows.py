"""The rows of imports: written, and once they count, made rows of `Rating` and logged, which changes nothing that a reader sees."""

from collections.abc import Iterable, Sequence
from itertools import batched

from django.db import connection, transaction

from relevancy import scores
from relevancy.models import ImportedRating, JudgingPair, Query, Rating, RatingChange, RatingImport
from relevancy.models.inserts import insert_rows
from relevancy.models.write_queue import write_turn

BATCH = 500
type Row = tuple[int, str, int, float]
"""Query id, document id, rater's id, grade."""

_IMPORTED, _IMPORT = ImportedRating._meta.db_table, RatingImport._meta.db_table
_FROM = f"""
    FROM {_IMPORTED} imported
    JOIN {_IMPORT} import ON import.id = imported.rating_import_id AND import.applied_at IS NOT NULL
"""
# Copied by the database: a million of rows as objects would take minutes. Of the ratings of one moment the one with the highest id
# counts, so all of an import get new ids: before and after they are moved, this is the last one in the file.
_LOG = f"""
    INSERT INTO {RatingChange._meta.db_table} (
        query_id, doc_id, rater_id, by_id, source, old_verdict, old_value, new_verdict, new_value, old_note, old_rated_at, at,
        old_is_adjudication, new_is_adjudication
    )
    SELECT imported.query_id, imported.doc_id, imported.rater_id, import.by_id, import.source,
        COALESCE(rating.verdict, ''), rating.value, 'rated', imported.value,
        COALESCE(rating.note, ''), rating.updated_at, import.applied_at,
        COALESCE(rating.is_adjudication, FALSE), FALSE
    {_FROM}
    LEFT JOIN {Rating._meta.db_table} rating
        ON rating.query_id = imported.query_id AND rating.doc_id = imported.doc_id AND rating.rater_id = imported.rater_id
    WHERE {{condition}}
    ORDER BY imported.id
"""
_STORE = f"""
    INSERT INTO {Rating._meta.db_table} (
        query_id, doc_id, rater_id, verdict, value, note, created_at, updated_at, is_adjudication
    )
    SELECT imported.query_id, imported.doc_id, imported.rater_id, 'rated', imported.value, '',
        import.applied_at, import.applied_at, FALSE
    {_FROM}
    WHERE {{condition}}
    ORDER BY imported.id
    ON CONFLICT (query_id, doc_id, rater_id)
        DO UPDATE SET id = excluded.id, verdict = excluded.verdict, value = excluded.value, updated_at = excluded.updated_at,
            is_adjudication = FALSE
"""
_DELETE = f"""
    DELETE FROM {_IMPORTED} AS imported
    WHERE {{condition}} AND rating_import_id IN (SELECT id FROM {_IMPORT} WHERE applied_at IS NOT NULL)
"""


_COLUMNS = ("rating_import_id", "query_id", "doc_id", "rater_id", "value")


def insert(rating_import: RatingImport, rows: Sequence[Row]) -> None:
    """Writes changes of an import that is not applied yet."""
    insert_rows(ImportedRating, _COLUMNS, [(rating_import.pk, *row) for row in rows])


def move_queries(query_ids: Iterable[int]) -> None:
    """Moves what was imported for these queries. Call it in the transaction that has locked them, before their ratings change."""
    for batch in batched(query_ids, BATCH):
        placeholders = ", ".join(["%s"] * len(batch))
        _move(f"imported.query_id IN ({placeholders})", batch, batch)


def move_ratings_of(query: Query) -> None:
    """Moves what was imported for a query, for readers who need rows of `Rating`. One SQL statement if there is nothing to move."""
    if not ImportedRating.objects.applied().filter(query=query).exists():
        return
    with write_turn(), transaction.atomic():
        scores.lock_queries([query.pk])
        move_queries([query.pk])


def move_range(rating_import: RatingImport, first: int, last: int, query_ids: Sequence[int]) -> None:
    """Moves the rows with these ids, as far as they are still there. Call it in the transaction that has locked their queries."""
    _move(
        "imported.rating_import_id = %s AND imported.id BETWEEN %s AND %s", (rating_import.pk, first, last), query_ids
    )


def _move(condition: str, parameters: Sequence[int], query_ids: Sequence[int]) -> None:
    with connection.cursor() as cursor:
        for statement in (_LOG, _STORE, _DELETE):
            cursor.execute(statement.format(condition=condition), parameters)
        moved = cursor.rowcount
    if moved:
        for batch in batched(query_ids, BATCH):
            JudgingPair.objects.update_levels(batch, has_only_new_ratings=True)
