"""What a search of Elasticsearch or OpenSearch refers to besides its own index. Checked when all placeholders are filled in.

Scripts are sent: they read only the document they are run for, and the engine limits them (docs/decisions/0038).
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from relevancy.engines.errors import BadQuery
from relevancy.engines.fields.values import texts_in
from relevancy.engines.names import check_reference

# Elasticsearch looks up an indexed shape in this index unless the query names another one.
_DEFAULT_SHAPES_INDEX = "shapes"
# Besides “index”; an aggregation called “index” has none of them.
_LOOKUP_KEYS = frozenset({"id", "path", "query"})
_MAX_NODES = 200_000
# A parameter of a search template that could become a part of the query which refers to an index.
_SUSPICIOUS = re.compile(r"index|pit|wrapper", re.IGNORECASE)


def check_body(body: Mapping[str, Any], allowed: Collection[str]) -> None:
    """Checks the body of a search, or any part of one. Raises `BadQuery` naming what refers to another index.

    allowed: names of indexes that may be read.
    """
    if "pit" in body:
        raise BadQuery(
            "The query names a point in time (“pit”), which decides what is searched instead of the endpoint's index.",
            hint="Remove it.",
        )
    nodes: list[Any] = [body]
    for count, node in enumerate(_walk(nodes)):
        if count > _MAX_NODES:
            raise BadQuery(f"The query has more than {_MAX_NODES:,} parts.", hint="Simplify it.")
        for name, value in node.items():
            _check_part(name, value, allowed)


def needs_rendering(body: Mapping[str, Any]) -> bool:
    """Whether a search template has to be rendered before it can be checked.

    That is so if its text is a part of the request, or if one of its parameters could change the structure of the query.
    """
    if isinstance(body.get("source"), str):
        return True
    return any('"' in text and _SUSPICIOUS.search(text) for text in texts_in(body.get("params")))


def _walk(nodes: list[Any]) -> Iterable[Mapping[str, Any]]:
    """Yields every object below the nodes."""
    while nodes:
        node = nodes.pop()
        if isinstance(node, Mapping):
            yield node
            for name, value in node.items():
                nodes.append(_unwrapped(value) if name == "wrapper" else value)
        elif isinstance(node, list | tuple):
            nodes += node


def _check_part(name: str, value: Any, allowed: Collection[str]) -> None:
    if not isinstance(value, Mapping):
        if name == "target_index":  # of a runtime field of the type “lookup”
            check_reference(value, allowed, what=name)
        return
    if name == "indexed_shape":
        check_reference(value.get("index", _DEFAULT_SHAPES_INDEX), allowed, what="“index” of indexed_shape")
    elif name in ("percolate", "lookup") and "index" in value:
        check_reference(value["index"], allowed, what=f"“index” of {name}")
    elif name == "terms":
        for field, lookup in value.items():
            if isinstance(lookup, Mapping) and "index" in lookup and _LOOKUP_KEYS & lookup.keys():
                check_reference(lookup["index"], allowed, what=f"“index” of the terms of {field}")
    elif name in ("more_like_this", "mlt"):
        _check_documents(value, allowed)


def _check_documents(query: Mapping[str, Any], allowed: Collection[str]) -> None:
    for part in query.values():
        documents = part if isinstance(part, list | tuple) else (part,)
        for document in documents:
            if isinstance(document, Mapping):
                for name in ("_index", "index"):
                    if name in document:
                        check_reference(document[name], allowed, what=f"“{name}” of more_like_this")


def _unwrapped(value: Any) -> Any:
    """Returns the query in a `wrapper` query, which is JSON in Base64."""
    text = value.get("query") if isinstance(value, Mapping) else value
    try:
        return json.loads(base64.b64decode(str(text), validate=True))
    except (binascii.Error, ValueError, RecursionError) as error:
        raise BadQuery(
            "The query contains a “wrapper” that is not JSON in Base64, so it cannot be checked.",
            hint="Write the query itself.",
        ) from error
