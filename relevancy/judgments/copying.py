"""Copies of ratings, for books that start with the ratings of another one."""

from collections.abc import Mapping
from itertools import batched

from django.utils import timezone

from relevancy import scores
from relevancy.models import Rating, RatingChange, User

COPY_SOURCE = "copy"
BATCH = 500


def copy_ratings(*, query_ids: Mapping[int, int], by: User) -> int:
    """Copies all ratings of queries to queries without ratings: `{id of a query: id of the query that gets its ratings}`.

    Raters, values, notes and times stay; the log names `by` and the source “copy”. Call it in the transaction that creates the
    queries. Returns the number of ratings.
    """
    now, count = timezone.now(), 0
    copies = (
        (copy_id, record)
        for query_id, copy_id in query_ids.items()
        for record in scores.QueryRatings.read(query_id).records
    )
    for batch in batched(copies, BATCH):
        Rating.objects.bulk_create(
            Rating(
                query_id=copy_id,
                doc_id=record.doc_id,
                rater_id=record.rater_id,
                verdict=record.verdict,
                value=record.value,
                note=record.note,
                created_at=record.updated_at,
                updated_at=record.updated_at,
            )
            for copy_id, record in batch
        )
        RatingChange.objects.bulk_create(
            RatingChange(
                query_id=copy_id,
                doc_id=record.doc_id,
                rater_id=record.rater_id,
                by=by,
                source=COPY_SOURCE,
                new_verdict=record.verdict,
                new_value=record.value,
                at=now,
            )
            for copy_id, record in batch
        )
        count += len(batch)
    return count
