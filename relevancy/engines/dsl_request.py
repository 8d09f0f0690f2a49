"""What is sent for one request to Elasticsearch or OpenSearch: a search body, or a search template and its parameters.

Of a body only `from`, `size` and `_source` are replaced, `explain` and `profile` taken out, `track_total_hits` (where the body
does not say) and a highlight (where the run asks for one) put in. All else goes through as it was written: `knn`,
`retriever`, `rank`, `hybrid` queries, `search_pipeline`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .base import Request
from .dsl_answers import Body, source_filter
from .errors import BadQuery
from .fields import FieldSpec
from .highlights import ASKED_CLOSE, ASKED_OPEN, LENGTH, wanted

_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")
# Characters of a field that are looked through. Servers refuse to highlight a field of more than a million, and before
# Elasticsearch 8 and in OpenSearch the time grows with the square of the matches: 8 s where a word stands 6,000 times.
_LOOKED_THROUGH = 10_000


@dataclass(frozen=True)
class Asked:
    """One search. `template`: the body names or holds a search template, which the server fills in."""

    body: Body
    template: bool = False

    @property
    def verb(self) -> str:
        """What it is sent to, below the index."""
        return "_search/template" if self.template else "_search"


def asked_of(request: Request, longest: str) -> Asked:
    """What to send. `longest`: the product's name for how much of a field is highlighted. Raises `BadQuery`."""
    rendered = request.template.render(
        query=request.query, options=request.options, knobs=request.knobs, escape=request.escape
    )
    if _HALF_A_CHARACTER.search(request.query):
        raise BadQuery("The query contains half of a character (a lone surrogate), which cannot be sent.")
    if not isinstance(rendered, dict):
        raise BadQuery("The query template does not become a JSON object.", todo='Write {"query": …}.')
    body: Body = {name: value for name, value in rendered.items() if name not in ("explain", "profile")}
    if "id" in body or "source" in body:
        return Asked(_template(body, request), template=True)
    body |= {"from": request.start, "size": request.rows, "_source": source_filter(request.fields)}
    if not request.start:
        del body["from"]  # it is the default, and some hybrid queries refuse to be told
    body.setdefault("track_total_hits", True)
    if request.highlight:
        body["highlight"] = _highlight(body, request.fields, longest)
    return Asked(body)


def _template(body: Body, request: Request) -> Body:
    """Our depth goes into the parameters `from` and `size`, as Quepid sends it; the template must use them."""
    params = body.get("params", {})
    if not isinstance(params, dict):
        raise BadQuery("“params” of the search template must be a JSON object.")
    return {**body, "params": {**params, "from": request.start, "size": request.rows}}


def _highlight(body: Body, spec: FieldSpec, longest: str) -> Body:
    marks: Body = {"pre_tags": [ASKED_OPEN], "post_tags": [ASKED_CLOSE], "encoder": "default"}
    own = body.get("highlight")
    if isinstance(own, dict):
        return {**_without(own, ("tags_schema", "pre_tags", "post_tags", "encoder")), **marks}
    found: Body = {
        **marks,
        "number_of_fragments": 1,
        "fragment_size": LENGTH,
        # Where a word was looked for in a field that gathers others, it is marked in those that are displayed.
        "require_field_match": False,
        longest: _LOOKED_THROUGH,
        "fields": {name: {} for name in wanted(spec) or ("*",)},
    }
    query = body.get("query")
    without_filters = _without_filters(query)
    return {**found, "highlight_query": without_filters} if without_filters != query else found


def _without(node: Any, names: tuple[str, ...]) -> Any:
    if isinstance(node, Mapping):
        return {name: _without(value, names) for name, value in node.items() if name not in names}
    return [_without(item, names) for item in node] if isinstance(node, list) else node


def _without_filters(node: Any) -> Any:
    """A query without what only filters: its words were not looked for."""
    if isinstance(node, list):
        return [_without_filters(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    shown = {name: _without_filters(value) for name, value in node.items()}
    if isinstance(shown.get("bool"), dict):
        shown["bool"] = {name: value for name, value in shown["bool"].items() if name not in ("filter", "must_not")}
    return shown
