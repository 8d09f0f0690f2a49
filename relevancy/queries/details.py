"""What is known about queries besides their text, for many queries at once."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Any

from django.core.exceptions import ValidationError

from relevancy.models import Case, CaseQuery, Query
from relevancy.models.errors import error_text

from .tags import check_count, parse
from .text import parse_options

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


def _set(case_query: CaseQuery, details: QueryDetails) -> None:
    query = case_query.query
    try:
        query.information_need, query.notes = details.information_need, details.notes
        query.tags = check_count(parse(details.tags, []), query.text)
        case_query.options = parse_options(json.dumps(details.options))
        if not 0 <= details.weight < MAX_WEIGHT:
            raise ValidationError(f"{details.weight:g} is not a valid weight. Enter a number from 0 up.")
        query.clean_fields(exclude={field.name for field in Query._meta.fields} - set(_OF_QUERY))
    except ValidationError as error:
        raise ValidationError(f"The query “{query.text[:60]}”: {error_text(error)}") from None
    case_query.weight = details.weight
