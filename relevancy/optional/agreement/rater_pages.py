"""Two raters of a book with the documents that they graded differently, and the scores of cases by the ratings of one rater."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET

from relevancy import books, judging
from relevancy.models import Book, Case, Query, Role, User
from relevancy.templatetags import numbers
from relevancy.views.books.conflicts import CONFLICTS_PER_PAGE, build_conflict_rows
from relevancy.views.forms import FormData
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest

from . import agreement
from .rater_scores import RaterScore, measure_rater_scores
from .sentences import MIN_QUERIES, score_sentences

MAX_QUERIES = 5_000  # of the cases together, whose scores are computed while the page is opened
MAX_LISTED = 20
SHADES = 5
KAPPA_MEANINGS = {
    "none": ("Cohen’s kappa", "Equal grades beyond chance: 1 is complete agreement, 0 no more than by chance."),
    "linear": ("Kappa, linear weights", "A difference of two grades counts twice as much as one of a single grade."),
    "quadratic": (
        "Kappa, quadratic weights",
        "A difference of two grades counts four times as much: close grades are near misses.",
    ),
}


class RaterPairForm(forms.Form):
    """Two raters, and the cell of their confusion matrix whose documents are listed."""

    first = forms.ModelChoiceField(queryset=User.objects.none())
    second = forms.ModelChoiceField(queryset=User.objects.none())
    grade_a = forms.FloatField(required=False)
    grade_b = forms.FloatField(required=False)

    def __init__(self, raters: QuerySet[User], data: FormData) -> None:
        super().__init__(data)
        for name in ("first", "second"):
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)
            field.queryset = raters

    def clean(self) -> None:
        if self.cleaned_data.get("first") == self.cleaned_data.get("second"):
            raise ValidationError("Choose two raters.")


@dataclass(frozen=True)
class Cell:
    """A cell of the confusion matrix. shade: 0 to 5, by its share of the largest one. address: query string that opens it."""

    a: float
    b: float
    documents: int
    shade: int
    is_chosen: bool
    address: str

    @property
    def is_same(self) -> bool:
        return self.a == self.b


@require_GET
def book_agreement_pair(request: HtmxRequest, book_id: int) -> HttpResponse:
    """Two raters: kappa with intervals, the confusion matrix, and the documents of the cell that was chosen."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.VIEWER)
    if not request.GET.keys() & {"first", "second"}:
        return redirect("book_agreement", book.pk)
    form = RaterPairForm(books.raters_of(book), request.GET)
    if not form.is_valid():
        raise Http404("No such raters.")
    a, b = form.cleaned_data["first"], form.cleaned_data["second"]
    cell = form.cleaned_data["grade_a"], form.cleaned_data["grade_b"]
    if Book.objects.hides_grades(book.pk, request.user):
        cell = None, None  # its documents show what others gave
    result = agreement.compare_two_raters(book=book, a=a, b=b)
    documents = result.documents.get(cell, ())
    page = Paginator(documents, CONFLICTS_PER_PAGE).get_page(request.GET.get("page"))
    keys = [{"query_id": query_id, "doc_id": doc_id} for query_id, doc_id in page]
    context = {
        "book": book,
        "a": a,
        "b": b,
        "result": result,
        "figures": [
            (KAPPA_MEANINGS[name][0], kappa, KAPPA_MEANINGS[name][1])
            for name, kappa in (result.pair.kappas if result.pair else {}).items()
        ],
        "matrix": _matrix(book, result, {"first": a.pk, "second": b.pk}, cell),
        "cell": cell if None not in cell else None,
        "page": page,
        "rows": build_conflict_rows(book, judging.read_conflicts(book, keys), request) if keys else [],
        "can_decide": book.is_editable,
    }
    return render(request, "agreement/pair.html", context)


@require_GET
def book_agreement_rater(request: HtmxRequest, book_id: int, rater_id: int) -> HttpResponse:
    """How far the scores of the cases that the user can see move if only this rater counts. Nothing is stored."""
    book: Book = get_or_403(Book.objects, request.user, book_id, needs=Role.VIEWER)
    rater = get_object_or_404(books.raters_of(book), pk=rater_id)
    cases = list(Case.objects.visible_to(request.user).live().filter(book=book).order_by("name", "pk"))
    queries = sum(case.case_queries.present().count() for case in cases)
    context: dict[str, object] = {"book": book, "rater": rater, "queries": queries, "max_queries": MAX_QUERIES}
    context["can_edit"] = book.is_editable
    if queries <= MAX_QUERIES:
        context["rows"] = [_score_row(score, str(rater)) for score in measure_rater_scores(cases, book, rater)]
        context["min_queries"] = MIN_QUERIES
    return render(request, "agreement/rater.html", context)


def _matrix(
    book: Book, result: agreement.TwoRaters, raters: dict[str, int], chosen: tuple[float | None, float | None]
) -> list[tuple[float, list[Cell], int]]:
    """Returns `[(grade by a, cells, documents)]`, with the highest grade first."""
    grades = book.grades[::-1]
    counts = {cell: len(documents) for cell, documents in result.documents.items()}
    largest = max(counts.values(), default=1)
    rows = []
    for a in grades:
        cells = []
        for b in grades:
            count = counts.get((a, b), 0)
            shade = -(-SHADES * count // largest)
            address = urlencode({**raters, "grade_a": a, "grade_b": b})
            cells.append(Cell(a, b, count, shade, (a, b) == chosen, address))
        rows.append((a, cells, sum(cell.documents for cell in cells)))
    return rows


def _score_row(score: RaterScore, name: str) -> dict[str, object]:
    """Returns a case by the ratings of one rater, with the queries whose score moves most."""
    moved = sorted(score.queries, key=lambda query: (-abs(query.weight * query.difference), query.query_id))[
        :MAX_LISTED
    ]
    texts = dict(Query.objects.filter(pk__in=[query.query_id for query in moved]).values_list("pk", "text"))
    interval, interval_text = score.find_interval(), ""
    if interval is not None:
        interval_text = f"{numbers.difference(interval.low)} to {numbers.difference(interval.high)}"
        interval_text += "" if interval.is_reliable else ", too few queries to rely on"
    return {
        "score": score,
        "interval": interval,
        "interval_text": interval_text,
        "sentences": [] if score.is_script else score_sentences(score, name),
        "queries": [(texts[query.query_id], query) for query in moved if abs(query.difference) >= 0.05],
    }
