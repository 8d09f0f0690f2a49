"""How far the raters of a book agree."""

from __future__ import annotations

from dataclasses import dataclass

from relevancy.models import Book, User, current_ratings
from relevancy.statistics import Agreement, PairAgreement, RaterTable, compare_raters
from relevancy.statistics import measure_agreement as measure_table


@dataclass(frozen=True)
class RaterPair:
    """Two raters, and the documents that both rated. `figures.a` and `figures.b` are positions in the table of raters."""

    a: User
    b: User
    figures: PairAgreement


@dataclass(frozen=True)
class BookAgreement:
    """The agreement of the raters of a book.

    raters: all users with a rating, by name. documents: rated documents of all queries, each counted once per query.
    agreement: over the documents that two or more raters rated.
    pairs: raters with documents in common.
    """

    raters: list[User]
    documents: int
    agreement: Agreement
    pairs: list[RaterPair]


def measure_agreement(*, book: Book) -> BookAgreement:
    """Computes the agreement of a book's raters from all grades. Two SQL statements.

    "Cannot judge", "later" and the decisions of adjudicators, who have seen the ratings of others, are left out.
    """
    columns = ("id", "query_id", "doc_id", "rater_id", "value", "is_adjudication")
    ratings = sorted(current_ratings(columns, query__book=book), key=lambda row: row[:4])
    rows = [
        (query_id, doc_id, rater_id, value)
        for _, query_id, doc_id, rater_id, value, is_adjudication in ratings
        if value is not None and not is_adjudication
    ]
    items: dict[tuple[int, str], int] = {}
    cells = [
        (query_id, items.setdefault((query_id, doc_id), len(items)), rater_id, value)
        for query_id, doc_id, rater_id, value in rows
    ]
    table = RaterTable.build(cells, book.grades)
    users = User.objects.in_bulk({rater_id for _, _, rater_id, _ in rows})
    raters = [users[pk] for pk in sorted(users)]  # the table numbers them by their ids
    return BookAgreement(
        raters=sorted(raters, key=lambda user: (str(user), user.pk)),
        documents=len(items),
        agreement=measure_table(table),
        pairs=[RaterPair(raters[pair.a], raters[pair.b], pair) for pair in compare_raters(table)],
    )
