"""How long a rater waits for the next document: 100,000 pairs of query and document, 50 raters.

    python benchmarks/judging.py [--postgres URL] [--queries N] [--quick] [--check]

A book of 10,000 queries with ten documents each, from a run of one case; 49 raters have claimed their pairs. The time of what the
page calls for the next document: three pairs with their claims, and the number of pairs that are left. Five states: nothing is
rated; half of the pairs are rated by the others; the other half is rated once and two ratings per document are wanted, with 5,000
pairs at the head of the order that the rater has rated; three are wanted, and the rater has rated everything; the same in the order
by what changes a comparison most, with a rating by another person before each call. Target: the median of 15 calls takes at most
30 ms on the server in each. The CPU time stands beside it, because the time on the clock depends on what else the machine does. The
first call looks through all open pairs that the rater has rated, and so do others after ten minutes, or after a rating was taken
back: its times stand at the end of the line.

Between them, the figures of the page about agreement, with two ratings of half of the documents. Target: at most 2 s.

SQLite in a file; with --postgres also a database of its own on that server (postgresql://USER:PASSWORD@HOST:PORT/NAME).
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import batched
from statistics import median

import fresh_site
import options
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone
from invented import document, query_texts, rankings

from relevancy import books, cases, judging, queries, ratings, scorers
from relevancy.models import (
    Attempt,
    Book,
    Endpoint,
    JudgingPair,
    JudgingQueue,
    Ranking,
    Rating,
    RatingChange,
    RatingSpread,
    Run,
    ScorerVersion,
    User,
)
from relevancy.optional.agreement import agreement

RATERS, TARGET_MS, CALLS = 50, 30.0, 15
TARGET_AGREEMENT_S = 2.0
OWN_SHARE = 20  # one in so many pairs is rated by the rater who is measured: more than a person rates in a month
BATCH = 5_000


def make_book(count: int) -> Book:
    """A book with one case, whose run has ten documents for each query."""
    owner = User.objects.create_user("owner@example.com", None, name="Owner")
    case = cases.create(name="Shop", owner=owner, scale=scorers.parse_scale("0:3"))
    texts = query_texts(count)
    queries.add(case=case, texts=texts)
    endpoint = Endpoint.objects.create(name="Shop", engine="static", url="shop.csv", owner=owner)
    attempt = Attempt.objects.create(case=case, number=1, endpoint=endpoint, template="{}", created_by=owner)
    make_run(attempt, 1)
    return case.book


def make_run(attempt: Attempt, number: int) -> Run:
    """A run with ten documents for each query; runs with another number have the same ones in another order."""
    case, now = attempt.case, timezone.now()
    ids = dict(case.book.queries.order_by("pk").values_list("text", "pk"))
    run = Run.objects.create(
        case=case,
        attempt=attempt,
        number=number,
        status=Run.Status.COMPLETE,
        config={"engine": "static", "fields": "id:id title:title short_description supplier", "depth": 10},
        rows=10,
        queries=len(ids),
        done=len(ids),
        created_by=attempt.created_by,
        finished_at=now,
    )
    for batch in batched(rankings(list(ids), number - 1), 1_000):
        rows = []
        for text, numbers in batch:
            hits = [[(fields := document(number))["id"], 1.0, fields] for number in numbers]
            rows.append(Ranking.with_hits(hits, run=run, query_id=ids[text], total=10))
        with transaction.atomic():
            Ranking.objects.store(rows, endpoint=attempt.endpoint_id)
    return run


def rate_pairs(pairs: Sequence[JudgingPair], raters: Sequence[User]) -> None:
    """Writes a rating of each pair and its change, by the raters in turn, and counts the raters of the pairs again."""
    now = timezone.now()
    for batch in batched(enumerate(pairs), BATCH):
        with transaction.atomic():
            Rating.objects.bulk_create(
                Rating(
                    query_id=pair.query_id,
                    doc_id=pair.doc_id,
                    rater=raters[number % len(raters)],
                    value=(number * 7 + number // len(raters)) % 4,
                    created_at=now,
                    updated_at=now,
                )
                for number, pair in batch
            )
            RatingChange.objects.bulk_create(
                RatingChange(
                    query_id=pair.query_id,
                    doc_id=pair.doc_id,
                    rater=raters[number % len(raters)],
                    by=raters[number % len(raters)],
                    new_verdict="rated",
                    new_value=1,
                    at=now + timedelta(seconds=number),
                )
                for number, pair in batch
            )
            query_ids, documents = sorted({pair.query_id for _, pair in batch}), [pair.doc_id for _, pair in batch]
            JudgingPair.objects.update_levels(query_ids, documents)
            RatingSpread.objects.refresh(query_ids, documents, has_only_new_ratings=True)


def update_levels(queue: JudgingQueue) -> None:
    """Counts the raters of all pairs again, as choosing the pairs does after a change of the settings."""
    query_ids = queue.pairs.order_by().values_list("query_id", flat=True).distinct()
    for batch in batched(query_ids, BATCH):
        JudgingPair.objects.update_levels(batch)
    JudgingQueue.objects.filter(pk=queue.pk).update(built_at=timezone.now())


def measure(book: Book, rater: User, state: str, before: Callable[[], None] = lambda: None) -> float:
    """Prints the times of one state; returns the median of the time on the clock in milliseconds. before: done before each call."""
    queue = judging.judging_queue(book)
    walls, cpus = [], []
    for _ in range(CALLS):
        before()
        judging.release_pairs(queue=queue, by=rater)
        wall, cpu = time.perf_counter(), time.process_time()
        judging.next_pairs(queue=queue, by=rater)
        judging.judging_progress(queue=queue, by=rater)
        walls.append((time.perf_counter() - wall) * 1000)
        cpus.append((time.process_time() - cpu) * 1000)
    print(
        f"  {state:<50} {median(walls):6.1f} ms (fastest {min(walls):.1f}, slowest {max(walls):.1f}), "
        f"{median(cpus):.1f} ms of CPU; first call {walls[0]:.1f} ms, {cpus[0]:.1f} ms of CPU",
        flush=True,
    )
    return median(walls)


def order_by_comparison(book: Book) -> None:
    """Puts the pairs in the order by what changes the comparison of two runs of the case, three ratings of each."""
    case = book.cases.get()
    second = make_run(case.attempts.get(), 2)
    judging.set_judging(
        book=book,
        depth=10,
        ratings_per_pair=3,
        order=JudgingQueue.Order.DIFFERENCE,
        run_a=case.runs.get(number=1),
        run_b=second,
        version=ScorerVersion.objects.used_by(case)[0],
    )
    judging.build_judging_queue(book=book)


def rate_and_order(book: Book, other: User, pairs: Iterator[JudgingPair]) -> float:
    """Stores a rating of another rater and does what the worker does after it; returns the seconds of the latter."""
    pair = next(pairs)
    ratings.rate(query=pair.query, doc_id=pair.doc_id, value=2, by=other)
    start = time.perf_counter()
    assert judging.refresh_judging_order(book.pk) == 1
    return time.perf_counter() - start


def measure_agreement(book: Book) -> float:
    """Prints the time of everything that the page about agreement computes; returns the time on the clock in seconds."""
    ratings = Rating.objects.filter(query__book=book).count()
    wall, cpu = time.perf_counter(), time.process_time()
    books.count_by_grade(book)
    result = agreement.measure_agreement(book=book)
    agreement.measure_self_agreement(book)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(
        f"  agreement: {ratings:,} ratings by {len(result.raters)} raters, {len(result.pairs):,} pairs of raters: "
        f"{wall:.2f} s, {cpu:.2f} s of CPU",
        flush=True,
    )
    return wall


def main() -> int:
    line = options.parser(__doc__, 10_000)
    line.add_argument("--postgres", metavar="URL", help="a PostgreSQL server to measure as well")
    chosen = options.read(line, 100)
    book = make_book(chosen.queries)
    raters = [User.objects.create_user(f"r{n}@example.com", None, name=f"Rater {n}") for n in range(RATERS)]
    me, others = raters[0], raters[1:]
    start = time.perf_counter()
    total = judging.build_judging_queue(book=book)
    seconds = time.perf_counter() - start
    print(f"{connection.vendor}: {total:,} pairs, {RATERS} raters; invented data", flush=True)
    print(f"  the pairs are chosen in {seconds:.1f} s")
    queue = judging.judging_queue(book)
    for other in others:
        judging.next_pairs(queue=queue, by=other)
    times = [measure(book, me, "nothing rated")]
    pairs = list(queue.pairs.in_order())
    middle, own = len(pairs) // 2, len(pairs) // OWN_SHARE
    rate_pairs(pairs[:middle], others)
    times.append(measure(book, me, "half rated by others"))
    rate_pairs(pairs[:middle], [*others[1:], others[0]])
    agreement_s = measure_agreement(book)
    judging.set_judging(book=book, depth=10, ratings_per_pair=2, order=queue.order)
    rate_pairs(pairs[middle:-own], others)
    rate_pairs(pairs[-own:], [me])
    queue.pairs.update(key=-F("key"))  # the rater's own come first, and have to be skipped
    update_levels(queue)
    times.append(measure(book, me, f"two wanted, {own:,} of the rater's own come first"))
    rate_pairs(pairs[:-own], [me])
    judging.set_judging(book=book, depth=10, ratings_per_pair=3, order=queue.order)
    update_levels(queue)
    times.append(measure(book, me, "three wanted, the rater has rated everything"))
    order_by_comparison(book)
    others_pairs, ordered = queue.pairs.open().in_order().select_related("query").iterator(), list[float]()
    times.append(
        measure(
            book,
            me,
            "by a comparison, another rating before each call",
            lambda: ordered.append(rate_and_order(book, others[-1], others_pairs)),
        )
    )
    print(f"  the worker puts them in order after a rating in {1000 * median(ordered):.0f} ms")
    good = options.verdict(max(times) <= TARGET_MS, f"at most {TARGET_MS:g} ms on the server")
    good &= options.verdict(agreement_s <= TARGET_AGREEMENT_S, f"agreement in at most {TARGET_AGREEMENT_S:g} s")
    if chosen.postgres:
        words = [word for word in sys.argv[1:] if word not in ("--postgres", chosen.postgres)]
        own = {**os.environ, "RELEVANCY_DATABASE_URL": chosen.postgres}
        good &= subprocess.run([sys.executable, __file__, *words, "--check"], env=own, check=False).returncode == 0
    return options.status(chosen, good)


if __name__ == "__main__":
    fresh_site.DATA  # noqa: B018 (set up by the import)
    sys.exit(main())
