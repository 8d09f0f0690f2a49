"""What pages say about books: what is left to judge, who rated what, which grades were given."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, IntegerField, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from relevancy.judging.judging import COUNTED, JUDGED
from relevancy.models import (
    Book,
    Case,
    CaseQuery,
    JudgingPair,
    JudgingQueue,
    Query,
    Rating,
    RatingSpread,
    Run,
    Team,
    User,
    Verdict,
)
from relevancy.models.subquery_count import SubqueryCount

_VERDICT_COUNTS = {verdict.value: Count("pk", filter=Q(verdict=verdict)) for verdict in Verdict}


@dataclass(frozen=True)
class GradeCount:
    """How often a grade was given. share: in per cent of all grades."""

    value: float
    label: str
    count: int
    share: float


@dataclass(frozen=True)
class BookJudgments:
    """What raters have said in a book.

    raters: those with most ratings first: `rater`; `rated`, `cannot` and `later`, how often each was said; and `last`, the time of the
    newest rating. grades: how often each grade of the scale was given, by all raters. documents: how many have a grade, each counted
    once per query; those of retired queries are left out.
    """

    raters: list[dict[str, Any]]
    grades: list[GradeCount]
    documents: int


def find_books(user: User) -> QuerySet[Any]:
    """Returns the books that a user can see, by name, each with the user's `role`, `case_count`, `query_count`, `left` and `is_chosen`.

    case_count: cases that the user can see and that are not archived. left: documents that the user can judge, at most `COUNTED`.
    is_chosen: whether the documents to judge have been chosen.
    """
    cases = Case.objects.visible_to(user).live().filter(book=OuterRef("pk")).order_by().values("pk")
    queries = Query.objects.live().filter(book=OuterRef("pk")).order_by().values("pk")
    books: QuerySet[Any] = Book.objects.visible_to(user).select_related("owner")
    chosen = JudgingQueue.objects.filter(book=OuterRef("pk"), built_at__isnull=False)
    with_counts: QuerySet[Any] = books.annotate(
        case_count=SubqueryCount(cases),
        query_count=SubqueryCount(queries),
        left=_left(user),
        is_chosen=Exists(chosen),
    )
    return with_counts.order_by("name", "pk")


def books_to_judge(user: User, *, count: int = 5) -> Sequence[Any]:
    """Returns books with documents that the user can judge, each with `left`, at most `COUNTED`, and `pairs`, the number of documents
    in the judging queue. One SQL statement."""
    books = Book.objects.rateable_by(user).filter(judging_queue__pair_count__gt=0)
    counted = books.annotate(left=_left(user), pairs=F("judging_queue__pair_count"))
    return list(counted.filter(left__gt=0).order_by("name", "pk")[:count])


def books_without_queue(user: User, *, count: int) -> Sequence[Book]:
    """Returns books of the user's teams with a complete run whose documents to judge have never been chosen. One SQL statement."""
    complete = Run.objects.filter(case__book=OuterRef("pk"), case__archived_at=None, status=Run.Status.COMPLETE)
    shared = Book.objects.rateable_by(user).filter(Exists(Team.objects.filter(books=OuterRef("pk"), members=user)))
    return list(shared.filter(Exists(complete), judging_queue__built_at=None).order_by("name", "pk")[:count])


def raters_of(book: Book) -> QuerySet[User]:
    """Returns the users with a rating in a book, by name."""
    stored = Rating.objects.filter(rater=OuterRef("pk"), query__book=book)
    return User.objects.filter(Exists(stored)).order_by("name", "email", "pk")


def count_judgments(book: Book) -> BookJudgments:
    """Counts what raters have said in a book. Three SQL statements, one of which reads all ratings."""
    raters, grades, given = _count_given(book)
    several = RatingSpread.objects.filter(query__book=book, query__retired_at=None)
    more: int = several.aggregate(more=Sum(F("count") + F("decisions") - 1))["more"] or 0
    return BookJudgments(raters, grades, given - more)


def _count_given(book: Book) -> tuple[list[dict[str, Any]], list[GradeCount], int]:
    """Returns the raters and the grades of `BookJudgments`, and how many grades queries have that are not retired."""
    given: QuerySet[Any] = (
        Rating.objects.filter(query__book=book).order_by().annotate(is_live=Q(query__retired_at=None))
    )
    raters: dict[int, dict[str, Any]] = {}
    grades: Counter[float | None] = Counter()
    total_live = 0
    rows_of_grades = given.values_list("rater_id", "verdict", "value", "is_live").annotate(
        Count("pk"), Max("updated_at")
    )
    for rater_id, verdict, value, is_live, count, last in rows_of_grades:
        row = raters.setdefault(rater_id, {"rater_id": rater_id, "last": last, **dict.fromkeys(Verdict.values, 0)})
        row[verdict] += count
        row["last"] = max(row["last"], last)
        grades[value] += count
        total_live += count if is_live and value is not None else 0
    users = User.objects.in_bulk(raters)
    rows = [{**row, "rater": users[rater_id]} for rater_id, row in raters.items()]
    rows.sort(key=lambda row: (-row["rated"], -row["cannot"], str(row["rater"]), row["rater_id"]))
    total = grades.total() - grades[None]
    counts = [
        GradeCount(value, label, grades[value], 100 * grades[value] / total if total else 0.0)
        for value, label in book.scale
    ]
    return rows, counts, total_live


def count_by_rater(book: Book) -> list[dict[str, Any]]:
    """Returns the raters of a book; see `BookJudgments`."""
    return _count_given(book)[0]


def count_ratings_of(*, book: Book, rater: User) -> dict[str, int]:
    """Counts the ratings of a rater in a book, those of retired queries included: `total`; `rated`, `cannot` and `later` by verdict;
    `decided`, how many are decisions of the rater as an adjudicator; and the different `documents` and `queries`. One SQL statement."""
    return Rating.objects.filter(rater=rater, query__book=book).aggregate(
        total=Count("pk"),
        decided=Count("pk", filter=Q(is_adjudication=True)),
        documents=Count("doc_id", distinct=True),
        queries=Count("query", distinct=True),
        **_VERDICT_COUNTS,
    )


def count_by_grade(book: Book) -> list[GradeCount]:
    """Returns how often each grade of a book was given; see `BookJudgments`."""
    return _count_given(book)[1]


def count_pairs_by_level(book: Book) -> list[tuple[int | None, int]]:
    """Returns `[(number of raters, number of pairs)]` of the judging queue, ascending; None for pairs with enough grades. One SQL
    statement."""
    pairs = JudgingPair.objects.filter(queue__book=book).order_by()
    counts: dict[int | None, int] = dict(pairs.values_list("level").annotate(Count("pk")))
    return sorted(counts.items(), key=lambda item: (item[0] is None, item[0] or 0))


def queries_with_coverage(book: Book) -> QuerySet[Any]:
    """Returns the queries of a book that are not retired, with their coverage; see `add_coverage`."""
    return add_coverage(Query.objects.live().filter(book=book)).order_by("pk")


def add_coverage(queries: QuerySet[Any]) -> QuerySet[Any]:
    """Annotates queries with `rated`, the number of documents with a grade, `pairs`, the number of documents in the judging queue,
    `open`, those of them that need more ratings, and `judged`, the others."""
    rated = Rating.objects.filter(query=OuterRef("pk"), verdict=Verdict.RATED).order_by()
    pairs = JudgingPair.objects.filter(query=OuterRef("pk")).order_by()
    documents = rated.values("query").annotate(count=Count("doc_id", distinct=True)).values("count")
    counted = queries.annotate(
        rated=Coalesce(Subquery(documents, output_field=IntegerField()), 0),
        pairs=SubqueryCount(pairs.values("pk")),
        open=SubqueryCount(pairs.open().values("pk")),
    )
    covered: QuerySet[Any] = counted.annotate(judged=F("pairs") - F("open"))
    return covered


def cases_of_queries(query_ids: Iterable[int], user: User) -> dict[int, list[CaseQuery]]:
    """Returns where queries of a book are found: `{query id: [query of a case]}`, of the cases that a user can see. One SQL
    statement."""
    found: dict[int, list[CaseQuery]] = {}
    rows = CaseQuery.objects.present().filter(
        query__in=list(query_ids), case__in=Case.objects.visible_to(user).live().order_by().values("pk")
    )
    for row in rows.select_related("case").order_by("case__name", "case_id"):
        found.setdefault(row.query_id, []).append(row)
    return found


def _left(user: User) -> SubqueryCount:
    pairs = JudgingPair.objects.filter(queue=OuterRef("judging_queue")).open().without_judgment_by(user, JUDGED)
    return SubqueryCount(pairs.order_by().values("pk")[:COUNTED])
