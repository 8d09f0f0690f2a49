"""How far the raters of a book agree, with each figure in plain words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy import judgments
from relevancy.models import Book, Role, User
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest

# 100,000 ratings take less than two seconds, most of them with one core for the intervals.
MAX_RATINGS = 200_000


class _Coefficient(Protocol):
    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


@dataclass(frozen=True)
class Figure:
    """A figure with its 95 % interval and what it means."""

    name: str
    coefficient: _Coefficient
    meaning: str


@dataclass(frozen=True)
class PairRow:
    """Two raters, the number of documents that both rated, and Cohen's kappa without weights and with quadratic ones."""

    a: User
    b: User
    documents: int
    kappa: float | None
    quadratic: float | None


@require_GET
def book_agreement(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The figures of a book, computed when the page is opened."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.VIEWER)
    ratings = sum(grade.count for grade in judgments.count_by_grade(book))
    context: dict[str, object] = {"book": book, "ratings": ratings, "max_ratings": MAX_RATINGS}
    if ratings <= MAX_RATINGS:
        result = judgments.measure_agreement(book=book)
        context |= {"result": result, "figures": _figures(result), "pairs": _pairs(result)}
    context["self_agreement"] = judgments.measure_self_agreement(book)
    return render(request, "books/agreement.html", context)


def _figures(result: judgments.BookAgreement) -> Sequence[Figure]:
    agreement = result.agreement
    commonest = f"{100 * (agreement.commonest or 0):.0f} %"
    return [
        Figure(
            "Krippendorff’s alpha, ordinal",
            agreement.alpha["ordinal"],
            "1: the raters always agree; 0: no more than by chance. Grades that are close count as near misses.",
        ),
        Figure(
            "Krippendorff’s alpha, nominal",
            agreement.alpha["nominal"],
            "The same if only equal grades count as agreement.",
        ),
        Figure(
            "Fleiss’ kappa",
            agreement.fleiss_kappa,
            "Equal grades beyond chance, for any number of raters; 1 is complete agreement.",
        ),
        Figure(
            "Same grade",
            agreement.agreement,
            "The share of pairs of ratings of one document that are the same grade. A rater who always gives the commonest grade "
            f"would agree with {commonest} of the ratings.",
        ),
    ]


def _pairs(result: judgments.BookAgreement) -> Sequence[PairRow]:
    rows = [
        PairRow(pair.a, pair.b, pair.figures.items, pair.figures.kappa(), pair.figures.kappa("quadratic"))
        for pair in result.pairs
    ]
    return sorted(rows, key=lambda row: (-row.documents, str(row.a), str(row.b)))
