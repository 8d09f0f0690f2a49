"""Requests to Elasticsearch and OpenSearch: a search body, or a search template with its parameters.

Of a template's body only `from`, `size` and `_source` are replaced, `explain` and `profile` removed, and `track_total_hits`
(unless the body sets it) and a highlight (if the run requests one) added. Everything else is sent as written: `knn`,
`retriever`, `rank`, `hybrid` queries, `search_pipeline`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from relevancy.engines.errors import BadQuery
from relevancy.engines.fields.snippets import REQUESTED_CLOSE, REQUESTED_LENGTH, REQUESTED_OPEN, highlighted_fields
from relevancy.engines.fields.specs import FieldSpec
from relevancy.engines.types import Request

Body = dict[str, Any]

# Characters of a field that are searched for matches. Servers refuse to highlight a field of more than a million, and before
# Elasticsearch 8 and in OpenSearch the time grows with the square of the matches: 8 s if a word occurs 6,000 times.
_MAX_ANALYZED_CHARACTERS = 10_000


@dataclass(frozen=True)
class ElasticRequest:
    """One search. `is_template`: the body names or contains a search template, which the server fills in."""

    body: Body
    is_template: bool = False

    @property
    def api(self) -> str:
        """The API that it is sent to, below the index."""
        return "_search/template" if self.is_template else "_search"


def elastic_request(request: Request, offset_parameter: str) -> ElasticRequest:
    """Returns what to send. Raises `BadQuery`.

    `offset_parameter`: the product's name for how many characters of a field are highlighted.
    """
    body: Body = {name: value for name, value in request.render().items() if name not in ("explain", "profile")}
    if "id" in body or "source" in body:
        return ElasticRequest(_with_depth(body, request), is_template=True)
    body |= {"from": request.start, "size": request.rows, "_source": source_filter(request.fields)}
    if not request.start:
        del body["from"]  # 0 is the default, and some hybrid queries reject the key
    body.setdefault("track_total_hits", True)
    if request.highlight:
        body["highlight"] = _highlight(body, request.fields, offset_parameter)
    return ElasticRequest(body)


def source_filter(fields: FieldSpec) -> bool | list[str]:
    """Returns the `_source` to request: True for all fields, False for none, else their names."""
    if fields.names is None:
        return True
    names = [name for name in dict.fromkeys((fields.id, *fields.names)) if name != "_id"]
    return names or False


def ids_query(field: str, ids: list[str]) -> Body:
    """Returns a query for documents by the values of their id field."""
    if field == "_id":
        return {"ids": {"values": ids}}
    # Only the `keyword` subfield of dynamically mapped text matches the whole value.
    return {"bool": {"should": [{"terms": {name: ids}} for name in (field, f"{field}.keyword")]}}


def _with_depth(body: Body, request: Request) -> Body:
    """Passes the depth as the parameters `from` and `size`, as Quepid does; the search template must use them."""
    params = body.get("params", {})
    if not isinstance(params, dict):
        raise BadQuery("“params” of the search template is not a JSON object.", hint='Write {"params": {…}}.')
    return {**body, "params": {**params, "from": request.start, "size": request.rows}}


def _highlight(body: Body, spec: FieldSpec, offset_parameter: str) -> Body:
    marks: Body = {"pre_tags": [REQUESTED_OPEN], "post_tags": [REQUESTED_CLOSE], "encoder": "default"}
    template_highlight = body.get("highlight")
    if isinstance(template_highlight, dict):
        return {**_without_keys(template_highlight, ("tags_schema", "pre_tags", "post_tags", "encoder")), **marks}
    highlight: Body = {
        **marks,
        "number_of_fragments": 1,
        "fragment_size": REQUESTED_LENGTH,
        # If the query searches a field that combines others, words are highlighted in those that are displayed.
        "require_field_match": False,
        offset_parameter: _MAX_ANALYZED_CHARACTERS,
        "fields": {name: {} for name in highlighted_fields(spec) or ("*",)},
    }
    query = body.get("query")
    without_filters = _without_filters(query)
    return {**highlight, "highlight_query": without_filters} if without_filters != query else highlight


def _without_keys(node: Any, names: tuple[str, ...]) -> Any:
    if isinstance(node, Mapping):
        return {name: _without_keys(value, names) for name, value in node.items() if name not in names}
    return [_without_keys(item, names) for item in node] if isinstance(node, list) else node


def _without_filters(node: Any) -> Any:
    """Returns a query without its filters, whose words the user did not search for."""
    if isinstance(node, list):
        return [_without_filters(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    query = {name: _without_filters(value) for name, value in node.items()}
    if isinstance(query.get("bool"), dict):
        query["bool"] = {name: value for name, value in query["bool"].items() if name not in ("filter", "must_not")}
    return query
