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
    """(Re)create a core with a private copy of the `movies` schema, index `docs` and commit; returns the core's URL.

    `fields`: further fields, name → field type of the schema (`text_en`, `text_general`, `string`, `strings`, `pint`,
    `pfloat`, `pdate`); `"text_general[]"` for a multi-valued one. `*_s`, `*_t`, `*_i`, `*_f` … exist as dynamic fields.
    """
    drop_solr_core(server, name)
    conf = server.home / "configsets" / "movies" / "conf"
    # A core made with configSet= would share its schema, and our changes of it, with every other such core.
    shutil.copytree(conf, server.home / name / "conf")
    _ask("GET", f"{server.url}/admin/cores?action=CREATE&name={name}&instanceDir={name}&wt=json")
    url = f"{server.url}/{name}"
    if fields:
        added = [
            {"name": field, "type": kind.removesuffix("[]"), "multiValued": kind.endswith("[]"), "stored": True}
            for field, kind in fields.items()
        ]
        _ask("POST", f"{url}/schema", {"add-field": added})
    for begin in range(0, len(docs), _BATCH):
        _ask("POST", f"{url}/update?commit=false", list(docs[begin : begin + _BATCH]))
    _ask("POST", f"{url}/update?commit=true", [])
    return url


def drop_solr_core(server: Server, name: str) -> None:
    """Remove a core and its files, if it is there."""
    status = _ask("GET", f"{server.url}/admin/cores?action=STATUS&core={name}&wt=json")["status"]
    if status.get(name):
        _ask("GET", f"{server.url}/admin/cores?action=UNLOAD&core={name}&deleteInstanceDir=true&wt=json")
    shutil.rmtree(server.home / name, ignore_errors=True)


def make_elasticsearch_index(
    server: Server,
    name: str,
    docs: Iterable[Mapping[str, Any]],
    mappings: Mapping[str, Any] | None = None,
    id_field: str | None = "id",
) -> str:
    """(Re)create an index of one shard, index `docs` (`_id` is their `id_field`; None: made up) and refresh; returns the
    index's URL. `mappings`: `{"properties": …}`, dynamic where not given."""
    url = f"{server.url}/{name}"
    urllib3.request("DELETE", url, timeout=60.0)
    settings = {"number_of_shards": 1, "number_of_replicas": 0}
    _ask("PUT", url, {"settings": settings, **({"mappings": mappings} if mappings else {})})
    lines: list[str] = []
    for doc in docs:
        lines.append(json.dumps({"index": {"_id": str(doc[id_field])} if id_field else {}}))
        lines.append(json.dumps(doc))
    for begin in range(0, len(lines), 2 * _BATCH):
        body = "\n".join(lines[begin : begin + 2 * _BATCH]) + "\n"
        answer = _ask("POST", f"{url}/_bulk", body, "application/x-ndjson")
        if answer["errors"]:
            raise RuntimeError(f"{url} refused documents: {json.dumps(answer)[:500]}")
    _ask("POST", f"{url}/_refresh")
    return url


def store_search_template(server: Server, name: str, source: str) -> None:
    """(Re)place a stored search template of an Elasticsearch or OpenSearch."""
    _ask("PUT", f"{server.url}/_scripts/{name}", {"script": {"lang": "mustache", "source": source}})


def _ask(method: str, url: str, body: Any = None, kind: str = "application/json") -> dict[str, Any]:
    data = None if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    answer = urllib3.request(method, url, body=data, headers={"content-type": kind}, timeout=60.0, retries=False)
    if answer.status >= 300:
        raise RuntimeError(f"{method} {url}: {answer.status} {answer.data[:500]!r}")
    return dict(answer.json())
