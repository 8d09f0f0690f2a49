"""Encodes queries and responses for the child, and decodes and checks its outcomes, because nothing that ran a script is trusted."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
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
    return _decode(rows, limits, Outcome, _read_score)


def decode_mapped(rows: bytes, limits: Limits) -> list[MappedResponse]:
    """Returns what a mapper found from JSON rows [JSON, error, line, console, seconds]. Raises `ChildEnded` for anything else."""
    return _decode(rows, limits, MappedResponse, _read_mapped)


def _decode[Result](
    rows: bytes, limits: Limits, result: Callable[..., Result], read: Callable[[Any], dict[str, Any]]
) -> list[Result]:
    """read: returns what the result says of a row's value, which is None if there is an error."""
    results = []
    try:
        for value, error, line, console, seconds in json.loads(rows):
            is_late = error == "late"
            results.append(
                result(
                    **read(None if error else value),
                    error=describe_stop("time", limits) if is_late else _clean(error),
                    line=int(line) if line else None,
                    console=tuple(map(_clean, console)),
                    seconds=float(seconds),
                    stopped="time" if is_late else "",
                )
            )
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise ChildEnded from error
    return results


def _read_score(value: Any) -> dict[str, Any]:
    if value is not None and not (isinstance(value, int | float) and 0 <= value <= 100):
        raise ValueError(value)
    return {"score": None if value is None else float(value)}


def _read_mapped(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    mapped = json.loads(text)
    documents, total = mapped["documents"], mapped.get("total")
    if not isinstance(documents, list) or not (total is None or isinstance(total, int | float)):
        raise ValueError(text)
    return {"documents": tuple(_clean_value(document) for document in documents), "total": total}


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
