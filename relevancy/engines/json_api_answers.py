"""Answers of search APIs: whatever JSON they are, read by an endpoint's expressions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from .answers import DECODER, not_json
from .base import Hit
from .errors import UnreadableAnswer
from .fields import FieldSpec
from .json_api_expressions import described, shortened
from .json_api_options import JsonApiOptions
from .template_slots import as_text

ID = "id"  # the field that the id of a hit becomes
_IN_ENDPOINT = "Correct the expression in the endpoint."
_MESSAGE_NAMES = ("message", "error", "errors", "detail", "details", "reason", "description", "msg", "title")


def read_answer(body: bytes, where: str) -> Any:
    """The JSON of an answer, an object or a list. Raises `UnreadableAnswer` with its first words."""
    text = body.decode("utf-8-sig", "replace")
    try:
        value = DECODER.decode(text)
    except ValueError:
        value = None
    if isinstance(value, dict | list):
        return value
    raise not_json(text, where)


def hits_of(answer: Any, options: JsonApiOptions) -> list[Any]:
    """The list of hits, in rank order. Raises `UnreadableAnswer` naming the lists there are, where it is none."""
    found = options.hits.find(answer)
    if isinstance(found, list):
        return found
    lists = ", ".join(f"{path} ({length})" for path, length in _lists(answer))
    there = f" Lists in the answer: {lists}." if lists else f" The answer: {described(answer)}."
    raise options.hits.unfit(found, "a list of hits", f"{_IN_ENDPOINT}{there}")


def total_of(answer: Any, options: JsonApiOptions, hits: list[Any]) -> int | None:
    """How many hits the API counted; None where it is not asked, or says nothing beside an empty list."""
    if options.total is None:
        return None
    found = options.total.find(answer)
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    if isinstance(found, int) and not isinstance(found, bool) and found >= 0:
        return found
    if found is None and not hits:
        return None
    raise options.total.unfit(found, "a whole number", f"{_IN_ENDPOINT} A number in a text is read by to_number(…).")


def read_hit(raw: Any, place: int, options: JsonApiOptions, fields: FieldSpec) -> Hit:
    """One document; `place` counts from 1. Raises `UnreadableAnswer` where it has no id, or an expression finds what does not fit."""
    doc = _document(raw, place, options)
    found = _id(raw, doc, options)
    if found:
        doc[ID] = found
    elif fields.id == ID:
        said = f"{options.id} found nothing." if options.id else f"Its field “{ID}” is missing or empty."
        raise UnreadableAnswer(
            f"Hit {place} has no id. {said} The hit is {described(raw)}.",
            todo="Say in the endpoint's option id where the id stands in a hit.",
        )
    return Hit(fields.id_of(doc), _score(raw, options), fields.pick(doc))


def own_message(body: Any) -> str:
    """An API's words for what is wrong, where they stand under one of the usual names; else an empty string."""
    for _ in range(4):
        if isinstance(body, str):
            return body
        if isinstance(body, list):
            body = next(iter(body), None)
        elif isinstance(body, dict):
            body = next((body[name] for name in _MESSAGE_NAMES if body.get(name)), None)
    return body if isinstance(body, str) else ""


def field_names(documents: list[Mapping[str, Any]]) -> list[str]:
    """Names of all fields in these documents, sorted; those within an object with a dot."""
    names: set[str] = set()
    for document in documents:
        names.update(_names(document, 0))
    return sorted(names)


def _id(raw: Any, doc: Mapping[str, Any], options: JsonApiOptions) -> str:
    if options.id is None:
        found = raw.get(ID, doc.get(ID)) if isinstance(raw, dict) else raw
        return "" if isinstance(found, list | dict) else as_text(found).strip()
    found = options.id.find(raw)
    if isinstance(found, list | dict):
        raise options.id.unfit(found, "the id of a document", _IN_ENDPOINT)
    return as_text(found).strip()


def _document(raw: Any, place: int, options: JsonApiOptions) -> dict[str, Any]:
    if options.document is None:
        return dict(raw) if isinstance(raw, dict) else {}
    found = options.document.find(raw)
    if isinstance(found, dict):
        return {name: _finite(value) for name, value in found.items()}
    raise options.document.unfit(
        found, f"the object of fields in hit {place}", f"{_IN_ENDPOINT} The hit is {described(raw)}."
    )


def _finite(value: Any) -> Any:
    """Without NaN and infinities, which functions of an expression can make and JSON does not know."""
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _score(raw: Any, options: JsonApiOptions) -> float | None:
    found = options.score.find(raw) if options.score else None
    if found is None:
        return None
    if options.score and (isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found)):
        raise options.score.unfit(found, "a number", f"{_IN_ENDPOINT} A number in a text is read by to_number(…).")
    return float(found)


def _lists(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, int]]:
    if isinstance(value, list):
        yield path or "@", len(value)
    elif isinstance(value, dict) and depth < 4:
        for name, inner in list(value.items())[:50]:
            step = name if name.isidentifier() and name.isascii() else f'"{shortened(name)}"'
            yield from _lists(inner, f"{path}.{step}" if path else step, depth + 1)


def _names(document: Mapping[str, Any], depth: int) -> Iterator[str]:
    for name, value in document.items():
        if isinstance(value, Mapping) and value and depth < 2:
            yield from (f"{name}.{inner}" for inner in _names(value, depth + 1))
        else:
            yield name
