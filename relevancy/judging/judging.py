"""Judging one document at a time: which one a rater gets next, and the verdicts besides a grade."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from relevancy.models import (
    Book,
    JudgingPair,
    JudgingQueue,
    Query,
    Rating,
    RatingChange,
    User,
    Verdict,
)
from relevancy.models.subquery_count import SubqueryCount
from relevancy.models.write_queue import write_turn
from relevancy.ratings.changes import Change
from relevancy.ratings.ratings import change_query, check_may_rate, clean_doc_id, rate

from .judging_positions import unjudged_pairs
from .repeats import schedule_repeat

CLAIM = timedelta(minutes=10)
COUNTED = 1_000  # the most pairs that are counted
JUDGED = (Verdict.RATED, Verdict.CANNOT)
PAGE_SOURCES = ("page", "undo")


@dataclass(frozen=True)
class JudgingProgress:
    """What is left for a rater in a book.

    pairs: all pairs of the queue.
    left: those that the rater can still judge, "later" included; at most `COUNTED`, because counting takes time.
    postponed: those of them that the rater has put off with "later".
    """

    pairs: int
    left: int
    postponed: int

    @property
    def is_counted(self) -> bool:
        """Whether `left` is exact."""
        return self.left < COUNTED

    @property
    def done(self) -> int:
        """The number of pairs that need no judgment by the rater. Only if `is_counted`."""
        return max(0, self.pairs - self.left)


def next_pairs(*, queue: JudgingQueue, by: User, count: int = 3) -> list[JudgingPair]:
    """Returns the pairs that a rater judges next, claimed for `CLAIM`: first those that the rater has claimed already.

    Pairs that the rater has judged are left out; those put off with "later" come back when there is nothing else. The list is
    empty if nothing is left, or everything that is left is claimed by others. The number of SQL statements is constant.
    """
    now = timezone.now()
    with write_turn(), transaction.atomic():
        User.objects.select_for_update(no_key=True).filter(pk=by.pk).values_list("pk").first()  # two requests at once
        held = list(locked(queue.pairs.filter(claimed_by=by)).in_order())
        own = Rating.objects.filter(query=OuterRef("query"), doc_id=OuterRef("doc_id"), rater=by, verdict__in=JUDGED)
        stored = JudgingPair.objects.filter(Exists(own), pk__in=[pair.pk for pair in held])
        judged = set(stored.order_by().values_list("pk", flat=True))
        pairs = [
            pair
            for pair in held
            if pair.level is not None and pair.pk not in judged and pair.claimed_until and pair.claimed_until > now
        ][:count]
        if len(pairs) < count:
            free = unjudged_pairs(queue=queue, by=by).filter(is_free(now))
            pairs += locked(free).in_order()[: count - len(pairs)]
        if not pairs:
            pairs = _free_postponed(queue, by, now, count)
        kept = {pair.pk for pair in pairs}
        queue.pairs.filter(pk__in={pair.pk for pair in held} - kept).release()
        JudgingPair.objects.filter(pk__in=kept).update(claimed_by=by, claimed_until=now + CLAIM)
    return pairs


def judge(
    *,
    query: Query,
    doc_id: str,
    by: User,
    verdict: str = Verdict.RATED,
    value: float | None = None,
    note: str | None = None,
    expected_scale: str = "",
) -> int:
    """Stores a grade, "cannot judge" or "later" for one document, and frees its pair. Returns the number of ratings that changed.

    value: the grade, only for `Verdict.RATED`. note: None keeps the present note. expected_scale: see `rate_many`.
    Raises `InvalidRating`, in which case nothing has been stored.
    """
    doc_id = clean_doc_id(doc_id)
    if value is not None:
        changed = rate(query=query, doc_id=doc_id, value=value, by=by, note=note, expected_scale=expected_scale)
    else:
        check_may_rate(query.book, by)
        change = Change(verdict=Verdict(verdict), note=note)
        changed = change_query(query, lambda: {doc_id: change}, by=by, source="page")
        if verdict == Verdict.LATER and not changed:  # put off once more: it goes behind the others
            Rating.objects.filter(query=query, doc_id=doc_id, rater=by).update(updated_at=timezone.now())
    JudgingPair.objects.filter(query=query, doc_id=doc_id, claimed_by=by).release()
    if verdict != Verdict.LATER or value is not None:
        schedule_repeat(query=query, doc_id=doc_id, by=by, has_grade=value is not None)
    return changed


def claim_pair(*, pair: JudgingPair, by: User) -> bool:
    """Claims one pair that the rater has chosen. Returns whether the rater has it; another one may have claimed it before."""
    now = timezone.now()
    free = JudgingPair.objects.filter(is_free(now) | Q(claimed_by=by), pk=pair.pk)
    return bool(free.update(claimed_by=by, claimed_until=now + CLAIM))


def pairs_of(ratings: Iterable[Rating]) -> list[JudgingPair]:
    """Returns the pairs that ratings belong to, in their order, without those that are no longer in the queue. One SQL statement."""
    keys = [(rating.query_id, rating.doc_id) for rating in ratings]
    stored = JudgingPair.objects.filter(query__in={key[0] for key in keys}, doc_id__in={key[1] for key in keys})
    by_key = {(pair.query_id, pair.doc_id): pair for pair in stored}
    return [by_key[key] for key in keys if key in by_key]


def release_pairs(*, queue: JudgingQueue, by: User) -> None:
    """Frees the pairs that the rater has claimed."""
    queue.pairs.filter(claimed_by=by).release()


def judging_progress(*, queue: JudgingQueue, by: User) -> JudgingProgress:
    """Returns what is left for a rater in a book. Two SQL statements, and another one after a change of the order."""
    new = unjudged_pairs(queue=queue, by=by).in_order()  # finds the open pairs first
    postponed = postponed_by(by).filter(pair_queue=OuterRef("pk"))
    row: Any = (
        JudgingQueue.objects.filter(pk=queue.pk)
        .annotate(new=_count(new[:COUNTED]), postponed=_count(postponed[:COUNTED]))
        .values("pair_count", "new", "postponed")
        .get()
    )
    left = min(COUNTED, row["new"] + row["postponed"])
    return JudgingProgress(row["pair_count"], left, min(left, row["postponed"]))


def count_by_query(*, query_ids: Iterable[int], by: User) -> dict[int, tuple[int, int]]:
    """Returns `{query id: (documents that need no judgment by the rater, documents)}` of the judging queue. One SQL statement."""
    own = Rating.objects.filter(query=OuterRef("query"), doc_id=OuterRef("doc_id"), rater=by, verdict__in=JUDGED)
    pairs = JudgingPair.objects.filter(query__in=list(query_ids)).order_by().values("query")
    counted = pairs.annotate(done=Count("pk", filter=Q(level=None) | Q(Exists(own))), total=Count("pk"))
    return {row["query"]: (row["done"], row["total"]) for row in counted}


def last_judged(*, book: Book, by: User, count: int = 6) -> list[Rating]:
    """Returns what the rater judged last in a book, newest first, each with its query. Two SQL statements."""
    own = RatingChange.objects.filter(by=by, rater=by, query__book=book, source__in=PAGE_SOURCES)
    newest = own.order_by("-id").values_list("query_id", "doc_id")[: 4 * count]
    pairs = list(dict.fromkeys(newest))
    ratings = Rating.objects.filter(
        rater=by,
        query__in={query_id for query_id, _ in pairs},
        doc_id__in={doc_id for _, doc_id in pairs},
        verdict__in=JUDGED,
    )
    by_pair = {(rating.query_id, rating.doc_id): rating for rating in ratings.select_related("query")}
    return [by_pair[pair] for pair in pairs if pair in by_pair][:count]


def locked(pairs: Any) -> Any:
    """Locks pairs where the database has row locks. Those that another transaction has locked are left out: nothing waits, so that
    there are no deadlocks."""
    return pairs.select_for_update(skip_locked=True, no_key=True)


def is_free(now: datetime) -> Q:
    """The pairs that no rater has claimed, or not for longer."""
    return Q(claimed_until=None) | Q(claimed_until__lte=now)


def postponed_by(by: User) -> QuerySet[Any]:
    """Returns the ratings "later" of the rater on open pairs, oldest first, with `pair`, the pair's id, and `pair_queue`."""
    pairs = JudgingPair.objects.open().filter(query=OuterRef("query"), doc_id=OuterRef("doc_id"))
    later = Rating.objects.filter(rater=by, verdict=Verdict.LATER).order_by("updated_at", "pk")
    return later.annotate(pair=Subquery(pairs.values("pk")[:1]), pair_queue=Subquery(pairs.values("queue")[:1])).filter(
        pair__isnull=False
    )


def _free_postponed(queue: JudgingQueue, by: User, now: datetime, count: int) -> list[JudgingPair]:
    pairs = queue.pairs.filter(is_free(now), pk=OuterRef("pair"))
    ids = list(postponed_by(by).filter(Exists(pairs), pair_queue=queue).values_list("pair", flat=True)[:count])
    return sorted(locked(queue.pairs.filter(is_free(now), pk__in=ids)), key=lambda pair: ids.index(pair.pk))


def _count(rows: QuerySet[Any]) -> SubqueryCount:
    return SubqueryCount(rows.values("pk"))
