"""What of a template's parameters goes to Solr: some are ours, some reach elsewhere and are refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Literal

from .errors import BadQuery
from .fields import FieldSpec

Pairs = list[tuple[str, str]]
Verdict = Literal["send", "drop", "refuse", "json"]

# The adapter sets these itself; what a template says of them is left out.
_OURS = frozenset(
    {"fl", "rows", "start", "indent", "omitHeader", "echoParams", "debug", "debugQuery", "debug.explain.structured"}
    | {"explainOther", "json.limit", "json.offset", "json.fields"}
)
_OURS_IN_JSON = ("limit", "offset", "fields")
# They name other servers, collections, files or handlers, or change the form of the answer.
_REACHES_ELSEWHERE = re.compile(
    r"shards?(\..*)?|stream\..*|collection|qt|wt|tr|json\.wrf|json\.params.*|v\.(template|layout|json|contentType).*|"
    r"defaultHandler|_forwardedCount|isShard|debug\.file",
)


@lru_cache(maxsize=1024)
def _verdict(name: str) -> Verdict:
    if _REACHES_ELSEWHERE.fullmatch(name):
        return "refuse"
    if name in _OURS:
        return "drop"
    return "json" if name == "json" else "send"


def checked(pairs: Iterable[tuple[str, str]]) -> Pairs:
    """The pairs that are sent, in order. Raises `BadQuery` naming a parameter that is refused."""
    kept: Pairs = []
    for name, value in pairs:
        verdict = _verdict(name)
        if verdict == "send":
            kept.append((name, value))
        elif verdict == "json":
            kept.append((name, _checked_body(value)))
        elif verdict == "refuse":
            raise _refused(name)
    return kept


def _checked_body(text: str) -> str:
    """A JSON request body without the adapter's own keys. It must be strict JSON: in what Solr reads more freely than
    this, a refused parameter could hide."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadQuery(
            f"The parameter “json” is not valid JSON: {error}.", todo="Quote every name and text."
        ) from error
    if not isinstance(body, dict):
        raise BadQuery("The parameter “json” must be a JSON object.")
    return json.dumps(checked_body(body), ensure_ascii=False)


def checked_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON request body without the adapter's own keys. Raises `BadQuery` naming a parameter within it that is refused."""
    inner: Any = body.get("params", {})
    if not isinstance(inner, dict):
        raise BadQuery("“params” of a JSON request must be a JSON object.")
    for name in inner:
        # A further body within the body could hold what is refused here.
        if _verdict(name) in ("refuse", "json"):
            raise _refused(name)
    kept = {name: value for name, value in body.items() if name not in (*_OURS_IN_JSON, "params")}
    params = {name: value for name, value in inner.items() if _verdict(name) == "send"}
    return {**kept, "params": params} if params else kept


def _refused(name: str) -> BadQuery:
    return BadQuery(
        f"The parameter “{name}” is not allowed: it reaches other servers, files or handlers, or changes the form of the "
        "answer.",
        todo="Take it out of the query template; where it is needed, configure it in Solr's request handler.",
    )


@lru_cache(maxsize=256)
def field_list(spec: FieldSpec) -> str:
    """Solr's `fl`: the displayed fields, functions as `alias:function`, and the score."""
    names = ("*",) if spec.names is None else spec.names
    functions = [f"{alias}:{function}" for alias, function in spec.functions.items()]
    return ",".join(dict.fromkeys([*names, *functions, spec.id, "score"]))
