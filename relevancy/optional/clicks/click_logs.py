"""Estimates from the clicks of a search log how relevant the documents of a book are, and stores the estimates."""

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import batched, groupby

import numpy as np
from django.core.exceptions import ValidationError
from django.utils import timezone

from relevancy import accounts
from relevancy.formats.errors import BadFile
from relevancy.models import Book, Rating, User
from relevancy.models.errors import error_text
from relevancy.models.saving import clean_and_save
from relevancy.statistics import StatisticsError
from relevancy.statistics.arrays import FloatArray

from .models import ClickEstimate, ClickLog
from .search_log import SearchLog
from .statistics import (
    PRIOR_STRENGTH,
    ClickCounts,
    ClickEstimates,
    estimate_by_cascade,
    estimate_by_coec,
    estimate_by_ips,
    estimate_by_position,
    estimate_examination,
)

Method = ClickLog.Method
RATER = "clicks"  # a machine; one for all books
LISTED_POSITIONS = 50
MAX_STRENGTH = 1e6
BATCH = 2_000
MAX_ESTIMATES = 50_000
UNFINISHED_AFTER = timedelta(hours=1)


def import_clicks(
    *, book: Book, log: SearchLog, method: str, by: User, name: str = "", strength: float = PRIOR_STRENGTH
) -> ClickLog:
    """Stores the estimates of a click model for the queries of a book; they stand apart from ratings.

    What users look at, and what documents at a position have on average, is estimated from the whole log. method: of `ClickLog.Method`.
    strength: of the prior, in examinations. Raises `BadFile` if the log does not have what the model needs.
    """
    if not 0 <= strength <= MAX_STRENGTH:
        raise ValidationError({"strength": f"{strength:g} is not a number from 0 to {MAX_STRENGTH:g}."})
    table = _read_table(book, log, is_cascade=method == Method.CASCADE)
    try:
        estimates, gammas = _estimate(table, method, strength)
    except StatisticsError as error:
        raise BadFile(str(error)) from None
    rows = [
        ClickEstimate(
            query_id=query_id,
            doc_id=doc_id,
            value=float(estimates.values[pair]),
            unshrunken=float(estimates.unshrunken[pair]),
            evidence=float(estimates.evidence[pair]),
            shown=shown,
            clicks=clicked,
        )
        for pair, query_id, doc_id, shown, clicked in table.book_rows
        if estimates.evidence[pair] > 0
    ]
    if not rows:
        raise BadFile(
            "The log has no clicks on results of queries that the book has. Queries are compared by their exact text."
        )
    click_log = ClickLog(
        book=book,
        name=name[:191] or "log",
        method=method,
        strength=strength,
        searches=int(log.counts().sum()),
        pairs=table.size,
        examination=[
            [position, None if math.isnan(gamma) else round(gamma, 6)]
            for position, gamma in enumerate(gammas[:LISTED_POSITIONS].tolist(), 1)
        ],
        remarks=[*log.remarks, *_remarks(gammas, estimates)],
        created_by=by,
    )
    try:
        return store_log(click_log, rows)
    except ValidationError as error:
        raise BadFile(error_text(error)) from None


def store_log(log: ClickLog, estimates: Sequence[ClickEstimate]) -> ClickLog:
    """Stores a new log and its estimates, which replace those of the last log of the book. Ratings stay until they are counted again.

    In short transactions: nobody sees the log before all of it is stored. Raises `ValidationError` for more than 50,000 estimates.
    """
    if len(estimates) > MAX_ESTIMATES:
        raise ValidationError(
            f"The log has {len(estimates):,} documents for queries of the book; at most {MAX_ESTIMATES:,} can be stored. Leave out "
            "rare queries or the last positions."
        )
    book_logs = ClickLog.objects.filter(book=log.book)
    _delete(book_logs.filter(is_ready=False, created_at__lt=timezone.now() - UNFINISHED_AFTER))
    log.rater = accounts.ensure_machine(RATER)
    clean_and_save(log)
    for batch in batched(estimates, BATCH):
        for estimate in batch:
            estimate.log = log
        ClickEstimate.objects.bulk_create(batch)
    log.is_ready = True
    log.save(update_fields=["is_ready"])
    _delete(book_logs.filter(is_ready=True, pk__lt=log.pk))
    return log


def _delete(logs: Iterable[ClickLog]) -> None:
    """Deletes logs in short transactions."""
    for log in list(logs):
        while pks := list(log.estimates.values_list("pk", flat=True)[:BATCH]):
            ClickEstimate.objects.filter(pk__in=pks).delete()
        log.delete()


def newest_log(book: Book) -> ClickLog | None:
    """Returns the log whose estimates can be accepted as ratings; None if there is none."""
    return ClickLog.objects.filter(book=book, is_ready=True).select_related("rater", "created_by", "book").first()


def count_ratings(log: ClickLog) -> int:
    """Returns how many ratings of the rater “clicks” count in the book."""
    return Rating.objects.filter(query__book=log.book_id, rater=log.rater_id).count()


def read_estimates(log: ClickLog, count: int = 20) -> list[ClickEstimate]:
    """Returns the estimates with the most evidence, each with its query."""
    return list(log.estimates.select_related("query").order_by("-evidence", "pk")[:count])


@dataclass
class _Table:
    """Rows of a log. columns: of each row the position, how often the document was shown there (or looked at, for a cascade model),
    clicked, and clicked last.

    book_rows: (pair, query id, document, shown, clicks) of the book's queries.
    """

    pairs: array[int] = field(default_factory=lambda: array("q"))
    columns: Sequence[array[float]] = field(default_factory=lambda: [array("d") for _ in range(4)])
    book_rows: list[tuple[int, int, str, int, int]] = field(default_factory=list)
    size: int = 0


def _read_table(book: Book, log: SearchLog, *, is_cascade: bool) -> _Table:
    """Raises `BadFile` if the log has no clicks, or no single searches for a cascade model."""
    if not log.has_clicks:
        raise BadFile(
            "The log does not say what was clicked. CSV needs the columns docid, position and clicks, ubi_queries a file of ubi_events."
        )
    if is_cascade and not log.has_single_searches:
        raise BadFile(
            "This model needs to know what was clicked in each single search, which counts do not say. Choose another model, or "
            "ubi_queries with ubi_events."
        )
    query_ids = dict(book.queries.live().values_list("text", "pk"))
    table = _Table()
    for (query, doc_id), pair_rows in groupby(log.shown(), key=lambda row: (row.query, row.doc_id)):
        rows = list(pair_rows)
        counted = [row for row in rows if row.examined] if is_cascade else rows
        if not counted:
            continue
        for row in counted:
            table.pairs.append(table.size)
            numbers = (row.position, row.examined if is_cascade else row.shown, row.clicks, row.last)
            for column, number in zip(table.columns, numbers, strict=True):
                column.append(number)
        if query in query_ids:
            shown, clicks = sum(row.shown for row in rows), sum(row.clicks for row in rows)
            table.book_rows.append((table.size, query_ids[query], doc_id, shown, clicks))
        table.size += 1
    return table


def _estimate(table: _Table, method: str, strength: float) -> tuple[ClickEstimates, FloatArray]:
    """Returns the estimates, and how likely users look at each position; empty for models that do not estimate it."""
    positions, shown, clicks, last = (np.array(column) for column in table.columns)
    counts = ClickCounts.build(pairs=table.pairs, positions=positions, shown=shown, clicks=clicks)
    if method == Method.CASCADE:
        return estimate_by_cascade(counts, last, strength=strength), np.zeros(0)
    if method == Method.COEC:
        return estimate_by_coec(counts, strength=strength), np.zeros(0)
    gammas = estimate_examination(counts)
    estimate = estimate_by_position if method == Method.POSITION else estimate_by_ips
    return estimate(counts, gammas, strength=strength), gammas


def _remarks(gammas: FloatArray, estimates: ClickEstimates) -> list[str]:
    remarks = []
    if left_out := (np.flatnonzero(np.isnan(gammas)) + 1).tolist():
        named = ", ".join(map(str, left_out[:10])) + (" and others" if len(left_out) > 10 else "")
        remarks.append(
            f"Left out: what was shown at position {named}. Too few documents were clicked both there and elsewhere to tell how often "
            "users look there."
        )
    if estimates.clipped:
        remarks.append(
            f"{100 * estimates.clipped:.1f} % of what was shown stood at positions that users look at so rarely that its weight was "
            "clipped; its estimates are too low."
        )
    return remarks
