"""Filling real engines with documents."""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import urllib3

from tests.live.servers import Server

_BATCH = 2000


def make_solr_core(
    server: Server, name: str, docs: Sequence[Mapping[str, Any]], fields: Mapping[str, str] | None = None
) -> str:
    """Creates (or replaces) a core with its own copy of the `movies` schema, indexes `docs` and commits. Returns its URL.

    `fields`: additional fields, name → field type of the schema (`text_en`, `text_general`, `string`, `strings`, `pint`,
    `pfloat`, `pdate`); `"text_general[]"` for a multi-valued one. `*_s`, `*_t`, `*_i`, `*_f` … exist as dynamic fields.
    """
    drop_solr_core(server, name)
    conf = server.home / "configsets" / "movies" / "conf"
    # Cores created with configSet= share one schema, so a change for one core would affect the others.
    shutil.copytree(conf, server.home / name / "conf")
    _send("GET", f"{server.url}/admin/cores?action=CREATE&name={name}&instanceDir={name}&wt=json")
    url = f"{server.url}/{name}"
    if fields:
        definitions = [
            {
                "name": field,
                "type": field_type.removesuffix("[]"),
                "multiValued": field_type.endswith("[]"),
                "stored": True,
            }
            for field, field_type in fields.items()
        ]
        _send("POST", f"{url}/schema", {"add-field": definitions})
    for start in range(0, len(docs), _BATCH):
        _send("POST", f"{url}/update?commit=false", list(docs[start : start + _BATCH]))
    _send("POST", f"{url}/update?commit=true", [])
    return url


def drop_solr_core(server: Server, name: str) -> None:
    """Removes a core and its files if it exists."""
    status = _send("GET", f"{server.url}/admin/cores?action=STATUS&core={name}&wt=json")["status"]
    if status.get(name):
        _send("GET", f"{server.url}/admin/cores?action=UNLOAD&core={name}&deleteInstanceDir=true&wt=json")
    shutil.rmtree(server.home / name, ignore_errors=True)


def make_elasticsearch_index(
    server: Server,
    name: str,
    docs: Iterable[Mapping[str, Any]],
    mappings: Mapping[str, Any] | None = None,
    id_field: str | None = "id",
) -> str:
    """Creates (or replaces) an index of one shard, indexes `docs` and refreshes. Returns its URL.

    `id_field`: the field that becomes `_id`; None lets the engine generate ids.
    `mappings`: `{"properties": …}`; other fields are mapped dynamically.
    """
    url = f"{server.url}/{name}"
    urllib3.request("DELETE", url, timeout=60.0)
    settings = {"number_of_shards": 1, "number_of_replicas": 0}
    _send("PUT", url, {"settings": settings, **({"mappings": mappings} if mappings else {})})
    lines: list[str] = []
    for doc in docs:
        lines.append(json.dumps({"index": {"_id": str(doc[id_field])} if id_field else {}}))
        lines.append(json.dumps(doc))
    for start in range(0, len(lines), 2 * _BATCH):
        body = "\n".join(lines[start : start + 2 * _BATCH]) + "\n"
        response = _send("POST", f"{url}/_bulk", body, "application/x-ndjson")
        if response["errors"]:
            raise RuntimeError(f"{url} rejected documents: {json.dumps(response)[:500]}")
    _send("POST", f"{url}/_refresh")
    return url


def store_search_template(server: Server, name: str, source: str) -> None:
    """Stores (or replaces) a search template of an Elasticsearch or OpenSearch."""
    _send("PUT", f"{server.url}/_scripts/{name}", {"script": {"lang": "mustache", "source": source}})


def _send(method: str, url: str, body: Any = None, content_type: str = "application/json") -> dict[str, Any]:
    data = None if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    response = urllib3.request(
        method, url, body=data, headers={"content-type": content_type}, timeout=60.0, retries=False
    )
    if response.status >= 300:
        raise RuntimeError(f"{method} {url}: {response.status} {response.data[:500]!r}")
    return dict(response.json())
