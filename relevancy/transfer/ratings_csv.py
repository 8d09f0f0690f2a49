"""Ratings as CSV: `query,docid,rating`."""

import math
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction

from relevancy import judgments, queries, scores
from relevancy.models import Case, User
from relevancy.models.errors import error_text
from relevancy.scoring import Scale

from .cells import format_rows, read_rows
from .errors import BadFile, quote

COLUMNS = (("query",), ("docid", "doc_id"), ("rating",))


@dataclass(frozen=True)
class ImportedRatings:
    """The result of an import.

    Attributes:
        queries: number of queries that are new to the case.
        changed: number of ratings that are new or have another value.
        ratings: number of ratings in the file.
    """

    queries: int
    changed: int
    ratings: int


def parse_ratings(text: str, scale: Scale | None = None) -> dict[str, dict[str, float]]:
    """Returns `{query: {document id: rating}}`. Raises `BadFile` with line, column and value.

    A row with an empty rating only names its query: the document is unrated. A byte order mark and CRLF are accepted.
    With a `scale`, ratings must be on it.
    """
    ratings: dict[str, dict[str, float]] = {}
    for line, (query, doc_id, rating) in read_rows(text, COLUMNS):
        documents = ratings.setdefault(_parse_query(query, line), {})
        if not rating.strip():
            continue
        if not doc_id.strip():
            raise BadFile(f"column docid is empty, but the rating is {quote(rating.strip())}.", line=line)
        try:
            doc_id = judgments.clean_doc_id(doc_id)
        except (ValidationError, judgments.InvalidRating) as error:
            raise BadFile(f"column docid: {error_text(error)}", line=line) from None
        value = _parse_rating(rating.strip(), line)
        if scale is not None and not scale.contains(value):
            grades = f"{scale.grades[0]:g} to {scale.grades[-1]:g}"
            raise BadFile(
                f"column rating: {rating.strip()} of document {quote(doc_id)} is not on the book's scale, {grades}.",
                line=line,
            )
        if documents.setdefault(doc_id, value) != value:
            raise BadFile(
                f"column rating: document {quote(doc_id)} of query {quote(query)} is rated {value:g} here and "
                f"{documents[doc_id]:g} in an earlier line.",
                line=line,
            )
    return ratings


def _parse_query(text: str, line: int) -> str:
    try:
        return queries.check_text(text)
    except ValidationError as error:
        raise BadFile(f"column query: {error_text(error)}", line=line) from None


def _parse_rating(text: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadFile(f"column rating: {quote(text)} is not a number.", line=line)
    return value


def import_ratings(
    *, case: Case, text: str, by: User, rater: User | None = None, source: str = "import"
) -> ImportedRatings:
    """Imports ratings into the case's book as those of `rater` (default: `by`), and adds missing queries to the case.

    Raises `BadFile` if anything is wrong, including a rating that is not on the scale; then nothing is stored.
    """
    ratings = parse_ratings(text, scores.scale_of(case.book))
    with transaction.atomic():
        # The order of locks: the case, then the queries, whose ratings change, then the revision of the case.
        Case.objects.select_for_update(no_key=True).get(pk=case.pk)
        book_queries = queries.ensure(book=case.book, texts=list(ratings))
        values = {query.pk: ratings[query.text] for query in book_queries if ratings[query.text]}
        try:
            changed = judgments.rate_book(book=case.book, values=values, rater=rater or by, by=by, source=source)
        except (ValidationError, judgments.InvalidRating) as error:
            raise BadFile(error_text(error)) from None
        added = queries.add(case=case, texts=ratings)
    return ImportedRatings(len(added.added), changed, sum(map(len, ratings.values())))


def export_ratings(*, case: Case) -> str:
    """Returns the case's grades, one per row, in the order of its queries. A query without grades has a row of its own."""
    case_queries = [entry.query for entry in case.case_queries.present().select_related("query")]
    grades_by_query = scores.known_grades(case.book, [query.pk for query in case_queries])
    rows: list[tuple[str, str, str]] = []
    for query in case_queries:
        grades = grades_by_query[query.pk]
        rows.extend((query.text, doc_id, f"{grades[doc_id]:.12g}") for doc_id in sorted(grades))
        if not grades:
            rows.append((query.text, "", ""))
    return format_rows(("query", "docid", "rating"), rows)
