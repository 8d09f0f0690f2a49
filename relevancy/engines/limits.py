"""Limits on what engines return, applied after every adapter: whatever an engine sends, rankings and pages stay small.

What is cut says so in its own text, so that pages and exports show it without further ado. Ids, order and scores are never
changed.

See docs/decisions/0038.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

from .errors import EngineError, UnreadableResponse
from .fields.values import as_number
from .types import Hit, Interpretation, Page

MAX_FIELD_LENGTH = 10_000  # characters of a value, as JSON unless it is a string
MAX_HIT_LENGTH = 50_000
MAX_PAGE_LENGTH = 5_000_000
SHORT_LENGTH = 200  # of the values for which a hit has no space left
MAX_FIELDS = 300
MAX_NAME_LENGTH = 200
MAX_DEPTH = 20  # of nested values
MAX_ID_LENGTH = 500  # the length that a rating can store
MAX_SNIPPET_LENGTH = 2_000
MAX_FIELD_NAMES = 5_000  # of an index
MAX_NODES = 20_000  # of an explanation
MAX_LEVELS = 100
MIN_NODES = 400  # of each of several explanations
MAX_DESCRIPTION_LENGTH = 1_000
MAX_VERSION_LENGTH = 120
MAX_PARTS = 20  # of an interpretation
MAX_TIMINGS = 60
_MARK_LENGTH = 60
_MAX_TOTAL = 2**63 - 1
_MAX_TOOK = 2**31 - 1
_CUT_FIELDS = "…"  # the name under which a hit says that it had more fields


def limit_page(page: Page, rows: int) -> Page:
    """Returns a page with at most `rows` hits, each cut to the limits. Raises `UnreadableResponse` for an id that is too long."""
    if page.is_limited:
        return page
    total = page.total
    return replace(
        page,
        is_limited=True,
        hits=tuple(limit_hits(page.hits[: max(rows, 0)])),
        total=total if total is not None and 0 <= total <= _MAX_TOTAL else None,
        took_ms=max(0, min(page.took_ms, _MAX_TOOK)),
    )


def limit_hits(hits: Sequence[Hit]) -> list[Hit]:
    """Returns hits that together have at most about `MAX_PAGE_LENGTH` characters."""
    space = max(min(MAX_HIT_LENGTH, MAX_PAGE_LENGTH // max(len(hits), 1)), SHORT_LENGTH)
    return [limit_hit(hit, space) for hit in hits]


def limit_hit(hit: Hit, space: int = MAX_HIT_LENGTH) -> Hit:
    """Returns a hit whose fields have at most about `space` characters. Raises `UnreadableResponse` for an id that is too long."""
    if len(hit.id) > MAX_ID_LENGTH:
        raise UnreadableResponse(
            f"The id of a hit has {len(hit.id):,} characters, and at most {MAX_ID_LENGTH} can be stored: “{hit.id[:80]}…”.",
            hint="Name another field as the id in the displayed fields, such as id:sku.",
        )
    score = hit.score if hit.score is not None and math.isfinite(hit.score) else None
    if not hit.highlights and score == hit.score and _is_short(hit.fields, space):
        return hit
    fields = _limit_fields(hit.fields, space)
    snippets = [
        (name, text)
        for name, text in hit.highlights.items()
        # The highlighted field, or the one that it is nested in, is still there.
        if name in fields or (len(name) <= MAX_NAME_LENGTH and any(name.startswith(f"{field}.") for field in fields))
    ]
    highlights = {name: text for name, text in snippets[:MAX_FIELDS] if len(text) <= MAX_SNIPPET_LENGTH}
    return Hit(hit.id, score, fields, highlights)


def _is_short(fields: Mapping[str, Any], space: int) -> bool:
    """Whether `_limit_fields` would change nothing, as with almost all hits: few short texts, whole numbers and nothing nested."""
    length = 0
    for name, value in fields.items():
        kind = type(value)
        if kind is str:
            length += len(value)
        elif kind is int or kind is bool or value is None:
            length += 8
        else:
            return False
        if len(name) > MAX_NAME_LENGTH:
            return False
        length += len(name)
    return len(fields) <= MAX_FIELDS and length <= min(MAX_FIELD_LENGTH, space)


def _limit_fields(fields: Mapping[str, Any], space: int) -> dict[str, Any]:
    limited: dict[str, Any] = {}
    for name, value in fields.items():
        if len(limited) == MAX_FIELDS:
            limited[_CUT_FIELDS] = _mark(f"{len(fields):,} fields")
            break
        short_name = name if len(name) <= MAX_NAME_LENGTH else name[: MAX_NAME_LENGTH - 1] + "…"
        limited[short_name], length = _limit_value(value, max(min(MAX_FIELD_LENGTH, space), SHORT_LENGTH))
        space -= length + len(short_name)
    return limited


def _limit_value(value: Any, space: int) -> tuple[Any, int]:
    """Returns a value with at most `space` characters, and how many it has."""
    if isinstance(value, str):
        text = value if len(value) <= space else _cut_text(value, space)
        return text, len(text)
    try:
        value = _finite(value, MAX_DEPTH)
    except RecursionError:
        return _mark(f"nested more than {MAX_DEPTH} levels deep"), _MARK_LENGTH
    if not isinstance(value, list | dict):
        return value, 8
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= space:
        return value, len(text)
    return (_cut_list(value, space) if isinstance(value, list) else _cut_text(text, space)), space


def _cut_list(values: Sequence[Any], space: int) -> list[Any]:
    kept: list[Any] = []
    space -= _MARK_LENGTH
    for value in values:
        if space < min(SHORT_LENGTH, _MARK_LENGTH * 2):
            return [*kept, _mark(f"{len(values):,} values")]
        limited, length = _limit_value(value, space)
        kept.append(limited)
        space -= length + 4  # quotes, comma and blank
    return kept


def _cut_text(text: str, space: int) -> str:
    return text[: max(space - _MARK_LENGTH, 0)] + _mark(f"{len(text):,} characters")


def _mark(what: str) -> str:
    return f"… [cut: {what}]"


def _finite(value: Any, levels: int) -> Any:
    """Returns a value without NaN and infinities. Raises `RecursionError` if it is nested deeper than these levels."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if not isinstance(value, list | tuple | Mapping):
        return value
    if not levels:
        raise RecursionError
    if isinstance(value, Mapping):
        return {name: _finite(item, levels - 1) for name, item in value.items()}
    return [_finite(item, levels - 1) for item in value]


def limit_names(names: Sequence[str]) -> list[str]:
    """Returns the names of an index's fields without those that are too long, at most `MAX_FIELD_NAMES`."""
    return [name for name in names if len(name) <= MAX_NAME_LENGTH][:MAX_FIELD_NAMES]


def limit_tree(tree: Mapping[str, Any], max_nodes: int = MAX_NODES) -> dict[str, Any]:
    """Returns an explanation with just value, description and details, and `match: False` where the engine says so.

    It has at most `max_nodes` nodes and `MAX_LEVELS` levels: others become a part of their parent, whose value includes theirs.
    """
    root = _plain_node(tree)
    level, count = [(root, tree)], 1
    for _ in range(MAX_LEVELS):  # those next to the root are kept
        deeper: list[tuple[dict[str, Any], Mapping[str, Any]]] = []
        for node, raw in level:
            details = raw.get("details")
            children = [child for child in details if isinstance(child, Mapping)] if isinstance(details, list) else []
            count += len(children)
            if count <= max_nodes:
                node["details"] = [_plain_node(child) for child in children]
                deeper += zip(node["details"], children, strict=True)
        level = deeper
    return root


def _plain_node(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **({"match": False} if raw.get("match") is False else {}),
        "value": as_number(raw.get("value")) or 0.0,
        "description": str(raw.get("description", ""))[:MAX_DESCRIPTION_LENGTH],
        "details": [],
    }


def limit_trees(trees: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Returns explanations with together about as many nodes as a single one may have."""
    nodes = max(MAX_NODES // max(len(trees), 1), MIN_NODES)
    return {doc_id: limit_tree(tree, nodes) for doc_id, tree in trees.items()}


def _limit_clause_scores(scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    return {
        doc_id: {name: score for name, score in values.items() if math.isfinite(score)}
        for doc_id, values in scores.items()
    }


def _limit_interpretation(interpretation: Interpretation) -> Interpretation:
    parts = tuple((name, _limit_value(text, MAX_FIELD_LENGTH)[0]) for name, text in interpretation.parts[:MAX_PARTS])
    timings = tuple(
        replace(timing, label=timing.label[:MAX_DESCRIPTION_LENGTH]) for timing in interpretation.timings[:MAX_TIMINGS]
    )
    return Interpretation(parts, timings)


def _limit_outcomes(outcomes: Iterator[Any], requests: Sequence[Any]) -> Iterator[Any]:
    for index, outcome in outcomes:
        try:
            limited = limit_page(outcome, requests[index].rows) if isinstance(outcome, Page) else outcome
        except EngineError as error:
            limited = error
        yield index, limited


# Name of a method of `Engine` → what limits its result, called with the result and the method's arguments.
_LIMITS: Mapping[str, Callable[..., Any]] = {
    "search": lambda page, request: limit_page(page, request.rows),
    "search_many": _limit_outcomes,
    "lookup": lambda hits, ids, _: limit_hits(hits[: len(ids)]),
    "explain": lambda tree, *_: limit_tree(tree),
    "explain_many": lambda trees, *_: limit_trees(trees),
    "clause_scores": lambda scores, *_: _limit_clause_scores(scores),
    "interpret": lambda interpretation, _: _limit_interpretation(interpretation),
    "fields": limit_names,
    "version": lambda version: version[:MAX_VERSION_LENGTH],
}


def limit_methods(engine: type) -> None:
    """Applies the limits to the methods that an adapter defines."""
    for name in _LIMITS.keys() & vars(engine).keys():
        setattr(engine, name, _limited(vars(engine)[name], _LIMITS[name]))


def _limited(method: Callable[..., Any], limit: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def limited(self: Any, *arguments: Any, **options: Any) -> Any:
        return limit(method(self, *arguments, **options), *arguments)

    return limited
