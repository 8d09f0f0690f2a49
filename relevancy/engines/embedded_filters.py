"""What decides about hits without scoring them: the keys `filter` and `sort` of the embedded engine's request."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import tantivy

from .embedded_checks import field_of, number, one_of, refuse
from .embedded_index import ANALYZER, NUMBERS, Description, keyword_text
from .errors import BadQuery

_Q = tantivy.Query
_MUST, _SHOULD = tantivy.Occur.Must, tantivy.Occur.Should
_RANGES = ("gt", "gte", "lt", "lte")


def filters(wanted: Any, index: Description) -> list[tantivy.Query]:
    """One query for each field: a value, a list of which any will do, or a range of numbers.

    A keyword is compared as a whole, a text field must hold the words of the value in their order.
    """
    if wanted is not None and not isinstance(wanted, Mapping):
        refuse("filter", wanted, 'an object such as {"genres": "Comedy", "year": {"gte": 1980}}')
    return [_filter(field_of(index, name, "filter"), value, index) for name, value in (wanted or {}).items()]


def filtered(query: tantivy.Query, limits: list[tantivy.Query]) -> tantivy.Query:
    """The query within its filters, which add nothing to the score."""
    if not limits:
        return query
    return _Q.boolean_query([(_MUST, query), *((_MUST, _Q.const_score_query(one, 0.0)) for one in limits)])


def sort_keys(wanted: Any, index: Description) -> tuple[tuple[str, bool], ...]:
    """(number field or `_score`, descending) in order of importance."""
    found = []
    for entry in wanted if isinstance(wanted, list) else [wanted]:
        if isinstance(entry, str):
            entry = {entry: "desc" if entry == "_score" else "asc"}
        if not isinstance(entry, Mapping) or len(entry) != 1:
            refuse("sort", entry, 'a list of entries such as {"year": "desc"}')
        name, order = next(iter(entry.items()))
        if name != "_score" and index.fields[field_of(index, name, "sort")] not in NUMBERS:
            raise BadQuery(f"“sort” needs number fields or _score, but “{name}” is a {index.fields[name]} field.")
        found.append((name, one_of(order, ("asc", "desc"), "the order of “sort” cannot be") == "desc"))
    return tuple(found)


def _filter(name: str, value: Any, index: Description) -> tantivy.Query:
    if isinstance(value, list):
        return _any_of([_filter(name, item, index) for item in value])
    kind, schema, column = index.fields[name], index.schema, index.columns[name]
    if kind in NUMBERS:
        return _range(name, value if isinstance(value, Mapping) else {"gte": value, "lte": value}, index)
    if isinstance(value, Mapping):
        raise BadQuery(f"“filter” cannot compare “{name}”, which is a {kind} field.", todo="Ranges need number fields.")
    if kind == "keyword":
        return _Q.term_query(schema, column, keyword_text(value))
    words: list[Any] = ANALYZER.analyze(keyword_text(value))
    if len(words) > 1:
        return _Q.phrase_query(schema, column, words)
    return _Q.term_query(schema, column, words[0]) if words else _Q.empty_query()


def _any_of(queries: list[tantivy.Query]) -> tantivy.Query:
    return _Q.boolean_query([(_SHOULD, query) for query in queries]) if queries else _Q.empty_query()


def _range(name: str, limits: Mapping[str, Any], index: Description) -> tantivy.Query:
    bounds: dict[str, float] = {}
    for key, limit in limits.items():
        bounds[one_of(key, _RANGES, "a range cannot have")] = number(f"filter.{name}", limit, -9e15, 9e15)
    if not bounds:
        return _Q.all_query()
    lower, upper = bounds.get("gte", bounds.get("gt")), bounds.get("lte", bounds.get("lt"))
    with_lower, with_upper = "gt" not in bounds or "gte" in bounds, "lt" not in bounds or "lte" in bounds
    kind = tantivy.FieldType.Float
    if index.fields[name] == "integer":
        kind = tantivy.FieldType.Integer
        lower, with_lower = _whole(lower, with_lower, up=True)
        upper, with_upper = _whole(upper, with_upper, up=False)
    return _Q.range_query(index.schema, index.columns[name], kind, lower, upper, with_lower, with_upper)


def _whole(bound: float | None, included: bool, *, up: bool) -> tuple[int | None, bool]:
    """The same bound for whole numbers: above 1979.5 is from 1980."""
    if bound is None or bound == int(bound):
        return None if bound is None else int(bound), included
    return (math.ceil(bound) if up else math.floor(bound)), True
