"""Adding documents to a Solr core."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import batched
from typing import Any

import pysolr

from relevancy.engines.transport.client import HttpClient
from relevancy.engines.transport.response import read_json

_BATCH_SIZE = 1000
_JSON = {"content-type": "application/json"}


def load(solr: pysolr.Solr, http: HttpClient, core: str, documents: Sequence[Mapping[str, Any]]) -> None:
    """Adds documents to the core at this path and commits. Adds fields that its schema lacks."""
    _add_missing_fields(http, core, documents)
    for batch in batched(documents, _BATCH_SIZE):
        solr.add(list(batch))
    solr.commit()


def _add_missing_fields(http: HttpClient, core: str, documents: Sequence[Mapping[str, Any]]) -> None:
    fields = read_json(http.send("GET", f"{core}/schema/fields?wt=json").body, core)["fields"]
    field_types = read_json(http.send("GET", f"{core}/schema/fieldtypes?wt=json").body, core)["fieldTypes"]
    existing = {entry["name"] for entry in fields}
    types = {entry["name"] for entry in field_types}
    examples: dict[str, Any] = {}
    for document in documents:
        examples.update(
            {name: value for name, value in document.items() if name not in existing and value not in (None, [], "")}
        )
    definitions = [_field_definition(name, value, types) for name, value in examples.items()]
    if definitions:
        body = json.dumps({"add-field": definitions}).encode()
        http.send("POST", f"{core}/schema?wt=json", body=body, headers=_JSON)


def _field_definition(name: str, example: Any, types: set[str]) -> dict[str, Any]:
    is_multi_valued = isinstance(example, list)
    value = example[0] if is_multi_valued else example
    candidates: tuple[str, ...] = ("text_en", "text_general", "string")
    if isinstance(value, float):
        candidates = ("pdouble", "double")
    if isinstance(value, int) and not isinstance(value, bool):
        candidates = ("plong", "pint", "long", "int")
    field_type = next((candidate for candidate in candidates if candidate in types), "string")
    return {"name": name, "type": field_type, "multiValued": is_multi_valued, "stored": True, "indexed": True}
