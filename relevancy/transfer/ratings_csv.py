"""Ratings as CSV: `query,docid,rating`."""

import math
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from relevancy import cases, evaluation, judging
from relevancy.models import Case

from .cells import read_rows, write_rows
from .errors import BadFile

HEADER = (("query",), ("docid", "doc_id"), ("rating",))


@dataclass(frozen=True)
class Imported:
    """What an import did: queries new to the case, ratings that are new or changed, ratings in the file."""

    queries: int
    changed: int
    ratings: int


def read(text: str) -> dict[str, dict[str, float]]:
    """`{query: {document id: rating}}` of a CSV text; a line without document and rating only names a query.

    BOM and CRLF are fine, `3.0` is 3. Raises `BadFile` with line, column and value.
    """
    found: dict[str, dict[str, float]] = {}
    for line, (query, doc_id, rating) in read_rows(text, HEADER):
        try:
            documents = found.setdefault(cases.queries.check_text(query), {})
        except cases.Refused as reason:
            raise BadFile(f"column query: {reason}", line=line) from None
        doc_id, rating = doc_id.strip(), rating.strip()
        if not doc_id and not rating:
            continue
        if not doc_id or not rating:
            missing = "docid" if not doc_id else "rating"
            raise BadFile(f"column {missing} is empty beside {(doc_id or rating)[:60]!r}.", line=line)
        try:
            doc_id = judging.check_document(doc_id)
        except judging.CannotRate as reason:
            raise BadFile(f"column docid: {reason}", line=line) from None
        value = _number(rating, line)
        if documents.setdefault(doc_id, value) != value:
            raise BadFile(
                f"column rating: document {doc_id[:60]!r} of query {query[:60]!r} is rated {value:g} here and "
                f"{documents[doc_id]:g} further up.",
                line=line,
            )
    return found


def _number(text: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadFile(f"column rating: {text!r} is no number.", line=line)
    return value


def import_ratings(*, case: Case, text: str, by: Any, rater: Any = None, source: str = "import") -> Imported:
    """Take a CSV over into the case's book: queries that are missing are made, ratings become those of `rater` (default: `by`).

    All or nothing: raises `BadFile` with the line for anything that is wrong, a rating off the scale included.
    """
    found = read(text)
    _check_scale(case, text)
    with transaction.atomic():
        added = cases.queries.add(case=case, texts=found)
        queries = cases.queries.ensure(book=case.book, texts=list(found))
        values = {query.pk: found[query.text] for query in queries if found[query.text]}
        try:
            changed = judging.rate_book(book=case.book, values=values, rater=rater or by, by=by, source=source)
        except judging.CannotRate as error:
            raise BadFile(str(error)) from None
    return Imported(len(added.new), changed, sum(len(documents) for documents in found.values()))


def _check_scale(case: Case, text: str) -> None:
    scale = evaluation.scale_of(case.book)
    for line, (_, doc_id, rating) in read_rows(text, HEADER):
        if rating.strip() and not scale.contains(float(rating)):
            raise BadFile(
                f"column rating: {rating.strip()} of document {doc_id!r} is not on the book's scale, "
                f"{case.book.lowest:g} to {case.book.top:g}.",
                line=line,
            )


def export_ratings(*, case: Case) -> str:
    """The case's grades, a line each, in the order of its queries; a query without any is a line of its own."""
    queries = [entry.query for entry in case.case_queries.present().select_related("query")]
    known = evaluation.known_grades(case.book, [query.pk for query in queries])
    rows: list[tuple[str, str, str]] = []
    for query in queries:
        grades = known[query.pk]
        rows.extend((query.text, doc_id, f"{grades[doc_id]:.12g}") for doc_id in sorted(grades))
        if not grades:
            rows.append((query.text, "", ""))
    return write_rows(("query", "docid", "rating"), rows)
