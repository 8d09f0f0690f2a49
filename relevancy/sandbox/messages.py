"""Encodes queries and responses for the child, and decodes and checks its outcomes, because nothing that ran a script is trusted."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import ChildEnded
from .types import Limits, MappedResponse, Outcome, ScriptQuery

_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def encode_query(query: ScriptQuery) -> str:
    """Returns the query as JSON for api.js, in ASCII, so that lone surrogates survive."""
    known = query.known if isinstance(query.known, Mapping) else dict(query.known)
    fields = {
        "text": query.text,
        "docs": query.docs,
        "ratings": query.ratings,
        "known": known,
        "total": query.total,
        "options": query.options,
    }
    try:
        return json.dumps(fields, allow_nan=False, separators=(",", ":"), default=_to_json)
    except ValueError:
        return json.dumps(_replace_nan(json.loads(json.dumps(fields, default=_to_json))), separators=(",", ":"))


def decode_outcomes(rows: bytes, limits: Limits) -> list[Outcome]:
    """Returns outcomes from JSON rows [score, error, line, console, seconds]. Raises `ChildEnded` for anything else."""
    try:
        return [_decode_outcome(row, limits) for row in json.loads(rows)]
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ChildEnded from error


def encode_response(text: str) -> str:
    """Returns the text of a response as JSON in ASCII, so that lone surrogates survive."""
    return json.dumps(text)


def decode_mapped(rows: bytes, limits: Limits) -> list[MappedResponse]:
    """Returns what a mapper found from JSON rows [JSON, error, line, console, seconds]. Raises `ChildEnded` for anything else."""
    try:
        return [_decode_mapped(row, limits) for row in json.loads(rows)]
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise ChildEnded from error


def _decode_mapped(row: list[Any], limits: Limits) -> MappedResponse:
    text, error, line, console, seconds = row
    is_late = error == "late"
    if is_late:
        error = describe_stop("time", limits)
    mapped = json.loads(text) if text is not None and not error else {"documents": [], "total": None}
    documents, total = mapped["documents"], mapped.get("total")
    if not isinstance(documents, list) or not (total is None or isinstance(total, int | float)):
        raise ValueError(text)
    return MappedResponse(
        tuple(_clean_value(document) for document in documents),
        total,
        _clean(error),
        int(line) if line else None,
        tuple(map(_clean, console)),
        float(seconds),
        "time" if is_late else "",
    )


def _clean_value(value: Any) -> Any:
    """Returns a JSON value with texts that every page and database accepts."""
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, dict):
        return {_clean(name): _clean_value(item) for name, item in value.items()}
    return [_clean_value(item) for item in value] if isinstance(value, list) else value


def describe_stop(reason: str, limits: Limits) -> str:
    """Explains why a script was stopped: `reason` is "time", "memory" or "ended"."""
    if reason == "time":
        return f"The script ran longer than {limits.seconds_per_query:g} s for this query and was stopped"
    if reason == "memory":
        return f"The script used more than {limits.megabytes} MB of memory for this query and was stopped"
    return "The script ended the process in which it ran, probably because it used too much memory"


def _decode_outcome(row: list[Any], limits: Limits) -> Outcome:
    value, error, line, console, seconds = row
    is_late = error == "late"
    if is_late:
        error = describe_stop("time", limits)
    if value is not None and not (isinstance(value, int | float) and 0 <= value <= 100):
        raise ValueError(value)
    score = None if value is None or error else float(value)
    return Outcome(
        score,
        _clean(error),
        int(line) if line else None,
        tuple(map(_clean, console)),
        float(seconds),
        "time" if is_late else "",
    )


def _clean(text: object) -> str:
    """Returns text that every page, terminal and database accepts: without lone surrogates and control characters."""
    encodable = str(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _CONTROL_CHARACTERS.sub("\N{REPLACEMENT CHARACTER}", encodable)


def _to_json(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Sequence) else str(value)


def _replace_nan(value: object) -> object:
    """Replaces NaN and infinities by null: JSON has no numbers for them."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _replace_nan(item) for key, item in value.items()}
    return [_replace_nan(item) for item in value] if isinstance(value, list) else value
