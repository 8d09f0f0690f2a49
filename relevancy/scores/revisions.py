"""Revisions: counters of the changes that scores depend on. A score that was computed from an older revision is stale.

Everything that changes ratings, the scale or the rule of a book, or the queries of a case or their weights, calls one of these
functions in the same transaction. Locks are taken in the order case, queries, case revisions, runs.

See docs/decisions/0046.
"""

from collections.abc import Sequence
from itertools import batched

from django.db.models import F

from relevancy.models import Book, CaseQuery, CaseRevision, Query, StoredComparison
from relevancy.models.statements import prepared_cursor

BATCH = 500


def ratings_changed(query_ids: Sequence[int]) -> None:
    """Increments the revisions of queries whose ratings have changed, and of the cases that have them.

    Two SQL statements for 500 queries. The queries are locked already.
    """
    for batch in batched(query_ids, BATCH):
        Query.objects.filter(pk__among=batch).update(revision=F("revision") + 1)
        cases_changed(batch)


def cases_changed(query_ids: Sequence[int]) -> None:
    """Increments the revisions of the cases that have these queries, whose ratings have changed. One SQL statement."""
    _increment(f"query_id IN ({', '.join(['%s'] * len(query_ids))}) AND removed_at IS NULL", query_ids)


def book_changed(book: Book) -> None:
    """Increments the revisions of all queries of a book whose scale or rule has changed, and of its cases."""
    ratings_changed(sorted(book.queries.values_list("pk", flat=True)))


def case_changed(case_id: int) -> None:
    """Increments the revision of a case whose queries or their weights have changed. One SQL statement."""
    _increment("case_id = %s", [case_id])


def figures_changed(book: Book) -> None:
    """Marks the stored comparisons of the book's cases as out of date after tags of its queries have changed, or queries were linked
    or unlinked: their figures for each tag, tests and intervals change, while all scores stay. One SQL statement."""
    affected = StoredComparison.objects.filter(case__book=book)
    affected.update(revision=None, error="", generation=F("generation") + 1)


def _increment(condition: str, parameters: Sequence[int]) -> None:
    """Increments the revisions of the cases with such case queries, in the order of their ids, so that no two deadlock."""
    table, case_queries = CaseRevision._meta.db_table, CaseQuery._meta.db_table
    with prepared_cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} (case_id, revision) "
            f"SELECT DISTINCT case_id, 1 FROM {case_queries} WHERE {condition} ORDER BY case_id "
            f"ON CONFLICT (case_id) DO UPDATE SET revision = {table}.revision + 1",
            list(parameters),
        )
