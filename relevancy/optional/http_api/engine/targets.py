"""What the engine `http` may send to: no API of Solr, Elasticsearch or OpenSearch that writes or administers.

Where a path is a search of one of these, a request is checked as the adapter for this engine checks it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from relevancy.engines.elastic import references as elastic_references
from relevancy.engines.errors import BadQuery, EndpointUnreachable
from relevancy.engines.fields.values import texts_in
from relevancy.engines.solr import references as solr_references
from relevancy.engines.transport.addresses import decode_path, path_problem

# Handlers of Solr; `graph`, `export` and `get` only read.
_SOLR_APIS = frozenset(
    {"admin", "blob", "config", "dataimport", "replication", "schema", "sql", "stream", "update", "____v2"}
)
_SOLR_V2_ROOTS = frozenset({"api", "v2"})
_SOLR_V2_APIS = frozenset({"aliases", "backups", "c", "cluster", "collections", "configsets", "cores", "node"})
_SOLR_SEARCHES = frozenset({"browse", "query", "select"})
# In Elasticsearch and OpenSearch, names of APIs begin with “_”. Those of other products that do are searches.
_SEARCH_APIS = frozenset({"_api", "_next", "_search", "_vti_bin"})
_LOOKUP_APIS = _SEARCH_APIS | {"_doc", "_source"}


def check_path(path: str, *, is_lookup: bool = False) -> None:
    """Raises `EndpointUnreachable` for a path that an engine could understand as an API that writes or administers.

    is_lookup: documents are read from it by their ids, with GET.
    """
    if problem := path_problem(path):
        raise EndpointUnreachable(f"The path “{path}” {problem}.", hint="Write the path as the API expects it.")
    segments = _segments(path)
    allowed = _LOOKUP_APIS if is_lookup else _SEARCH_APIS
    for previous, segment in zip(["", *segments], segments, strict=False):
        is_v2_api = previous in _SOLR_V2_ROOTS and segment in _SOLR_V2_APIS
        is_elastic_api = segment.startswith("_") and segment not in allowed
        if segment in _SOLR_APIS or is_v2_api or is_elastic_api:
            raise EndpointUnreachable(
                f"The path “{path}” contains “{segment}”, an API of a search engine that writes or administers.",
                hint="Relevancy sends searches only: enter the path of the search.",
            )


def check_parameters(path: str, parameters: Sequence[tuple[str, str]], allowed: Collection[str]) -> None:
    """Checks the query string or form of a request. Raises `BadQuery`. allowed: names of indexes that may be read."""
    if _is_solr(path):
        checked = [(name, value) for name, value in parameters if (name, value) != ("wt", "json")]
        solr_references.check_parameters(checked, allowed, expands_macros=True)
    if _is_elastic(path) and any(name in ("source", "pit") for name, _ in parameters):
        raise BadQuery("The parameter “source” is a query that is not checked.", hint="Send the query as a JSON body.")


def check_body(path: str, body: Any, allowed: Collection[str]) -> None:
    """Checks the JSON body of a request. Raises `BadQuery`. allowed: names of indexes that may be read."""
    if not isinstance(body, Mapping):
        return
    if _is_solr(path):
        _check_solr_body(body, allowed)
    if _is_elastic(path):
        elastic_references.check_body(body, allowed)
        if elastic_references.needs_rendering(body):
            raise BadQuery(
                "The search template cannot be checked.",
                hint="Use the engine Elasticsearch or OpenSearch for this endpoint.",
            )


def check_target(target: str, allowed: Collection[str]) -> None:
    """Checks the parameters in the path and query string of a look-up. Raises `BadQuery`."""
    path, _, query_string = target.partition("?")
    check_parameters(path, parse_qsl(query_string, keep_blank_values=True), allowed)


def _check_solr_body(body: Mapping[str, Any], allowed: Collection[str]) -> None:
    if solr_references.has_macro(texts_in(body)):
        raise BadQuery("The request contains a macro (${…}), which cannot be checked.", hint="Remove it.")
    params = body.get("params")
    kept = {name: value for name, value in params.items() if name != "wt"} if isinstance(params, Mapping) else {}
    solr_references.check_body({**body, "params": kept}, allowed)


def _segments(path: str) -> list[str]:
    """Returns the segments of a path, decoded and in lower case: servers differ in what they regard as equal."""
    return [segment.strip().lower() for segment in (decode_path(path) or "").split("/") if segment.strip()]


def _is_solr(path: str) -> bool:
    segments = _segments(path)
    return "solr" in segments or bool(_SOLR_SEARCHES & set(segments[-1:]))


def _is_elastic(path: str) -> bool:
    return "_search" in _segments(path)
