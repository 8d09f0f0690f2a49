"""Adding documents to an index of Elasticsearch or OpenSearch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import batched
from typing import Any

from relevancy.engines.errors import BadQuery, EngineError
from relevancy.engines.transport.client import HttpClient

_BATCH_SIZE = 1000
_JSON = {"content-type": "application/json"}
_NDJSON = {"content-type": "application/x-ndjson"}


def load(client: HttpClient, index: str, documents: Sequence[Mapping[str, Any]], id_field: str) -> None:
    """Adds documents to the index at this path and makes them visible. Creates the index if it does not exist.

    Raises `ValueError` naming a document without an id, and `BadQuery` with the engine's message for a rejected document.
    """
    _create_index(client, index)
    for batch in batched(documents, _BATCH_SIZE):
        lines = [json.dumps(line) for doc in batch for line in ({"index": {"_id": _doc_id(doc, id_field)}}, doc)]
        response = client.send("POST", f"{index}/_bulk", body=("\n".join(lines) + "\n").encode(), headers=_NDJSON)
        result: dict[str, Any] = json.loads(response.body)
        if result.get("errors"):
            raise BadQuery(f"The index rejected a document: {_first_error(result)}")
    client.send("POST", f"{index}/_refresh")


def _doc_id(document: Mapping[str, Any], id_field: str) -> str:
    try:
        return str(document[id_field])
    except KeyError:
        beginning = json.dumps(document)[:120]
        raise ValueError(f"A document has no field “{id_field}”: {beginning}. Name its id field.") from None


def _create_index(client: HttpClient, index: str) -> None:
    settings = {"settings": {"number_of_shards": 1, "number_of_replicas": 0}}
    try:
        client.send("PUT", index, body=json.dumps(settings).encode(), headers=_JSON)
    except EngineError as error:
        if error.status != 400 or "already exists" not in str(error):
            raise


def _first_error(result: Mapping[str, Any]) -> str:
    for item in result.get("items", ()):
        error = item.get("index", {}).get("error")
        if error:
            return f"{item['index'].get('_id')}: {error.get('reason', error)}"
    return "no reason given"
