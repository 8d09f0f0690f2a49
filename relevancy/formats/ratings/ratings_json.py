"""Ratings as JSON, as Quepid exports them by default: `{"queries": [{"query": text, "ratings": {document: rating}}]}`."""

import json
from collections.abc import Iterator
from typing import IO

from relevancy.formats.errors import BadFile, quote
from relevancy.formats.json_stream import Fields, read_members, write_list
from relevancy.models import Case

from .graded_queries import graded_queries
from .ratings_file import RatingRow
from .trec import grade_number

MAX_BYTES = 50 * 1024 * 1024


def read_ratings(file: IO[bytes]) -> Iterator[RatingRow]:
    """Yields the ratings of a file. Raises `BadFile` with the location and the value."""
    number = 0
    for key, value in read_members(file, limit=MAX_BYTES, lists=("queries",)):
        if key != "queries":
            continue
        if not isinstance(value, dict):
            raise BadFile(f"queries: this must be a list of objects, not {quote(value)}.")
        number += 1
        query = Fields(value, f"queries[{number}]")
        text = query.text("query")
        yield RatingRow(text, "", "", location=query.location)
        ratings = Fields(query.mapping("ratings"), f"{query.location}.ratings")
        for doc_id in ratings.members:
            yield RatingRow(text, doc_id, ratings.text(doc_id), location=ratings.location)
    if not number:
        raise BadFile("The file contains no query.")


def export_ratings(*, case: Case) -> Iterator[str]:
    """Yields the grades of a case, a query on each line."""
    rows = (
        {"query": query.text, "ratings": {doc_id: grade_number(grade) for doc_id, grade in grades.items()}}
        for query, grades in graded_queries(case)
    )
    yield '{"queries": '
    yield from write_list((json.dumps(row, ensure_ascii=False) for row in rows), indent="  ")
    yield "}\n"
