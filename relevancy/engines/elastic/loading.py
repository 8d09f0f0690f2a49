"""Adding documents to an index of Elasticsearch or OpenSearch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import batched
from typing import Any

from relevancy.engines.errors import BadQuery, EngineError

_BATCH_SIZE = 1000


def load(client: Any, index: str, documents: Sequence[Mapping[str, Any]], id_field: str) -> None:
    """Adds documents to an index and makes them visible. Creates the index if it does not exist.

    Raises `ValueError` naming a document without an id, and `BadQuery` with the engine's message for a rejected document.
    """
    try:
        client.indices.create(index=index, body={"settings": {"number_of_shards": 1, "number_of_replicas": 0}})
    except EngineError as error:
        if error.status != 400 or "already exists" not in str(error):
            raise
    for batch in batched(documents, _BATCH_SIZE):
        lines = [line for doc in batch for line in ({"index": {"_id": _doc_id(doc, id_field)}}, doc)]
        response = client.bulk(index=index, body=lines)
        if response.get("errors"):
            raise BadQuery(f"The index rejected a document: {_first_error(response)}")
    client.indices.refresh(index=index)


def _doc_id(document: Mapping[str, Any], id_field: str) -> str:
    try:
        return str(document[id_field])
    except KeyError:
        beginning = json.dumps(document)[:120]
        raise ValueError(f"A document has no field “{id_field}”: {beginning}. Name its id field.") from None


def _first_error(response: Mapping[str, Any]) -> str:
    for item in response.get("items", ()):
        error = item.get("index", {}).get("error")
        if error:
            return f"{item['index'].get('_id')}: {error.get('reason', error)}"
    return "no reason given"
