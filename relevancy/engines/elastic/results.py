"""JSON responses of Elasticsearch and OpenSearch: hits, fields and error messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from relevancy.engines.errors import BadQuery, EngineError, TooSlow, UnreadableResponse, UnsupportedByEngine
from relevancy.engines.fields.snippets import read_highlights
from relevancy.engines.fields.specs import FieldSpec
from relevancy.engines.fields.values import as_number, object_at, objects_at, value_at
from relevancy.engines.transport.response import error_for_status
from relevancy.engines.types import Hit, Timing

_MAX_CAUSES = 5
_MAX_PROFILE_LEVEL = 6


def error_message(body: Any) -> str:
    """Returns the engine's own message from an error response: its reasons, from the outermost to the cause."""
    error = value_at(body, "error")
    if isinstance(error, str):
        return error
    reasons: list[str] = []
    while isinstance(error, dict) and len(reasons) < _MAX_CAUSES:
        reasons += [str(part["reason"]) for part in (error, object_at(error, "root_cause")) if part.get("reason")]
        error = error.get("caused_by") or object_at(error, "failed_shards").get("reason")
    return ": ".join(dict.fromkeys(reasons))


@contextmanager
def explaining_missing_search_templates(product: str, *, is_template: bool = True) -> Iterator[None]:
    """Converts errors that only a search template can cause (`is_template`) into a `BadQuery` that says what to do."""
    try:
        yield
    except EngineError as error:
        message = str(error)
        if is_template and error.status == 404 and "unable to find script" in message:
            raise BadQuery(
                f"{product} has no search template of this name: {message.partition('unable to find script ')[2]}",
                hint="Store it on the server, or write its text as “source”.",
                status=404,
            ) from error
        is_unsupported = "no handler found" in message or "Incorrect HTTP method" in message
        if is_template and error.status in (400, 405) and is_unsupported:
            raise BadQuery(
                f"This {product} does not support search templates (its module lang-mustache is missing).",
                hint="Write the query itself, without “id”, “source” and “params”.",
                status=error.status,
            ) from error
        raise


def total_and_hits(response: Mapping[str, Any], url: str) -> tuple[int | None, list[dict[str, Any]]]:
    """Returns total and raw hits of a search. Raises if only a part of the index responded: its score would be wrong."""
    if response.get("timed_out") is True:
        raise TooSlow(
            "The engine stopped early and returned only a part of the results.",
            hint="Raise or remove the template's timeout, or try a cheaper query.",
        )
    shards = object_at(response, "_shards")
    if shards.get("failed"):
        reason = error_message({"error": object_at(shards, "failures").get("reason")})
        raise BadQuery(f"{shards['failed']} of {shards.get('total')} shards failed: {reason or 'no reason given'}")
    raw_hits = value_at(response, "hits.hits")
    if not isinstance(raw_hits, list) or not all(isinstance(raw, dict) for raw in raw_hits):
        raise UnreadableResponse(
            f"{url} returned JSON without “hits.hits”.", hint="Check that this is the address of an index."
        )
    total = value_at(response, "hits.total")
    count = total.get("value") if isinstance(total, dict) else total
    return (count if isinstance(count, int) else None), raw_hits


def read_hit(raw: dict[str, Any], fields: FieldSpec, *, highlight: bool = False) -> Hit:
    """Returns one document, with its highlights if requested. Raises `UnreadableResponse` if it has no id."""
    source = raw.get("_source")
    document = {**source, "_id": raw.get("_id")} if isinstance(source, dict) else {"_id": raw.get("_id")}
    doc_id = fields.id_of(document)
    if fields.id != "_id":
        del document["_id"]
    score = raw.get("_score")
    values = fields.pick(document)
    return Hit(
        doc_id,
        as_number(score),
        values,
        read_highlights(raw.get("highlight"), values, fields) if highlight else {},
    )


def clause_scores_of(raw: dict[str, Any], product: str) -> dict[str, float]:
    """Returns the scores of the named queries that match a hit. Servers that do not know them return only names."""
    named = raw.get("matched_queries", {})
    if not isinstance(named, dict):
        raise too_old_for_clause_scores(product)
    scores = {str(name): as_number(score) for name, score in named.items()}
    return {name: score for name, score in scores.items() if score is not None}


def too_old_for_clause_scores(product: str) -> UnsupportedByEngine:
    """Returns the error for a server that does not return the scores of named queries."""
    return UnsupportedByEngine(
        f"This {product} does not return the scores of named queries.",
        hint="Elasticsearch does from version 8.8 on, OpenSearch from 2.13 on.",
    )


def validated_query(response: Mapping[str, Any]) -> str:
    """Returns the query that `_validate/query` describes, one line for each index that understands it differently."""
    texts = [
        str(entry.get("explanation") or entry.get("error") or "") for entry in objects_at(response, "explanations")
    ]
    return "\n".join(dict.fromkeys(texts))


def profile_timings(response: Mapping[str, Any]) -> tuple[Timing, ...]:
    """Returns the time of a search, and that of each part of its query, shard by shard, as `profile` says."""
    took = as_number(response.get("took"))
    timings = [Timing("Whole search", took)] if took is not None else []
    for search in objects_at(response, "profile.shards.searches"):
        if nanoseconds := as_number(search.get("rewrite_time")):
            timings.append(Timing("Rewriting the query", nanoseconds / 1e6, 1))
        timings += [*_profiled(search, "query", 1), *_profiled(search, "collector", 1)]
    return tuple(timings)


def _profiled(parent: Mapping[str, Any], name: str, level: int) -> Iterator[Timing]:
    for node in objects_at(parent, name) if level <= _MAX_PROFILE_LEVEL else []:
        kind = str(node.get("type") or node.get("name") or "")
        text = str(node.get("description") or node.get("reason") or "")
        yield Timing(f"{kind} {text}".strip(), (as_number(node.get("time_in_nanos")) or 0.0) / 1e6, level)
        yield from _profiled(node, "children", level + 1)


def check_item(item: dict[str, Any], url: str) -> None:
    """Raises the error of one response in a batch, whose status is part of its JSON."""
    status = item.get("status", 400 if "error" in item else 200)
    if "error" in item or not isinstance(status, int) or status >= 400:
        failure = status if isinstance(status, int) and status >= 400 else 500
        raise error_for_status(failure, url, error_message(item), json.dumps(item)[:160])


def is_field(name: str, types: Mapping[str, Any]) -> bool:
    """Whether an entry of `_field_caps` is a field with values: neither metadata nor an object around other fields."""
    capabilities = [entry for entry in types.values() if isinstance(entry, dict)]
    is_object = all(entry.get("type") in ("object", "nested") for entry in capabilities)
    return not name.startswith("_") and not is_object and not any(e.get("metadata_field") for e in capabilities)
