"""Ratings of the Rated Ranking Evaluator as JSON: queries, and the documents that are relevant to them.

A query has its documents, as Quepid writes them, or a group of queries shares them, as in the tool's own files:
`topics[].query_groups[].queries[]`. Documents are `{"document": {"gain": 3}}` or `{"3": ["document", …]}`.
"""

import json
from collections.abc import Iterable, Iterator
from typing import IO

from relevancy.formats.errors import BadFile, quote
from relevancy.formats.json_stream import Fields, read_members, write_list
from relevancy.models import Case

from .graded_queries import graded_queries
from .ratings_file import RatingRow
from .trec import grade_number

MAX_BYTES = 50 * 1024 * 1024
TEXT = "$query"
LISTS = ("queries", "topics", "query_groups")


def read_ratings(file: IO[bytes]) -> Iterator[RatingRow]:
    """Yields the ratings of a file. Raises `BadFile` with the location and the value."""
    counts: dict[str, int] = {}
    for key, value in read_members(file, limit=MAX_BYTES, lists=LISTS):
        if key not in LISTS:
            continue
        if value is None or isinstance(value, str):
            raise BadFile(f"{key}: this must be a list, not {quote(value)}.")
        counts[key] = counts.get(key, 0) + 1
        element = Fields(value, f"{key}[{counts[key]}]")
        if key == "queries":
            yield from _group([element], element)
        elif key == "query_groups":
            yield from _group(element.objects("queries"), element)
        else:
            for group in element.objects("query_groups"):
                yield from _group(group.objects("queries"), group)
    if not counts:
        raise BadFile("This is not a file of the Rated Ranking Evaluator: it has neither queries nor topics.")


def _group(queries: Iterable[Fields], group: Fields) -> Iterator[RatingRow]:
    documents = list(_documents(group))
    for query in queries:
        placeholders = query.mapping("placeholders") or query.members
        text = placeholders.get(TEXT)
        if not isinstance(text, str):
            raise query.error(f"placeholders.{TEXT}", "the text of the query is missing")
        location = f"{group.location}.relevant_documents"
        for doc_id, rating in documents:
            yield RatingRow(text, doc_id, rating, location=location)
        if not documents:
            yield RatingRow(text, "", "", location=location)


def _documents(group: Fields) -> Iterator[tuple[str, str]]:
    """Yields the documents and their ratings, from either form."""
    for key, value in group.mapping("relevant_documents").items():
        if isinstance(value, list):
            for doc_id in value:
                if not isinstance(doc_id, str | int) or isinstance(doc_id, bool):
                    raise group.error(f"relevant_documents.{key}", f"{quote(doc_id)} is not a document id")
                yield str(doc_id), key
        elif isinstance(value, dict):
            gain = value.get("gain", value.get("rating"))
            if not isinstance(gain, str | int | float) or isinstance(gain, bool):
                raise group.error(f"relevant_documents.{key}", f"the gain is {quote(gain)}; it must be a number")
            yield key, str(gain)
        else:
            raise group.error(
                f"relevant_documents.{key}",
                f"this must be a list of document ids, or an object with a gain, not {quote(value)}",
            )


def export_ratings(*, case: Case) -> Iterator[str]:
    """Yields the grades of a case, each document with its gain. A query without grades has no documents."""
    rows = (
        {
            "placeholders": {TEXT: query.text},
            "relevant_documents": {doc_id: {"gain": grade_number(grade)} for doc_id, grade in grades.items()},
        }
        for query, grades in graded_queries(case)
    )
    yield '{\n  "id_field": "id",\n  "index": "relevancy",\n  "template": "template.json",\n  "queries": '
    yield from write_list(json.dumps(row, ensure_ascii=False) for row in rows)
    yield "\n}\n"
