"""Putting documents into an engine: for samples and trials, not for keeping a shop's index up to date."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import batched
from typing import Any
from urllib.parse import quote

from .answers import Answer
from .base import Connection
from .dsl_answers import own_message as elasticsearch_words
from .dsl_index import prefix_and_index
from .embedded_build import build_index
from .errors import BadQuery, EngineError, UnknownEngine
from .http import HttpClient
from .solr import core_and_handler
from .solr import own_message as solr_words

BATCH = 1000
_JSON = {"content-type": "application/json"}
_LINES = {"content-type": "application/x-ndjson"}


def load_documents(connection: Connection, documents: Iterable[Mapping[str, Any]], *, id_field: str = "id") -> int:
    """Add documents, those with the same id replaced, and make them visible. Returns how many.

    `embedded`: the index is built anew. `solr`: fields its schema lacks are added. `elasticsearch`: an index that does
    not exist is made, one shard, mapping by what it sees. Raises `EngineError`, or `ValueError` for a document.
    """
    docs = list(documents)
    if connection.engine == "embedded" and connection.data_dir is not None:
        return build_index(connection.data_dir, connection.url, docs, id_field=id_field)
    if connection.engine == "solr":
        return _into_solr(connection, docs)
    if connection.engine in {"elasticsearch", "opensearch"}:
        return _into_elasticsearch(connection, docs, id_field)
    raise UnknownEngine(
        f"Documents cannot be put into the engine “{connection.engine}”.",
        todo="Try embedded, solr, elasticsearch, opensearch.",
    )


def _into_solr(connection: Connection, docs: Sequence[Mapping[str, Any]]) -> int:
    address = connection.rules.read(connection.url)
    core, _ = core_and_handler(address)
    client = HttpClient(connection, address, solr_words)
    try:
        _add_solr_fields(client, core, docs)
        for some in batched(docs, BATCH):
            client.send("POST", f"{core}/update?wt=json", body=json.dumps(some).encode(), headers=_JSON)
        client.send("POST", f"{core}/update?wt=json&commit=true", body=b"[]", headers=_JSON)
    finally:
        client.close()
    return len(docs)


def _add_solr_fields(client: HttpClient, core: str, docs: Sequence[Mapping[str, Any]]) -> None:
    known = {entry["name"] for entry in _read(client.send("GET", f"{core}/schema/fields?wt=json"))["fields"]}
    types = {entry["name"] for entry in _read(client.send("GET", f"{core}/schema/fieldtypes?wt=json"))["fieldTypes"]}
    missing: dict[str, Any] = {}
    for doc in docs:
        missing.update(
            {name: value for name, value in doc.items() if name not in known and value not in (None, [], "")}
        )
    added = [_solr_field(name, value, types) for name, value in missing.items()]
    if added:
        body = json.dumps({"add-field": added}).encode()
        client.send("POST", f"{core}/schema?wt=json", body=body, headers=_JSON)


def _solr_field(name: str, value: Any, types: set[str]) -> dict[str, Any]:
    many = isinstance(value, list)
    one = value[0] if many else value
    wanted: tuple[str, ...] = ("text_en", "text_general", "string")
    if isinstance(one, float):
        wanted = ("pdouble", "double")
    if isinstance(one, int) and not isinstance(one, bool):
        wanted = ("plong", "pint", "long", "int")
    kind = next((name for name in wanted if name in types), "string")
    return {"name": name, "type": kind, "multiValued": many, "stored": True, "indexed": True}


def _into_elasticsearch(connection: Connection, docs: Sequence[Mapping[str, Any]], id_field: str) -> int:
    address = connection.rules.read(connection.url)
    prefix, index = prefix_and_index(address)
    path = f"{prefix}/{quote(index, safe='*-_.')}"
    client = HttpClient(connection, address, elasticsearch_words)
    try:
        _make_index(client, path)
        for some in batched(docs, BATCH):
            lines = [json.dumps(line) for doc in some for line in ({"index": {"_id": str(doc[id_field])}}, doc)]
            answer = _read(
                client.send("POST", f"{path}/_bulk", body=("\n".join(lines) + "\n").encode(), headers=_LINES)
            )
            if answer.get("errors"):
                raise BadQuery(f"The index refused a document: {_first_error(answer)}")
        client.send("POST", f"{path}/_refresh")
    finally:
        client.close()
    return len(docs)


def _make_index(client: HttpClient, path: str) -> None:
    settings = {"settings": {"number_of_shards": 1, "number_of_replicas": 0}}
    try:
        client.send("PUT", path, body=json.dumps(settings).encode(), headers=_JSON)
    except EngineError as error:
        if error.status != 400 or "already exists" not in str(error):
            raise


def _first_error(answer: Mapping[str, Any]) -> str:
    for item in answer.get("items", ()):
        error = item.get("index", {}).get("error")
        if error:
            return f"{item['index'].get('_id')}: {error.get('reason', error)}"
    return "no reason given"


def _read(answer: Answer) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer.body)
    return found
