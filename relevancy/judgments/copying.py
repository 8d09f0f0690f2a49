"""Ratings of several raters that are stored as they are, for books that start with those of another book or of a file."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import batched

from django.utils import timezone

from relevancy import scores
from relevancy.models import Rating, RatingChange, User

COPY_SOURCE = "copy"
BATCH = 500


@dataclass(frozen=True, slots=True)
class NewRating:
    """A rating to be stored, of a checked document id and grade. rated_at: None for now."""

    query_id: int
    doc_id: str
    rater_id: int
    verdict: str
    value: float | None
    note: str = ""
    rated_at: datetime | None = None


def copy_ratings(*, query_ids: Mapping[int, int], by: User) -> int:
    """Copies all ratings of queries to queries without ratings: `{id of a query: id of the query that gets its ratings}`.

    Raters, values, notes and times stay; the log names `by` and the source “copy”. Call it in the transaction that creates the
    queries. Returns the number of ratings.
    """
    copies = (
        NewRating(copy_id, record.doc_id, record.rater_id, record.verdict, record.value, record.note, record.updated_at)
        for query_id, copy_id in query_ids.items()
        for record in scores.QueryRatings.read(query_id).records
    )
    return store_ratings(ratings=copies, by=by, source=COPY_SOURCE)


def store_ratings(*, ratings: Iterable[NewRating], by: User, source: str) -> int:
    """Stores ratings of queries that have none, in the given order, with their log. Returns their number.

    Call it in the transaction that creates the queries, or before others can see their book. Computes no scores.
    """
    now, count = timezone.now(), 0
    for batch in batched(ratings, BATCH):
        Rating.objects.bulk_create(
            Rating(
                query_id=rating.query_id,
                doc_id=rating.doc_id,
                rater_id=rating.rater_id,
                verdict=rating.verdict,
                value=rating.value,
                note=rating.note,
                created_at=rating.rated_at or now,
                updated_at=rating.rated_at or now,
            )
            for rating in batch
        )
        RatingChange.objects.bulk_create(
            RatingChange(
                query_id=rating.query_id,
                doc_id=rating.doc_id,
                rater_id=rating.rater_id,
                by=by,
                source=source,
                new_verdict=rating.verdict,
                new_value=rating.value,
                at=now,
            )
            for rating in batch
        )
        count += len(batch)
    return count
