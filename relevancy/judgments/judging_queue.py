"""Chooses what is to be judged in a book: the first documents of each query in the newest complete run of each case.

The pairs are rows, so that the next one is found without reading results. They are chosen again after a run and after a change of
the settings; each rating updates the pair that it belongs to, in the same transaction.
"""

import hashlib
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import batched

from django.db import transaction
from django.db.models import OuterRef, Q, Subquery
from django.utils import timezone

from relevancy import activity, scores
from relevancy.models import Activity, Book, Case, CaseQuery, JudgingPair, JudgingQueue, Ranking, Run, User
from relevancy.models.saving import clean_and_save

from .write_queue import write_turn

QUERIES_PER_TRANSACTION = 50  # ratings wait for the transaction
BATCH = 500
REQUEUE_AFTER = timedelta(seconds=60)  # a task that has not begun by then may have been lost


@dataclass(frozen=True)
class _Source:
    """Where a pair comes from: the run and the rank, counted from 1."""

    run_id: int
    rank: int


def judging_queue(book: Book) -> JudgingQueue:
    """Returns the queue of a book, created with the default settings if there is none."""
    queue, _ = JudgingQueue.objects.get_or_create(book=book)
    queue.book = book
    return queue


def set_judging(
    *,
    book: Book,
    depth: int,
    ratings_per_pair: int,
    order: str,
    repeat_share: int | None = None,
    by: User | None = None,
) -> JudgingQueue:
    """Changes how the pairs of a book are chosen and ordered, and how many come again. `build_judging_queue` chooses them.

    repeat_share: in per cent; None keeps it. Raises `ValidationError`.
    """
    queue = judging_queue(book)
    changes = {"depth": depth, "ratings_per_pair": ratings_per_pair, "order": order, "built_at": None}
    if repeat_share is not None:
        changes["repeat_share"] = repeat_share
    with transaction.atomic():
        clean_and_save(queue, **changes)
        activity.record_for_book(
            Activity.Verb.BOOK_CHANGED, book=book, by=by, changed="which documents are judged, and in which order"
        )
    return queue


def is_outdated(queue: JudgingQueue) -> bool:
    """Returns whether the settings have changed, or there are other newest runs, since the pairs were chosen. One SQL statement."""
    return queue.built_at is None or sorted(_newest_runs(queue.book_id).values()) != queue.run_ids


def queue_build(queue: JudgingQueue) -> bool:
    """Returns whether a task has to be enqueued that chooses the pairs: False if one has been, less than a minute ago."""
    now = timezone.now()
    is_free = Q(build_queued_at=None) | Q(build_queued_at__lt=now - REQUEUE_AFTER)
    return bool(JudgingQueue.objects.filter(is_free, pk=queue.pk).update(build_queued_at=now))


def build_judging_queue(*, book: Book) -> int:
    """Chooses the pairs of a book again. Returns their number. Claims are kept. Safe to run more than once, also at the same time."""
    queue = judging_queue(book)
    runs_by_case = _newest_runs(book.pk)
    cases_by_query = _cases_by_query(runs_by_case)
    total = 0
    for number, query_ids in enumerate(batched(cases_by_query, QUERIES_PER_TRANSACTION)):
        if number:
            time.sleep(scores.PAUSE_SECONDS)
        sources = _read_sources(query_ids, cases_by_query, runs_by_case, queue.depth)
        pairs = [
            JudgingPair(
                queue=queue,
                query_id=query_id,
                doc_id=doc_id,
                run_id=source.run_id,
                rank=source.rank,
                key=pair_key(queue, query_id, doc_id, source.rank),
            )
            for query_id in query_ids
            for doc_id, source in sources[query_id].items()
        ]
        _store(query_ids, pairs)
        total += len(pairs)
    _remove_other_queries(queue, cases_by_query.keys())
    same_settings = {"depth": queue.depth, "ratings_per_pair": queue.ratings_per_pair, "order": queue.order}
    JudgingQueue.objects.filter(pk=queue.pk, **same_settings).update(
        run_ids=sorted(runs_by_case.values()), pair_count=total, built_at=timezone.now(), build_queued_at=None
    )
    return total


def pair_key(queue: JudgingQueue, query_id: int, doc_id: str, rank: int) -> float:
    """Returns the position of a pair in the order of the queue, always the same for the same seed.

    Query by query: queries in the order of their ids, their documents shuffled, which hides the ranks.
    Best ranks first: shuffled among the documents of a rank.
    Random, better ranks sooner: a random order without replacement in which each next pair is drawn with a probability
    proportional to 1 / rank. The key is an exponential variable with that rate (Efraimidis & Spirakis 2006, Weighted random
    sampling with a reservoir, Information Processing Letters 97).
    """
    digest = hashlib.blake2b(f"{queue.seed}:{query_id}:{doc_id}".encode(), digest_size=8).digest()
    uniform = (int.from_bytes(digest) + 0.5) / 2**64  # in (0, 1)
    match JudgingQueue.Order(queue.order):
        case JudgingQueue.Order.QUERY:
            return query_id + uniform
        case JudgingQueue.Order.RANK:
            return rank + uniform
        case JudgingQueue.Order.WEIGHTED:
            return -math.log(uniform) * rank


def _newest_runs(book_id: int) -> dict[int, int]:
    """Returns `{case id: id of its newest complete run}` of the cases of a book that are not archived."""
    complete = Run.objects.filter(case=OuterRef("pk"), status=Run.Status.COMPLETE).order_by("-number")
    cases = Case.objects.live().filter(book=book_id).order_by()
    newest = cases.annotate(newest_run=Subquery(complete.values("pk")[:1])).values_list("pk", "newest_run")
    return {case_id: run_id for case_id, run_id in newest if run_id is not None}


def _cases_by_query(case_ids: Iterable[int]) -> dict[int, list[int]]:
    """Returns `{query id: ids of the cases that have it}`, ascending."""
    present = CaseQuery.objects.present().filter(case__in=list(case_ids), query__retired_at=None)
    cases_by_query: dict[int, list[int]] = {}
    for query_id, case_id in present.order_by("query_id").values_list("query_id", "case_id"):
        cases_by_query.setdefault(query_id, []).append(case_id)
    return cases_by_query


def _read_sources(
    query_ids: Sequence[int], cases_by_query: Mapping[int, Sequence[int]], runs_by_case: Mapping[int, int], depth: int
) -> dict[int, dict[str, _Source]]:
    """Returns `{query id: {document id: source}}` with the best rank of each document. One SQL statement."""
    sources: dict[int, dict[str, _Source]] = {query_id: {} for query_id in query_ids}
    run_ids = set(runs_by_case.values())
    rankings = Ranking.objects.filter(run__in=run_ids, query__in=query_ids, error_kind="").order_by("-run_id")
    for query_id, run_id, hits in rankings.values_list("query_id", "run_id", "hits").iterator():
        if run_id not in {runs_by_case[case_id] for case_id in cases_by_query[query_id]}:
            continue
        documents = sources[query_id]
        for rank, hit in enumerate(hits[:depth], 1):
            if hit[0] not in documents or rank < documents[hit[0]].rank:
                documents[hit[0]] = _Source(run_id, rank)
    return sources


def _store(query_ids: Sequence[int], pairs: Sequence[JudgingPair]) -> None:
    """Replaces the pairs of some queries. Those that are there already keep their claims."""
    kept = {(pair.query_id, pair.doc_id) for pair in pairs}
    with write_turn(), transaction.atomic():
        scores.lock_queries(query_ids)  # no rating is stored between the count of raters and the end
        present = JudgingPair.objects.filter(query__in=query_ids)
        stored = present.values_list("pk", "query_id", "doc_id")
        _delete([pk for pk, query_id, doc_id in stored if (query_id, doc_id) not in kept])
        JudgingPair.objects.bulk_create(
            pairs,
            batch_size=BATCH,
            update_conflicts=True,
            unique_fields=("query", "doc_id"),
            update_fields=("queue", "run", "rank", "key"),
        )
        JudgingPair.objects.update_levels(query_ids)


def _remove_other_queries(queue: JudgingQueue, query_ids: Iterable[int]) -> None:
    """Removes the pairs of queries that no case of the book has any more."""
    stored = JudgingPair.objects.filter(queue=queue).order_by().values_list("query_id", flat=True).distinct()
    for removed in batched(sorted(set(stored) - set(query_ids)), QUERIES_PER_TRANSACTION):
        with write_turn(), transaction.atomic():
            scores.lock_queries(removed)
            JudgingPair.objects.filter(query__in=removed).delete()


def _delete(pair_ids: Sequence[int]) -> None:
    for batch in batched(pair_ids, BATCH):
        JudgingPair.objects.filter(pk__in=batch).delete()
