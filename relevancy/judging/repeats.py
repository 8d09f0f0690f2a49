"""Repeats: a share of the documents that a rater has judged comes again, which shows how far the rater agrees with themselves.

The second judgment stands apart, so that it cannot change unnoticed which rating counts.

See docs/decisions/0110.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from relevancy.models import Book, JudgingPair, JudgingQueue, Query, Rating, RepeatedPair, User, Verdict
from relevancy.models.write_queue import write_turn
from relevancy.ratings.ratings import InvalidRating, check_may_rate, check_scale

from .judging_documents import JudgedDocument, read_documents

DISTANCE = 20  # judgments between the first and the second one
REPEAT_OFFSET = 2 * 10**12  # added to the ids of repeated pairs, so that no other card has the same


def schedule_repeat(*, query: Query, doc_id: str, by: User, has_grade: bool) -> None:
    """Counts a judgment of a rater, and decides by lot whether its document comes again. Call it after a judgment on the judging page.

    One SQL statement in a book without repeats, else two or three.
    """
    queue: JudgingQueue | None = JudgingQueue.objects.filter(book=query.book_id, repeat_share__gt=0).first()
    if queue is None:
        return
    waiting = RepeatedPair.objects.filter(query__book=query.book_id, rater=by, verdict="", wait__gt=0)
    waiting.update(wait=F("wait") - 1)
    digest = hashlib.blake2b(f"{queue.seed}:{by.pk}:{query.pk}:{doc_id}".encode(), digest_size=8).digest()
    if has_grade and int.from_bytes(digest) % 100 < queue.repeat_share:
        run_id = JudgingPair.objects.filter(query=query, doc_id=doc_id).values_list("run_id", flat=True).first()
        RepeatedPair.objects.get_or_create(
            query=query, doc_id=doc_id, rater=by, defaults={"run_id": run_id, "wait": DISTANCE}
        )


def due_repeats(*, queue: JudgingQueue, by: User, count: int = 1) -> list[JudgedDocument]:
    """Returns documents that come again, as if they were unrated. No SQL statement in a book without repeats."""
    if not queue.repeat_share:
        return []
    return _documents(list(_due(queue.book, by)[:count]), by)


def count_due_repeats(*, queue: JudgingQueue, by: User) -> int:
    """Returns the number of documents that come again now."""
    return _due(queue.book, by).count() if queue.repeat_share else 0


def read_repeat(*, book: Book, card_id: int, by: User) -> JudgedDocument | None:
    """Returns a document that the rater judges or has judged again, by the id of its card."""
    pair = RepeatedPair.objects.filter(query__book=book, rater=by, pk=card_id - REPEAT_OFFSET).first()
    return _documents([pair], by)[0] if pair else None


def answer_repeat(
    *,
    book: Book,
    card_id: int,
    by: User,
    verdict: str = Verdict.RATED,
    value: float | None = None,
    expected_scale: str = "",
) -> None:
    """Stores the second judgment of a document. The rating that counts stays as it is.

    "Later" lets it come again after other documents. Raises `InvalidRating`, in which case nothing has been stored.
    """
    check_may_rate(book, by)
    check_scale(book, expected_scale)
    if value is not None and value not in book.grades:
        raise InvalidRating(f"{value:g} is not a grade of the book {book}. Choose one of its grades.")
    with write_turn(), transaction.atomic():
        own = RepeatedPair.objects.select_for_update(of=("self",), no_key=True).filter(query__book=book, rater=by)
        repeated: RepeatedPair | None = own.filter(pk=card_id - REPEAT_OFFSET).first()
        first = (
            repeated
            and Rating.objects.filter(
                query=repeated.query_id, doc_id=repeated.doc_id, rater=by, verdict=Verdict.RATED
            ).first()
        )
        if repeated is None or not first:
            raise InvalidRating("This document need not be judged any more. Reload the page.")
        if value is None and verdict == Verdict.LATER:
            repeated.wait = DISTANCE
        else:
            repeated.verdict = Verdict.RATED if value is not None else Verdict(verdict)
            repeated.value, repeated.first_value, repeated.at = value, first.value, timezone.now()
        repeated.save()


def undo_repeat(*, book: Book, by: User, after: datetime | None) -> int | None:
    """Takes back the rater's last second judgment if it was given after a time. Returns the id of its card; None if there is none."""
    own = RepeatedPair.objects.filter(query__book=book, rater=by).exclude(verdict="")
    last: RepeatedPair | None = (own if after is None else own.filter(at__gt=after)).order_by("at", "pk").last()
    if last is None:
        return None
    own.filter(pk=last.pk).update(verdict="", value=None, first_value=None, at=None)
    return REPEAT_OFFSET + int(last.pk)


def _due(book: Book, by: User) -> QuerySet[RepeatedPair]:
    own = Rating.objects.filter(query=OuterRef("query"), doc_id=OuterRef("doc_id"), rater=by, verdict=Verdict.RATED)
    due: QuerySet[RepeatedPair] = RepeatedPair.objects.filter(query__book=book, query__retired_at=None, rater=by)
    return due.filter(Exists(own), verdict="", wait=0).order_by("pk")


def _documents(repeated: Sequence[RepeatedPair], by: User) -> list[JudgedDocument]:
    cards = [
        JudgingPair(pk=REPEAT_OFFSET + pair.pk, query_id=pair.query_id, doc_id=pair.doc_id, run_id=pair.run_id or 0)
        for pair in repeated
    ]
    documents = read_documents(cards, by=by)
    return [JudgedDocument(document.pair, document.query, document.result) for document in documents]
