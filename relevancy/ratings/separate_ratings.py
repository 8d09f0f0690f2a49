"""Grades that stand apart, such as those of machines: accepted as ratings of their rater, and taken back.

See docs/decisions/0110.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import batched

from relevancy.models import Book, Rating, User, Verdict

from .changes import REMOVAL, Change
from .query_batches import split_by_ratings
from .ratings import change_book

RATINGS_AT_ONCE, QUERIES_AT_ONCE = 1_000, 500  # of one transaction


@dataclass(frozen=True)
class Counted:
    """changed: ratings that are new or differ. left_out: documents with a rating by another rater. off_scale: grades that are not on
    the present scale of the book."""

    changed: int
    left_out: int
    off_scale: int


type ReadGrades = Callable[[Collection[int]], Iterable[tuple[int, str, float | None]]]
"""Returns `(query id, document id, grade)` of these queries. Called while they are locked, after the settings of the book were read."""


def accept_grades(
    *,
    book: Book,
    rater: User,
    by: User,
    source: str,
    query_ids: Iterable[int],
    read: ReadGrades,
    replaces: bool = False,
) -> Counted:
    """Makes ratings of grades, for documents of these queries that nobody else has rated.

    Ratings by others always stay as they are: with the rule "latest", a newer rating would replace theirs.
    replaces: removes the other ratings of the rater in the book. Computes no scores.

    Writes in transactions of about 1,000 ratings, so that no other writer waits for long. If one fails, those before it stay; calling
    this again does the rest.
    """
    own = Rating.objects.filter(query__book=book, rater=rater)
    wanted = set(query_ids)
    parts = batched(sorted(wanted), QUERIES_AT_ONCE)
    sizes = Counter(query_id for part in parts for query_id, _, _ in read(part))
    if replaces:
        sizes.update(own.values_list("query_id", flat=True))
    counts = [
        _count_some(book, rater, by, source, batch, read, replaces)
        for batch in query_batches(wanted | set(sizes), sizes)
    ]
    return Counted(*(sum(numbers) for numbers in zip(*counts, strict=True))) if counts else Counted(0, 0, 0)


def _count_some(
    book: Book, rater: User, by: User, source: str, query_ids: Collection[int], read: ReadGrades, replaces: bool
) -> tuple[int, int, int]:
    """Makes ratings of the grades of some queries, in one transaction. Returns the numbers of `Counted`."""
    left_out = off_scale = 0
    stored = Rating.objects.filter(query__in=query_ids)

    def choose() -> Mapping[int, Mapping[str, Change]]:
        nonlocal left_out, off_scale
        left_out = off_scale = 0
        book.refresh_settings()
        others = stored.filter(verdict=Verdict.RATED).exclude(rater=rater)
        rated = set(others.values_list("query_id", "doc_id"))
        changes: dict[int, dict[str, Change]] = defaultdict(dict)
        if replaces:
            for query_id, doc_id in stored.filter(rater=rater).values_list("query_id", "doc_id"):
                changes[query_id][doc_id] = REMOVAL
        for query_id, doc_id, value in read(query_ids):
            if (query_id, doc_id) in rated:
                left_out += 1
            elif value is None or value not in book.grades:
                off_scale += 1
            else:
                changes[query_id][doc_id] = Change(value)
        return changes

    changed = change_book(query_ids=query_ids, choose=choose, rater=rater, by=by, source=source)
    return changed, left_out, off_scale


def withdraw_ratings(*, book: Book, rater: User, by: User, source: str, verdict: str = "") -> int:
    """Removes the ratings of a rater from a book, in transactions of about 1,000. Returns how many. Computes no scores.

    verdict: removes only these, such as "cannot judge".
    """
    own = Rating.objects.filter(query__book=book, rater=rater)
    if verdict:
        own = own.filter(verdict=verdict)
    sizes = Counter(own.values_list("query_id", flat=True))
    removed = 0
    for batch in query_batches(set(sizes), sizes):

        def choose(query_ids: Collection[int] = batch) -> Mapping[int, Mapping[str, Change]]:
            changes: dict[int, dict[str, Change]] = defaultdict(dict)
            for query_id, doc_id in own.filter(query__in=query_ids).values_list("query_id", "doc_id"):
                changes[query_id][doc_id] = REMOVAL
            return changes

        removed += change_book(query_ids=batch, choose=choose, rater=rater, by=by, source=source)
    return removed


def query_batches(query_ids: Collection[int], sizes: Mapping[int, int]) -> Iterator[list[int]]:
    """Yields the queries of each transaction, by their id. sizes: the numbers of ratings of each that are written."""
    return split_by_ratings(sorted(query_ids), sizes, most_ratings=RATINGS_AT_ONCE, most_queries=QUERIES_AT_ONCE)
