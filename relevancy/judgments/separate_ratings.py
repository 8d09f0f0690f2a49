"""Grades that stand apart, such as those of judge models and clicks: let count as ratings of their rater, and taken back."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from relevancy.models import Book, Rating, User, Verdict

from .changes import REMOVAL, Change
from .ratings import change_book


@dataclass(frozen=True)
class Counted:
    """changed: ratings that are new or differ. left_out: documents with a rating by another rater. off_scale: grades that are not on
    the present scale of the book."""

    changed: int
    left_out: int
    off_scale: int


type ReadGrades = Callable[[], Iterable[tuple[int, str, float | None]]]
"""Returns `(query id, document id, grade)`. Called while the queries are locked, after the settings of the book were read."""


def let_grades_count(
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
    """
    left_out = off_scale = 0
    own = Rating.objects.filter(query__book=book, rater=rater)
    if replaces:
        query_ids = {*query_ids, *own.values_list("query_id", flat=True)}

    def choose() -> Mapping[int, Mapping[str, Change]]:
        nonlocal left_out, off_scale
        left_out = off_scale = 0
        book.refresh_settings()
        others = Rating.objects.filter(query__book=book, verdict=Verdict.RATED).exclude(rater=rater)
        rated = set(others.values_list("query_id", "doc_id"))
        changes: dict[int, dict[str, Change]] = defaultdict(dict)
        if replaces:
            for query_id, doc_id in own.values_list("query_id", "doc_id"):
                changes[query_id][doc_id] = REMOVAL
        for query_id, doc_id, value in read():
            if (query_id, doc_id) in rated:
                left_out += 1
            elif value is None or value not in book.grades:
                off_scale += 1
            else:
                changes[query_id][doc_id] = Change(value)
        return changes

    changed = change_book(query_ids=query_ids, choose=choose, rater=rater, by=by, source=source)
    return Counted(changed, left_out, off_scale)


def withdraw_ratings(*, book: Book, rater: User, by: User, source: str) -> int:
    """Removes the ratings of a rater from a book. Returns how many. Computes no scores."""
    own = Rating.objects.filter(query__book=book, rater=rater)

    def choose() -> Mapping[int, Mapping[str, Change]]:
        changes: dict[int, dict[str, Change]] = defaultdict(dict)
        for query_id, doc_id in own.values_list("query_id", "doc_id"):
            changes[query_id][doc_id] = REMOVAL
        return changes

    query_ids = list(own.values_list("query_id", flat=True).distinct())
    return change_book(query_ids=query_ids, choose=choose, rater=rater, by=by, source=source)
