"""Turns estimates into grades by thresholds, previews that, and accepts them as ratings."""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from django.core.exceptions import ValidationError

from relevancy import activity
from relevancy.models import Book, Rating, User, Verdict
from relevancy.ratings.separate_ratings import Counted, accept_grades, withdraw_ratings
from relevancy.wording import counted

from .models import ClickLog

SOURCE = "clicks"
COUNTED, WITHDRAWN = "rating.clicks_counted", "rating.clicks_withdrawn"  # verbs of the activity log


@dataclass(frozen=True)
class GradeShare:
    """Documents with a grade. grade, label: of the scale. low: the least estimate with this grade; None for the lowest grade.
    documents: with enough evidence; of these, `rated` have a rating by others and get none.
    judged, mean: documents that people gave this grade, and the mean of their estimates; None without any.
    """

    grade: float
    label: str
    low: float | None
    documents: int
    rated: int
    judged: int
    mean: float | None


@dataclass(frozen=True)
class ClickPreview:
    """What accepting the estimates as ratings would lead to. too_little: documents without enough evidence."""

    grades: Sequence[GradeShare]
    too_little: int

    @property
    def enough(self) -> int:
        """Documents with enough evidence."""
        return sum(row.documents for row in self.grades)

    @property
    def left_out(self) -> int:
        """Documents with enough evidence that others have rated."""
        return sum(row.rated for row in self.grades)


def check_thresholds(book: Book, thresholds: Sequence[float]) -> None:
    """Raises `ValidationError` unless there is one for each grade above the lowest, each larger than the one before."""
    wanted = len(book.grades) - 1
    if len(thresholds) != wanted:
        raise ValidationError(
            {
                "thresholds": f"There are {len(thresholds)} thresholds; the scale of the book needs {wanted}, one for each grade above "
                f"{book.lowest:g}."
            }
        )
    if not all(math.isfinite(value) for value in thresholds) or any(a >= b for a, b in pairwise(thresholds)):
        raise ValidationError({"thresholds": "Each threshold must be larger than the one before."})


def suggest_thresholds(log: ClickLog, min_evidence: float) -> list[float]:
    """Returns thresholds that split the documents with enough evidence into parts of about the same size, one for each grade.

    With three significant digits; fewer than the scale needs if the estimates are too few or too much alike.
    """
    values = sorted(log.estimates.filter(evidence__gte=min_evidence).values_list("value", flat=True))
    parts = len(log.book.grades)
    chosen = [float(f"{values[len(values) * part // parts]:.3g}") for part in range(1, parts) if values]
    return sorted(set(chosen))


def propose_thresholds(log: ClickLog, min_evidence: float) -> tuple[list[float], str]:
    """Returns those that were accepted last, if they fit the scale, else suggested ones; without any, why there are none."""
    grades = len(log.book.grades)
    for thresholds in (log.thresholds, suggest_thresholds(log, min_evidence)):
        if thresholds and len(thresholds) == grades - 1:
            return thresholds, ""
    enough = log.estimates.filter(evidence__gte=min_evidence).count()
    documents = counted(enough, "document has", "documents have") if enough else "No document has"
    why = "Their estimates are too much alike" if enough >= grades else "These are too few"
    return [], (
        f"{documents} at least {min_evidence:g} examinations. {why} to propose thresholds for {grades} grades. Import a larger log, or "
        f"enter {counted(grades - 1, 'threshold')}."
    )


def preview(*, log: ClickLog, thresholds: Sequence[float], min_evidence: float) -> ClickPreview:
    """Returns what `let_count` would do. Raises `ValidationError` as it does."""
    book = log.book
    check_thresholds(book, thresholds)
    judged = _judged_by_others(log)
    documents: Counter[float] = Counter()
    rated: Counter[float] = Counter()
    estimates: dict[float, list[float]] = defaultdict(list)
    too_little = 0
    rows = log.estimates.values_list("query_id", "doc_id", "value", "evidence")
    for query_id, doc_id, value, evidence in rows:
        if evidence < min_evidence:
            too_little += 1
            continue
        grade = book.grades[bisect_right(thresholds, value)]
        documents[grade] += 1
        if (query_id, doc_id) in judged:
            rated[grade] += 1
            for people_grade in judged[query_id, doc_id]:
                estimates[people_grade].append(value)
    lows = [None, *thresholds]
    grades = [
        GradeShare(
            grade,
            label,
            low,
            documents[grade],
            rated[grade],
            len(estimates[grade]),
            fmean(estimates[grade]) if estimates[grade] else None,
        )
        for (grade, label), low in zip(book.scale, lows, strict=True)
    ]
    return ClickPreview(grades, too_little)


def let_count(*, log: ClickLog, thresholds: Sequence[float], min_evidence: float, by: User) -> Counted:
    """Makes ratings of the estimates with enough evidence, for documents that nobody else has rated, by the rater “clicks”.

    thresholds: the least estimate of each grade above the lowest, ascending. min_evidence: in examinations. Other ratings of this
    rater in the book are removed. Raises `ValidationError` for thresholds that do not fit the scale. Computes no scores.
    """
    book = log.book

    def read(query_ids: Collection[int]) -> Iterator[tuple[int, str, float]]:
        check_thresholds(book, thresholds)  # the scale may have changed meanwhile
        enough = log.estimates.filter(evidence__gte=min_evidence, query__in=query_ids)
        rows = enough.values_list("query_id", "doc_id", "value")
        for query_id, doc_id, value in rows:
            yield query_id, doc_id, book.grades[bisect_right(thresholds, value)]

    query_ids = list(log.estimates.order_by().values_list("query_id", flat=True).distinct())
    accepted = accept_grades(
        book=book, rater=log.rater, by=by, source=SOURCE, query_ids=query_ids, read=read, replaces=True
    )
    log.thresholds, log.min_evidence = list(thresholds), min_evidence
    log.save(update_fields=["thresholds", "min_evidence"])
    activity.record_for_book(COUNTED, book=book, by=by, count=accepted.changed)
    return accepted


def withdraw(*, log: ClickLog, by: User) -> int:
    """Removes the ratings by clicks from the book; the estimates stay. Returns how many. Computes no scores."""
    removed = withdraw_ratings(book=log.book, rater=log.rater, by=by, source=SOURCE)
    activity.record_for_book(WITHDRAWN, book=log.book, by=by, count=removed)
    return removed


def _judged_by_others(log: ClickLog) -> dict[tuple[int, str], list[float]]:
    """Returns the grades that others than clicks gave, of people alone, by query id and document; empty lists for those of machines."""
    machines = set(User.objects.filter(kind=User.Kind.MACHINE).values_list("pk", flat=True))
    judged: dict[tuple[int, str], list[float]] = defaultdict(list)
    columns = ("query_id", "doc_id", "rater_id", "verdict", "value")
    ratings = Rating.objects.filter(query__book=log.book_id).order_by()
    for query_id, doc_id, rater_id, verdict, value in ratings.values_list(*columns):
        if verdict != Verdict.RATED or rater_id == log.rater_id:
            continue
        grades = judged[query_id, doc_id]
        if rater_id not in machines:
            grades.append(value)
    return dict(judged)
