"""How far the raters of a book agree, with each figure in plain words."""

from collections import Counter
from collections.abc import Sequence

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from relevancy import books
from relevancy.models import Book, Role, User
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest

from . import agreement
from .sentences import agreeing_text, bias_text, pace_text, summarize, unit_text
from .statistics import AgreeingRaters, Coefficient

MAX_PAIRS = 100  # rows of the table
MAX_SIZES = 6  # numbers of ratings of a document, in the table “k of n agree”
QUERIES_PER_PAGE = 50


type Figure = tuple[str, Coefficient, str]
"""A figure: its name, its value with its 95 % interval, and what it means."""


@require_GET
def book_agreement(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The figures of a book, computed when the page is opened."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.VIEWER)
    context = _limit(book)
    if context["is_measured"]:
        result = agreement.measure_agreement(book=book)
        pairs = sorted(result.pairs, key=lambda pair: (-pair.figures.items, str(pair.a), str(pair.b)))
        context |= {
            "result": result,
            "figures": _figures(result),
            "summary": summarize(result.agreement),
            "unit_text": unit_text(result.agreement),
            "raters": [
                {
                    "row": row,
                    "grades": list(zip(book.grades, row.figures.grades.tolist(), strict=True)),
                    "bias_text": bias_text(row.figures),
                    "pace_text": pace_text(row.pace),
                    "is_machine": row.rater.kind == User.Kind.MACHINE,
                }
                for row in result.by_rater
            ],
            "agreeing": _agreeing(result.agreeing),
            "pairs": [
                (pair, 100 * pair.figures.agreement, pair.figures.kappa(), pair.figures.kappa("quadratic"))
                for pair in pairs[:MAX_PAIRS]
            ],
            "more_pairs": len(pairs) - MAX_PAIRS,
        }
    context["self_agreement"] = agreement.measure_self_agreement(book)
    return render(request, "agreement/agreement.html", context)


@require_GET
def book_agreement_queries(request: HtmxRequest, book_id: int) -> HttpResponse:
    """The grades of each query: those on whose documents raters agree least come first."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.VIEWER)
    context = _limit(book)
    if context["is_measured"]:
        rows = agreement.measure_query_agreement(book=book)
        page = Paginator(rows, QUERIES_PER_PAGE).get_page(request.GET.get("page"))
        context |= {
            "page": page,
            "rows": [(row, list(zip(book.grades, row.figures.grades.tolist(), strict=True))) for row in page],
        }
    return render(request, "agreement/queries.html", context)


def _limit(book: Book) -> dict[str, object]:
    """Returns the variables of a page that reads all ratings of a book, and whether there are few enough."""
    ratings = sum(grade.count for grade in books.count_by_grade(book))
    return {
        "book": book,
        "ratings": ratings,
        "max_ratings": agreement.MAX_RATINGS,
        "is_measured": ratings <= agreement.MAX_RATINGS,
    }


def _figures(result: agreement.BookAgreement) -> Sequence[Figure]:
    figures = result.agreement
    commonest = f"{100 * (figures.commonest or 0):.0f} %"
    return [
        (
            "Krippendorff’s alpha, ordinal",
            figures.alpha["ordinal"],
            "1: the raters always agree; 0: no more than by chance. Grades that are close count as near misses.",
        ),
        (
            "Krippendorff’s alpha, nominal",
            figures.alpha["nominal"],
            "The same if only equal grades count as agreement.",
        ),
        (
            "Krippendorff’s alpha, interval",
            figures.alpha["interval"],
            "The same if the distance of two grades is the difference of their numbers.",
        ),
        (
            "Fleiss’ kappa",
            figures.fleiss_kappa,
            "Equal grades beyond chance, for any number of raters; 1 is complete agreement.",
        ),
        (
            "Same grade",
            figures.agreement,
            "The share of pairs of ratings of one document that are the same grade. A rater who always gives the commonest grade "
            f"would agree with {commonest} of the ratings.",
        ),
    ]


def _agreeing(figures: Sequence[AgreeingRaters]) -> list[tuple[AgreeingRaters, str, float]]:
    """Returns how many documents with so many ratings have a grade that so many raters gave: in words, and in per cent of these."""
    totals: Counter[int] = Counter()
    for row in figures:
        totals[row.raters] += row.items
    shown = sorted(totals, key=lambda raters: (-totals[raters], raters))[:MAX_SIZES]
    return [
        (row, agreeing_text(row.raters, row.agreeing), 100 * row.items / totals[row.raters])
        for row in figures
        if row.raters in shown
    ]
