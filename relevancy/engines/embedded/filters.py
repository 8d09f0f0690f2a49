"""Keys of an embedded engine's request that affect hits without scoring them: `filter` and `sort`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import tantivy

from relevancy.engines.errors import BadQuery

from .index import ANALYZER, NUMBERS, Description, keyword_text
from .validation import check_choice, check_field, check_number, reject

_Q = tantivy.Query
_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should
_RANGE_OPERATORS = ("gt", "gte", "lt", "lte")
_MAX_BOUND = 9e15


def filter_queries(filters: Any, index: Description) -> list[tantivy.Query]:
    """Returns one query for each field in `filter`: a value, a list of alternatives, or a range of numbers.

    A keyword must equal the whole value; a text field must contain the words of the value in their order.
    """
    if filters is not None and not isinstance(filters, Mapping):
        reject("filter", filters, 'an object such as {"genres": "Comedy", "year": {"gte": 1980}}')
    return [_filter_query(check_field(index, name, "filter"), value, index) for name, value in (filters or {}).items()]


def with_filters(query: tantivy.Query, filters: list[tantivy.Query]) -> tantivy.Query:
    """Returns the query restricted by filters, which add nothing to the score."""
    if not filters:
        return query
    return _Q.boolean_query([(_MUST, query), *((_MUST, _Q.const_score_query(item, 0.0)) for item in filters)])


def sort_keys(sort: Any, index: Description) -> tuple[tuple[str, bool], ...]:
    """Returns (number field or `_score`, is descending) in order of priority."""
    keys = []
    for entry in sort if isinstance(sort, list) else [sort]:
        if isinstance(entry, str):
            entry = {entry: "desc" if entry == "_score" else "asc"}
        if not isinstance(entry, Mapping) or len(entry) != 1:
            reject("sort", entry, 'a list of entries such as {"year": "desc"}')
        name, order = next(iter(entry.items()))
        if name != "_score" and index.fields[check_field(index, name, "sort")] not in NUMBERS:
            raise BadQuery(
                f"“sort” names “{name}”, which is a {index.fields[name]} field.", hint="Use a number field or _score."
            )
        keys.append((name, check_choice(order, ("asc", "desc"), "order of “sort”") == "desc"))
    return tuple(keys)


def _filter_query(name: str, value: Any, index: Description) -> tantivy.Query:
    if isinstance(value, list):
        alternatives = [(_SHOULD, _filter_query(name, item, index)) for item in value]
        return _Q.boolean_query(alternatives) if alternatives else _Q.empty_query()
    field_type, schema, column = index.fields[name], index.schema, index.columns[name]
    if field_type in NUMBERS:
        return _range_query(name, value if isinstance(value, Mapping) else {"gte": value, "lte": value}, index)
    if isinstance(value, Mapping):
        raise BadQuery(
            f"“filter” has a range for “{name}”, which is a {field_type} field.", hint="Ranges need number fields."
        )
    if field_type == "keyword":
        return _Q.term_query(schema, column, keyword_text(value))
    words: list[Any] = ANALYZER.analyze(keyword_text(value))
    if len(words) > 1:
        return _Q.phrase_query(schema, column, words)
    return _Q.term_query(schema, column, words[0]) if words else _Q.empty_query()


def _range_query(name: str, limits: Mapping[str, Any], index: Description) -> tantivy.Query:
    bounds: dict[str, float] = {}
    for operator, limit in limits.items():
        check_choice(operator, _RANGE_OPERATORS, "range operator")
        bounds[operator] = check_number(f"filter.{name}", limit, -_MAX_BOUND, _MAX_BOUND)
    if not bounds:
        return _Q.all_query()
    lower, upper = bounds.get("gte", bounds.get("gt")), bounds.get("lte", bounds.get("lt"))
    includes_lower = "gt" not in bounds or "gte" in bounds
    includes_upper = "lt" not in bounds or "lte" in bounds
    field_type = tantivy.FieldType.Float
    if index.fields[name] == "integer":
        field_type = tantivy.FieldType.Integer
        lower, includes_lower = _integer_bound(lower, includes_lower, round_up=True)
        upper, includes_upper = _integer_bound(upper, includes_upper, round_up=False)
    return _Q.range_query(index.schema, index.columns[name], field_type, lower, upper, includes_lower, includes_upper)


def _integer_bound(bound: float | None, is_included: bool, *, round_up: bool) -> tuple[int | None, bool]:
    """Returns the same bound for whole numbers: above 1979.5 means 1980 or more."""
    if bound is None or bound == int(bound):
        return None if bound is None else int(bound), is_included
    return (math.ceil(bound) if round_up else math.floor(bound)), True
