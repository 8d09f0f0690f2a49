"""Chooses what is to be judged in a book: the first documents of each query in the newest complete run of each case, or in two runs
that are compared.

The pairs are rows, so that the next one is found without reading results. They are chosen when somebody asks for them first, and again
after a run and after a change of the settings; each rating updates the pair that it belongs to, in the same transaction.
"""

import hashlib
import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import batched
from typing import TypedDict, Unpack

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, F, Max, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from relevancy import activity, runs, scores
from relevancy.models import (
    Activity,
    Book,
    Case,
    CaseQuery,
    JudgingPair,
    JudgingQueue,
    Query,
    Ranking,
    Run,
    ScorerVersion,
    User,
    read_doc_ids,
)
from relevancy.models.saving import clean_and_save
from relevancy.models.write_queue import write_pause, write_turn

from .judging_order import ChangeMeter

MAX_QUERIES = (
    20_000  # of a book whose documents are chosen: nobody judges those of more, and their pairs take minutes to store
)
QUERIES_PER_TRANSACTION = 50  # ratings wait for the transaction
BATCH = 500
REQUEUE_AFTER = timedelta(seconds=60)  # a task that has not begun by then may have been lost


class JudgingChanges(TypedDict, total=False):
    """What `set_judging` changes, with the meaning it has for `JudgingQueue`; what is left out stays."""

    depth: int
    ratings_per_pair: int
    order: str
    repeat_share: int
    run_a: Run | None
    run_b: Run | None
    version: ScorerVersion | None


type Changes = Mapping[tuple[int, str], float]
"""`{(query id, document id): points}` of unrated documents that can change the comparison of two runs."""


def judging_queue(book: Book) -> JudgingQueue:
    """Returns the queue of a book, created with the default settings if there is none."""
    queue, _ = JudgingQueue.objects.get_or_create(book=book)
    queue.book = book
    return queue


def set_judging(*, book: Book, by: User | None = None, **changes: Unpack[JudgingChanges]) -> JudgingQueue:
    """Changes how the pairs of a book are chosen and ordered, and how many come again. `build_judging_queue` chooses them.

    `Order.DIFFERENCE` needs two runs and a scorer; both runs are pinned, so that their documents stay. Raises `ValidationError`.
    """
    queue = judging_queue(book)
    if changes.get("order", queue.order) == JudgingQueue.Order.DIFFERENCE:
        compared = [changes.get("run_a", queue.run_a), changes.get("run_b", queue.run_b)]
        _pin_compared(book, compared, changes.get("version", queue.version), by)
    with transaction.atomic():
        clean_and_save(queue, **changes, built_at=None)
        activity.record_for_book(
            Activity.Verb.BOOK_CHANGED, book=book, by=by, changed="which documents are judged, and in which order"
        )
    return queue


def _pin_compared(book: Book, compared: Sequence[Run | None], version: ScorerVersion | None, by: User | None) -> None:
    """Pins the runs that are compared. Raises `ValidationError` if they or the scorer cannot decide about the order."""
    chosen = [run for run in compared if run is not None]
    if len(chosen) < 2 or version is None:
        raise ValidationError({"run_a": "Choose the two runs to compare, and a scorer."})
    if chosen[0].pk == chosen[1].pk:
        raise ValidationError({"run_b": "Choose two different runs."})
    if any(run.case.book_id != book.pk for run in chosen):
        raise ValidationError({"run_a": f"Both runs have to be of cases of the book {book}."})
    if version.script:
        raise ValidationError(
            {"version": "A script has no bounds, so it cannot say what changes the comparison. Choose a measure."}
        )
    try:
        for run in chosen:
            runs.pin(run=run, by=by)
    except runs.RunNotAllowed as reason:
        raise ValidationError({"run_a": str(reason)}) from reason


def is_outdated(queue: JudgingQueue) -> bool:
    """Returns whether the settings have changed, or there are other runs to take pairs from, since the pairs were chosen. At most one
    SQL statement."""
    return queue.built_at is None or _list_run_ids(_read_runs(queue)) != queue.run_ids


def queue_build(queue: JudgingQueue) -> bool:
    """Returns whether a task has to be enqueued that chooses the pairs: False if one has been, less than a minute ago."""
    now = timezone.now()
    is_free = Q(build_queued_at=None) | Q(build_queued_at__lt=now - REQUEUE_AFTER)
    return bool(JudgingQueue.objects.filter(is_free, pk=queue.pk).update(build_queued_at=now))


def build_judging_queue(*, book: Book) -> int:
    """Chooses the pairs of a book again. Returns their number. Claims are kept. Safe to run more than once, also at the same time."""
    queue = judging_queue(book)
    meter = ChangeMeter(queue) if queue.is_by_difference else None
    runs_by_case = _read_runs(queue)
    cases_by_query = _choose_queries(queue, runs_by_case)
    total = 0
    for number, query_ids in enumerate(batched(cases_by_query, QUERIES_PER_TRANSACTION)):
        if number:
            write_pause()
        pairs = _read_pairs(queue, query_ids, cases_by_query, runs_by_case)
        changes, revisions = _measure_changes(meter, query_ids)
        for pair in pairs:
            pair.key, pair.revision = pair_key(queue, pair, changes), revisions.get(pair.query_id)
        _store(query_ids, pairs)
        total += len(pairs)
    _remove_other_queries(queue, cases_by_query.keys())
    names = ("depth", "ratings_per_pair", "order", "run_a_id", "run_b_id", "version_id")
    same_settings = {name: getattr(queue, name) for name in names}
    JudgingQueue.objects.filter(pk=queue.pk, **same_settings).update(
        run_ids=_list_run_ids(runs_by_case), pair_count=total, built_at=timezone.now(), build_queued_at=None
    )
    return total


def count_changing(queue: JudgingQueue) -> int:
    """Returns the number of pairs that need ratings and can change the comparison of two runs, if the order is by that."""
    return queue.pairs.open().filter(key__lt=0).count() if queue.is_by_difference else 0


def refresh_judging_order(book_id: int) -> int:
    """Computes the keys of pairs of a book again whose queries have got ratings since, if the order depends on ratings. Returns the
    number of these queries. At most two SQL statements in other books. Safe to run more than once, also at the same time."""
    queue: JudgingQueue | None = JudgingQueue.objects.filter(book=book_id, order=JudgingQueue.Order.DIFFERENCE).first()
    if queue is None or not queue.is_by_difference:
        return 0
    meter = ChangeMeter(queue)
    pairs = JudgingPair.objects.filter(queue=queue)
    old = pairs.filter(Q(revision=None) | ~Q(revision=F("query__revision"))).order_by("query_id")
    changed = list(old.values_list("query_id", flat=True).distinct())
    for query_ids in batched(changed, QUERIES_PER_TRANSACTION):
        changes, revisions = _measure_changes(meter, query_ids)
        with write_turn(), transaction.atomic():
            scores.lock_queries(query_ids)
            stored = list(pairs.filter(query__in=query_ids))
            comes_earlier = False
            for pair in stored:
                key = pair_key(queue, pair, changes)
                comes_earlier |= pair.level is not None and key < pair.key
                pair.key, pair.revision = key, revisions[pair.query_id]
            JudgingPair.objects.bulk_update(stored, ["key", "revision"], batch_size=BATCH)
            if comes_earlier:  # otherwise the positions of the raters stay right
                JudgingQueue.objects.filter(pk=queue.pk).increment_revision()
    return len(changed)


def _measure_changes(meter: ChangeMeter | None, query_ids: Sequence[int]) -> tuple[Changes, Mapping[int, int]]:
    """Returns what the meter says, and the revisions of the queries, read before: a rating that arrives in between leaves a key that is
    computed again."""
    if meter is None:
        return {}, {}
    revisions = dict(Query.objects.filter(pk__in=query_ids).values_list("pk", "revision"))
    return meter.measure(query_ids), revisions


def pair_key(queue: JudgingQueue, pair: JudgingPair, changes: Changes) -> float:
    """Returns the position of a pair in the order of the queue, always the same for the same seed.

    Query by query: queries in the order of their ids, their documents shuffled, which hides the ranks.
    Best ranks first: shuffled among the documents of a rank.
    Random, better ranks sooner: a random order without replacement in which each next pair is drawn with a probability
    proportional to 1 / rank. The key is an exponential variable with that rate (Efraimidis & Spirakis 2006, Weighted random
    sampling with a reservoir, Information Processing Letters 97).
    What changes the comparison of two runs most: by the change, in points, the largest first; then those that change nothing, best
    ranks first.
    """
    digest = _digest(f"{queue.seed}:{pair.query_id}:{pair.doc_id}")
    uniform = (int.from_bytes(digest) + 0.5) / 2**64  # in (0, 1)
    match JudgingQueue.Order(queue.order):
        case JudgingQueue.Order.QUERY:
            return pair.query_id + uniform
        case JudgingQueue.Order.RANK:
            return pair.rank + uniform
        case JudgingQueue.Order.WEIGHTED:
            return -math.log(uniform) * pair.rank
        case JudgingQueue.Order.DIFFERENCE:
            change = changes.get((pair.query_id, pair.doc_id), 0.0)
            return -change if change > 0 else pair.rank + uniform


def _read_runs(queue: JudgingQueue) -> dict[int, list[int]]:
    """Returns `{case id: ids of the runs that pairs are taken from}`. At most one SQL statement."""
    if queue.is_by_difference:
        compared = Run.objects.filter(pk__in=[queue.run_a_id or 0, queue.run_b_id or 0]).order_by("pk")
        by_case: dict[int, list[int]] = {}
        for run_id, case_id in compared.values_list("pk", "case_id"):
            by_case.setdefault(case_id, []).append(run_id)
        return by_case
    return {case_id: [run_id] for case_id, run_id in _newest_runs(queue.book_id).items()}


def _list_run_ids(runs_by_case: Mapping[int, Sequence[int]]) -> list[int]:
    return sorted({run_id for run_ids in runs_by_case.values() for run_id in run_ids})


def _newest_runs(book_id: int) -> dict[int, int]:
    """Returns `{case id: id of its newest complete run}` of the cases of a book that are not archived."""
    complete = Run.objects.filter(case=OuterRef("pk"), status=Run.Status.COMPLETE).order_by("-number")
    cases = Case.objects.live().filter(book=book_id).order_by()
    newest = cases.annotate(newest_run=Subquery(complete.values("pk")[:1])).values_list("pk", "newest_run")
    return {case_id: run_id for case_id, run_id in newest if run_id is not None}


def _choose_queries(queue: JudgingQueue, case_ids: Iterable[int]) -> dict[int, list[int]]:
    """Returns `{query id: ids of the cases that have it}`, ascending, of at most `MAX_QUERIES` queries: those with the greatest
    weights, and of those with equal weights a random sample, always the same for the same seed."""
    present = _case_queries(case_ids)
    weights = present.values_list("query_id").annotate(Max("weight"))
    chosen = {
        query_id
        for *_, query_id in heapq.nsmallest(
            MAX_QUERIES,
            ((-weight, _digest(f"{queue.seed}:{query_id}"), query_id) for query_id, weight in weights.iterator()),
        )
    }
    cases_by_query: dict[int, list[int]] = {}
    for query_ids in batched(sorted(chosen), BATCH):
        rows = present.filter(query__in=query_ids).order_by("query_id")
        for query_id, case_id in rows.values_list("query_id", "case_id"):
            cases_by_query.setdefault(query_id, []).append(case_id)
    return cases_by_query


def _case_queries(case_ids: Iterable[int]) -> QuerySet[CaseQuery]:
    return CaseQuery.objects.present().filter(case__in=list(case_ids), query__retired_at=None).order_by()


def count_unchosen(queue: JudgingQueue) -> int:
    """Returns how many queries are not judged because there are more than `MAX_QUERIES`. Two SQL statements."""
    case_ids = _read_runs(queue).keys()
    # Of one case, each row is another query: sorting a million rows for their distinct ones takes longer than counting them.
    count = Count("query", distinct=len(case_ids) > 1)
    present: int = _case_queries(case_ids).aggregate(queries=count)["queries"]
    return max(0, present - MAX_QUERIES)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def _read_pairs(
    queue: JudgingQueue,
    query_ids: Sequence[int],
    cases_by_query: Mapping[int, Sequence[int]],
    runs_by_case: Mapping[int, Sequence[int]],
) -> list[JudgingPair]:
    """Returns the pairs of some queries, without keys, with the best rank of each document. Two SQL statements."""
    pairs: dict[tuple[int, str], JudgingPair] = {}
    rankings = Ranking.objects.filter(run__in=_list_run_ids(runs_by_case), query__in=query_ids, error_kind="").order_by(
        "-run_id"
    )
    for ranking in read_doc_ids(list(rankings.only("query_id", "run_id", "returned", "documents"))):
        query_id, run_id = ranking.query_id, ranking.run_id
        if not any(run_id in runs_by_case[case_id] for case_id in cases_by_query[query_id]):
            continue
        for rank, doc_id in enumerate(ranking.doc_ids[: queue.depth], 1):
            present = pairs.get((query_id, doc_id))
            if present is None or rank < present.rank:
                pairs[query_id, doc_id] = JudgingPair(
                    queue=queue, query_id=query_id, doc_id=doc_id, run_id=run_id, rank=rank
                )
    return list(pairs.values())


def _store(query_ids: Sequence[int], pairs: Sequence[JudgingPair]) -> None:
    """Replaces the pairs of some queries. Those that are there already keep their claims."""
    kept = {(pair.query_id, pair.doc_id) for pair in pairs}
    with write_turn(), transaction.atomic():
        scores.lock_queries(query_ids)  # no rating is stored between the count of raters and the end
        present = JudgingPair.objects.filter(query__in=query_ids)
        stored = present.values_list("pk", "query_id", "doc_id")
        gone = [pk for pk, query_id, doc_id in stored if (query_id, doc_id) not in kept]
        for pks in batched(gone, BATCH):
            JudgingPair.objects.filter(pk__in=pks).delete()
        JudgingPair.objects.bulk_create(
            pairs,
            batch_size=BATCH,
            update_conflicts=True,
            unique_fields=("query", "doc_id"),
            update_fields=("queue", "run", "rank", "key", "revision"),
        )
        JudgingPair.objects.update_levels(query_ids)


def _remove_other_queries(queue: JudgingQueue, query_ids: Iterable[int]) -> None:
    """Removes the pairs of queries that no case of the book has any more."""
    stored = JudgingPair.objects.filter(queue=queue).order_by().values_list("query_id", flat=True).distinct()
    for removed in batched(sorted(set(stored) - set(query_ids)), QUERIES_PER_TRANSACTION):
        with write_turn(), transaction.atomic():
            scores.lock_queries(removed)
            JudgingPair.objects.filter(query__in=removed).delete()
