"""What is known about queries besides their text, for many queries at once."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Any

from django.core.exceptions import ValidationError

from relevancy.models import Book, Case, CaseQuery, Query
from relevancy.models.errors import error_text

from .tags import check_count, parse
from .text import parse_options, text_key

BATCH_SIZE = 500
MAX_WEIGHT = 1e6
_OF_QUERY = ("information_need", "notes", "tags")


@dataclass(frozen=True)
class QueryDetails:
    """Information need, notes and tags belong to the query, options and weight to its place in a case."""

    information_need: str = ""
    notes: str = ""
    tags: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    weight: float = 1


def set_details(*, case: Case, details: Mapping[str, QueryDetails]) -> None:
    """Sets the details of a new case's queries, by text. Raises `ValidationError` naming the query; then nothing is changed.

    A few SQL statements per 500 queries. Scores are not told: call it before the first run.
    """
    case_queries = list(case.case_queries.present().select_related("query"))
    changed = [case_query for case_query in case_queries if case_query.query.text in details]
    for case_query in changed:
        _set(case_query, details[case_query.query.text])
    for batch in batched(changed, BATCH_SIZE):
        Query.objects.bulk_update([case_query.query for case_query in batch], _OF_QUERY)
        CaseQuery.objects.bulk_update(batch, ["options", "weight"])


def describe_all(*, book: Book, details: Mapping[str, QueryDetails]) -> None:
    """Sets information needs, notes and tags of a book's queries, by text. Raises `ValidationError` naming the query."""
    for texts in batched(details, BATCH_SIZE):
        rows = list(book.queries.filter(text_key__in=[text_key(text) for text in texts]))
        for query in rows:
            try:
                _describe(query, details[query.text])
            except ValidationError as error:
                raise _of_query(query, error) from None
        Query.objects.bulk_update(rows, _OF_QUERY)


def _describe(query: Query, details: QueryDetails) -> None:
    query.information_need, query.notes = details.information_need, details.notes
    query.tags = check_count(parse(details.tags, []), query.text)
    query.clean_fields(exclude={field.name for field in Query._meta.fields} - set(_OF_QUERY))


def _of_query(query: Query, error: ValidationError) -> ValidationError:
    return ValidationError(f"The query “{query.text[:60]}”: {error_text(error)}")


def _set(case_query: CaseQuery, details: QueryDetails) -> None:
    query = case_query.query
    try:
        _describe(query, details)
        case_query.options = parse_options(json.dumps(details.options))
        if not 0 <= details.weight < MAX_WEIGHT:
            raise ValidationError(f"{details.weight:g} is not a valid weight. Enter a number from 0 up.")
    except ValidationError as error:
        raise _of_query(query, error) from None
    case_query.weight = details.weight
