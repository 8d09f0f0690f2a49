"""How far the raters of a book agree: all of them, one among the others, two with each other, on each query, and with themselves."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Exists, OuterRef, QuerySet

from relevancy.models import Book, Query, Rating, RatingSpread, RepeatedPair, User, Verdict

from .pace import measure_pace
from .statistics import (
    AgreeingRaters,
    Agreement,
    Coefficient,
    KappaWeights,
    PairAgreement,
    QueryGrades,
    RaterFigures,
    RaterTable,
    compare_raters,
    count_agreeing,
    estimate_kappas,
    measure_queries,
    measure_raters,
)
from .statistics import measure_agreement as measure_table

FIRST, SECOND = 0, 1  # judgments of a document by one rater
COLUMNS = ("id", "query_id", "query__link_id", "doc_id", "rater_id", "value", "is_adjudication")


@dataclass(frozen=True)
class RaterPair:
    """Two raters with documents that both rated. `figures.a` and `figures.b` are positions in the table of raters."""

    a: User
    b: User
    figures: PairAgreement

    @cached_property
    def kappas(self) -> Mapping[KappaWeights, Coefficient]:
        """Cohen's kappa with its 95 % interval."""
        return estimate_kappas(self.figures)


@dataclass(frozen=True)
class RaterRow:
    """A rater among the others. pace: the median seconds between two ratings; None if too few were given on pages."""

    rater: User
    figures: RaterFigures
    pace: float | None


@dataclass(frozen=True)
class BookAgreement:
    """The agreement of the raters of a book.

    raters: all users with a rating, by name. documents: rated documents of all queries, each counted once per query.
    agreement: over the documents that two or more raters rated.
    by_rater: each of them among the others, in the same order.
    agreeing: "k of n agree" on the documents of `agreement`.
    pairs: raters with documents in common.
    """

    raters: list[User]
    by_rater: list[RaterRow]
    documents: int
    agreement: Agreement
    agreeing: list[AgreeingRaters]
    pairs: list[RaterPair]


@dataclass(frozen=True)
class QueryRow:
    """A query with the grades that raters gave for its documents."""

    query: Query
    figures: QueryGrades


@dataclass(frozen=True)
class TwoRaters:
    """Two raters on the documents that both rated.

    pair: None without such a document.
    documents: `{(grade by a, grade by b): [(query id, document id)]}`, in this order.
    """

    pair: RaterPair | None
    documents: Mapping[tuple[float, float], Sequence[tuple[int, str]]]


@dataclass(frozen=True)
class SelfAgreement:
    """How far a rater agrees with themselves. agreement: of the first and the second rating, with an interval over queries."""

    rater: User
    repeats: int
    agreement: Agreement


type _Grade = tuple[int, int, str, int, float]
"""The id of the query; its unit, which is the query, or those that it is linked with; document; rater's id; grade."""


# 100,000 ratings take less than two seconds, most of them with one core for the intervals.
MAX_RATINGS = 200_000  # that are read while a person waits
MAX_SHARED = 5_000  # that the overview of a book reads


def measure_agreement(*, book: Book) -> BookAgreement:
    """Computes the agreement of a book's raters from all grades. Three SQL statements.

    "Cannot judge", "later" and the decisions of adjudicators, who have seen the ratings of others, are left out. Intervals draw
    queries, those that are linked together.
    """
    grades = _read_grades(book)
    documents = {(query_id, doc_id) for query_id, _, doc_id, _, _ in grades}
    table = _build_table(book, grades)
    users = User.objects.in_bulk({rater_id for _, _, _, rater_id, _ in grades})
    raters = [users[pk] for pk in sorted(users)]  # the table numbers them by their ids
    paces = measure_pace(book)
    rows = [
        RaterRow(rater, figures, paces.get(rater.pk))
        for rater, figures in zip(raters, measure_raters(table), strict=True)
    ]
    rows.sort(key=lambda row: (str(row.rater), row.rater.pk))
    return BookAgreement(
        raters=[row.rater for row in rows],
        by_rater=rows,
        documents=len(documents),
        agreement=measure_table(table),
        agreeing=count_agreeing(table),
        pairs=[RaterPair(raters[pair.a], raters[pair.b], pair) for pair in compare_raters(table)],
    )


def measure_query_agreement(*, book: Book) -> list[QueryRow]:
    """Returns the queries with a grade: those on whose documents the fewest ratings agree first, those without two ratings of a
    document last. Two SQL statements."""
    grades = _read_grades(book)
    query_ids = sorted({query_id for query_id, *_ in grades})
    queries = {query.pk: query for query in Query.objects.filter(book=book)}
    rows = [
        QueryRow(queries[pk], figures)
        for pk, figures in zip(query_ids, measure_queries(_build_table(book, grades, by_unit=False)), strict=True)
    ]

    def rank(row: QueryRow) -> tuple[bool, float, int, int]:
        share = row.figures.agreement
        return share is None, share or 0.0, -row.figures.items, row.query.pk

    return sorted(rows, key=rank)


def compare_two_raters(*, book: Book, a: User, b: User) -> TwoRaters:
    """Compares two raters of a book. Two SQL statements."""
    given = [Rating.objects.filter(query__book=book, rater=rater) for rater in (a, b)]
    grades = [grade for chosen in given for grade in _read_grades(book, chosen)]
    by_document: dict[tuple[int, str], dict[int, tuple[int, float]]] = defaultdict(dict)
    for query_id, unit, doc_id, rater_id, value in grades:
        by_document[query_id, doc_id][rater_id] = unit, value
    shared = {key: pair for key, pair in sorted(by_document.items()) if len(pair) == 2}
    if not shared:
        return TwoRaters(None, {})
    documents: dict[tuple[float, float], list[tuple[int, str]]] = defaultdict(list)
    for key, own in shared.items():
        documents[own[a.pk][1], own[b.pk][1]].append(key)
    positions = {a.pk: 0, b.pk: 1}
    cells = [
        (unit, item, positions[rater_id], value)
        for item, own in enumerate(shared.values())
        for rater_id, (unit, value) in own.items()
    ]
    (figures,) = compare_raters(RaterTable.build(cells, book.grades))
    return TwoRaters(RaterPair(a, b, figures), documents)


def measure_self_agreement(book: Book) -> list[SelfAgreement]:
    """Returns how far each rater with repeats agrees with themselves, those with most repeats first. Two SQL statements."""
    rows = RepeatedPair.objects.filter(query__book=book, verdict=Verdict.RATED).order_by("pk")
    cells: dict[int, list[tuple[int, int, int, float]]] = defaultdict(list)
    for pk, rater_id, query_id, first, second in rows.values_list("pk", "rater_id", "query_id", "first_value", "value"):
        if first is not None and second is not None:  # the database refuses others
            cells[rater_id] += [(query_id, pk, FIRST, first), (query_id, pk, SECOND, second)]
    users = User.objects.in_bulk(cells)
    agreements = [
        SelfAgreement(users[pk], len(rows) // 2, measure_table(RaterTable.build(rows, book.grades)))
        for pk, rows in cells.items()
    ]
    return sorted(agreements, key=lambda agreement: (-agreement.repeats, str(agreement.rater), agreement.rater.pk))


def measure_alpha(book: Book) -> Coefficient | None:
    """Returns Krippendorff's ordinal alpha as `measure_agreement` does. Reads only what it needs, the ratings of documents that two
    raters rated; None for more than `MAX_SHARED` of them. One SQL statement."""
    own = Rating.objects.filter(verdict=Verdict.RATED, is_adjudication=False)
    several = RatingSpread.objects.filter(query=OuterRef("query"), doc_id=OuterRef("doc_id"), count__gte=2)
    shared = own.filter(Exists(several), query__book=book).order_by()
    grades = _read_grades(book, shared[: MAX_SHARED + 1])
    return measure_table(_build_table(book, grades)).alpha["ordinal"] if len(grades) <= MAX_SHARED else None


def _read_grades(book: Book, chosen: QuerySet[Rating] | None = None) -> list[_Grade]:
    """Reads the grades of a book that count as a rater's own opinion, in a fixed order, or only chosen ones. One SQL statement."""
    ratings = Rating.objects.filter(query__book=book) if chosen is None else chosen
    rows = sorted(ratings.values_list(*COLUMNS), key=lambda row: (row[0], row[1], row[3], row[4]))
    return [
        (query_id, query_id if link_id is None else -link_id, doc_id, rater_id, value)
        for _, query_id, link_id, doc_id, rater_id, value, is_adjudication in rows
        if value is not None and not is_adjudication
    ]


def _build_table(book: Book, grades: Iterable[_Grade], *, by_unit: bool = True) -> RaterTable:
    items: dict[tuple[int, str], int] = {}
    cells = [
        (unit if by_unit else query_id, items.setdefault((query_id, doc_id), len(items)), rater_id, value)
        for query_id, unit, doc_id, rater_id, value in grades
    ]
    return RaterTable.build(cells, book.grades)
