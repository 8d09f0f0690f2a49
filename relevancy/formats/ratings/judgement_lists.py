"""Judgement lists of other tools as JSON, in the form that their documentation describes.

SearchTweak, `GET /api/v1/evaluations/{id}/judgements`: `[{"grade": 3, "keyword": text, "position": 1, "doc": id}]`.
Rankquest, rated searches: `[{"id": …, "searchContext": {"query": text}, "ratings": [{"documentId": id, "rating": 3}]}]`.
"""

import json
from collections.abc import Iterator
from typing import IO

from relevancy.formats.json_stream import Fields, read_elements, write_list
from relevancy.models import Case

from .graded_queries import graded_queries
from .ratings_file import RatingRow

MAX_BYTES = 50 * 1024 * 1024
QUERY_KEYS = ("query", "q", "text")  # of the search context, in which a text may have any name


def read_searchtweak(file: IO[bytes]) -> Iterator[RatingRow]:
    """Yields the grades of a finished evaluation of SearchTweak, which are means over its raters. Raises `BadFile`."""
    for location, value in read_elements(file, limit=MAX_BYTES):
        row = Fields(value, location)
        yield RatingRow(row.text("keyword"), row.text("doc"), row.text("grade"), location=location)


def read_rankquest(file: IO[bytes]) -> Iterator[RatingRow]:
    """Yields the ratings of rated searches. The query is the `query` of the context, or its only value. Raises `BadFile`."""
    for location, value in read_elements(file, limit=MAX_BYTES):
        search = Fields(value, location)
        text = _query(search)
        yield RatingRow(text, "", "", location=location)
        for rating in search.objects("ratings"):
            grade = rating.text("rating") if "rating" in rating.members else "0"  # null is not rated
            yield RatingRow(text, rating.text("documentId"), grade, location=rating.location)


def _query(search: Fields) -> str:
    context = Fields(search.mapping("searchContext"), f"{search.location}.searchContext")
    query_key = next((key for key in QUERY_KEYS if key in context.members), None)
    if query_key is None and len(context.members) == 1:
        (query_key,) = context.members
    if query_key is None:
        raise search.error("searchContext", f"there is no text of a query; name it {QUERY_KEYS[0]!r}")
    return context.text(query_key)


def export_rankquest(*, case: Case) -> Iterator[str]:
    """Yields the grades of a case as rated searches, one on each line. Ratings are whole numbers there: fractions are rounded."""
    rows = (
        {
            "id": str(query.pk),
            "searchContext": {"query": query.text},
            "ratings": [{"documentId": doc_id, "rating": round(grade)} for doc_id, grade in grades.items()],
            "comment": query.information_need or None,
            "tags": query.tags,
        }
        for query, grades in graded_queries(case)
    )
    yield from write_list((json.dumps(row, ensure_ascii=False) for row in rows), indent="  ")
    yield "\n"
