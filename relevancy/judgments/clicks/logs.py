"""Stores what a click model has estimated for the documents of a book."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import batched

from django.core.exceptions import ValidationError
from django.utils import timezone

from relevancy import accounts
from relevancy.models import Book, ClickEstimate, ClickLog, Rating, User
from relevancy.models.saving import clean_and_save

BATCH = 2_000
MAX_ESTIMATES = 50_000
UNFINISHED_AFTER = timedelta(hours=1)


@dataclass(frozen=True)
class EstimatedPair:
    """The estimate of a document of the book; the fields are those of `ClickEstimate`."""

    query_id: int
    doc_id: str
    value: float
    unshrunken: float
    evidence: float
    shown: int
    clicks: int


@dataclass(frozen=True)
class LogFacts:
    """What is known about a log; the fields are those of `ClickLog`."""

    name: str
    method: str
    strength: float
    searches: int
    pairs: int
    examination: Sequence[tuple[int, float | None]] = ()
    remarks: Sequence[str] = field(default_factory=tuple)


def store_log(*, book: Book, facts: LogFacts, estimates: Sequence[EstimatedPair], by: User) -> ClickLog:
    """Stores estimates, which replace those of the last log of the book. Ratings that count stay until they are counted again.

    In short transactions: nobody sees the log before all of it is stored. Raises `ValidationError` for more than 50,000 estimates.
    """
    if len(estimates) > MAX_ESTIMATES:
        raise ValidationError(
            f"The log has {len(estimates):,} documents for queries of the book; at most {MAX_ESTIMATES:,} can be stored. Leave out "
            "rare queries or the last positions."
        )
    unfinished = ClickLog.objects.filter(book=book, is_ready=False, created_at__lt=timezone.now() - UNFINISHED_AFTER)
    _delete(list(unfinished))
    log = ClickLog(
        book=book,
        name=facts.name[:191] or "log",
        method=facts.method,
        strength=facts.strength,
        rater=accounts.clicks_rater(),
        searches=facts.searches,
        pairs=facts.pairs,
        examination=[list(row) for row in facts.examination],
        remarks=list(facts.remarks),
        created_by=by,
    )
    clean_and_save(log)
    for batch in batched(estimates, BATCH):
        ClickEstimate.objects.bulk_create([ClickEstimate(log=log, **vars(row)) for row in batch])
    log.is_ready = True
    log.save(update_fields=["is_ready"])
    _delete(list(ClickLog.objects.filter(book=book, is_ready=True, pk__lt=log.pk)))
    return log


def newest_log(book: Book) -> ClickLog | None:
    """Returns the log whose estimates can be let count; None if there is none."""
    log: ClickLog | None = (
        ClickLog.objects.filter(book=book, is_ready=True).select_related("rater", "created_by", "book").first()
    )
    return log


def count_ratings(log: ClickLog) -> int:
    """Returns how many ratings of the rater “clicks” count in the book."""
    return int(Rating.objects.filter(query__book=log.book_id, rater=log.rater_id).count())


def read_estimates(log: ClickLog, count: int = 20) -> list[ClickEstimate]:
    """Returns the estimates with the most evidence, each with its query."""
    return list(log.estimates.select_related("query").order_by("-evidence", "pk")[:count])


def _delete(logs: Sequence[ClickLog]) -> None:
    """Deletes logs in short transactions."""
    for log in logs:
        while pks := list(log.estimates.values_list("pk", flat=True)[:BATCH]):
            ClickEstimate.objects.filter(pk__in=pks).delete()
        log.delete()
