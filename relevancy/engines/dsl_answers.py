"""The JSON of Elasticsearch and OpenSearch: what is asked for, what came back, and their words for what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .answers import error_for
from .base import Hit
from .errors import BadQuery, EngineError, TooSlow, UnreadableAnswer
from .fields import FieldSpec
from .highlights import read_highlights

Body = dict[str, Any]
JsonObject = dict[str, Any]


def own_message(body: Any) -> str:
    """The engine's words for what is wrong: the reasons, from the outermost to the cause."""
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, str):
        return error
    reasons: list[str] = []
    while isinstance(error, dict) and len(reasons) < 5:
        roots = error.get("root_cause")
        root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], dict) else {}
        reasons += [str(part.get("reason")) for part in (error, root) if part.get("reason")]
        shards = error.get("failed_shards")
        shard = shards[0] if isinstance(shards, list) and shards and isinstance(shards[0], dict) else {}
        error = error.get("caused_by") or shard.get("reason")
    return ": ".join(dict.fromkeys(reasons))


@contextmanager
def no_search_templates(product: str, *, expected: bool = True) -> Iterator[None]:
    """Within it, what only search templates (`expected`) can be refused for is a `BadQuery` that says so."""
    try:
        yield
    except EngineError as error:
        said = str(error)
        if expected and error.status == 404 and "unable to find script" in said:
            raise BadQuery(
                f"{product} has no search template of this name: {said.partition('unable to find script ')[2]}",
                todo="Store it on the server, or give its text as “source”.",
                status=404,
            ) from error
        if expected and error.status in (400, 405) and ("no handler found" in said or "Incorrect HTTP method" in said):
            raise BadQuery(
                f"This {product} has no search templates (its module lang-mustache is missing).",
                todo="Write the query itself, without “id”, “source” and “params”.",
                status=error.status,
            ) from error
        raise


def source_filter(fields: FieldSpec) -> Any:
    """The `_source` to ask for: True for all, else the names to fetch."""
    if fields.names is None:
        return True
    names = [name for name in dict.fromkeys((fields.id, *fields.names)) if name != "_id"]
    return names or False


def by_id(field: str, ids: list[str]) -> Body:
    """A query for documents by the values of their id field."""
    if field == "_id":
        return {"ids": {"values": ids}}
    # Text that was mapped dynamically is found whole only in its `keyword` subfield.
    return {"bool": {"should": [{"terms": {name: ids}} for name in (field, f"{field}.keyword")]}}


def total_and_hits(answer: Mapping[str, Any], where: str) -> tuple[int | None, list[dict[str, Any]]]:
    """Total and raw hits of an answer. Raises where only a part of the index answered: a score on it would be wrong."""
    if answer.get("timed_out") is True:
        raise TooSlow(
            "The engine stopped early and returned only a part of the results.",
            todo="Raise or remove the template's timeout, or try a cheaper query.",
        )
    shards = answer.get("_shards")
    if isinstance(shards, dict) and shards.get("failed"):
        failures = shards.get("failures")
        first = failures[0] if isinstance(failures, list) and failures and isinstance(failures[0], dict) else {}
        raise BadQuery(
            f"{shards['failed']} of {shards.get('total')} shards failed: "
            f"{own_message({'error': first.get('reason')}) or 'no reason given'}"
        )
    outer = answer.get("hits")
    raws = outer.get("hits") if isinstance(outer, dict) else None
    if not isinstance(outer, dict) or not isinstance(raws, list) or not all(isinstance(raw, dict) for raw in raws):
        raise UnreadableAnswer(
            f"{where} answered with JSON without “hits.hits”.", todo="Is this the address of an index?"
        )
    total = outer.get("total")
    count = total.get("value") if isinstance(total, dict) else total
    return (count if isinstance(count, int) else None), raws


def read_hit(raw: dict[str, Any], fields: FieldSpec, *, highlight: bool = False) -> Hit:
    """One document, with its highlights where they were asked for. Raises `UnreadableAnswer` where it has no id."""
    source = raw.get("_source")
    doc = {**source, "_id": raw.get("_id")} if isinstance(source, dict) else {"_id": raw.get("_id")}
    doc_id = fields.id_of(doc)
    if fields.id != "_id":
        del doc["_id"]
    score = raw.get("_score")
    picked = fields.pick(doc)
    return Hit(
        doc_id,
        float(score) if isinstance(score, int | float) else None,
        picked,
        read_highlights(raw.get("highlight"), picked, fields) if highlight else {},
    )


def checked_item(item: dict[str, Any], where: str) -> dict[str, Any]:
    """One answer of a batch, whose status stands within it."""
    status = item.get("status", 400 if "error" in item else 200)
    if "error" in item or not isinstance(status, int) or status >= 400:
        raise error_for(
            status if isinstance(status, int) and status >= 400 else 500,
            where,
            own_message(item),
            json.dumps(item)[:160],
        )
    return item


def is_field(name: str, types: Mapping[str, Any]) -> bool:
    """Whether an entry of `_field_caps` is a field with values: no metadata, no object around others."""
    kinds = [kind for kind in types.values() if isinstance(kind, dict)]
    inner = all(kind.get("type") in ("object", "nested") for kind in kinds)
    return not name.startswith("_") and not inner and not any(kind.get("metadata_field") for kind in kinds)
