"""Requests to Solr: form parameters, or the body of a JSON request with the same content."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from relevancy.engines.errors import BadQuery
from relevancy.engines.fields.snippets import REQUESTED_CLOSE, REQUESTED_LENGTH, REQUESTED_OPEN, highlighted_fields
from relevancy.engines.fields.values import texts_in
from relevancy.engines.types import Request

from .parameters import Parameters, allowed_body, allowed_parameters, field_list
from .references import check_body, check_field_list, check_parameters, has_macro

RESPONSE_FORMAT: Parameters = [("wt", "json"), ("echoParams", "none"), ("indent", "off")]
# Where the template itself has no macros, ${…} in the text of a query is only text.
_EXPAND_MACROS = "expandMacros"
_MACROS_OFF = (_EXPAND_MACROS, "false")
# The adapter decides how words are marked; how snippets are found and cut may be the template's choice.
_MARKING = re.compile(r"hl|(f\..+\.)?hl\.(fl|snippets|encoder|(simple|tag)\.(pre|post))")
_REPLACED = re.compile("q|fq|defType|rows|start|sort|rq")
_DEFAULT_SNIPPETS: Parameters = [
    ("hl.method", "unified"),
    ("hl.requireFieldMatch", "false"),
    ("hl.fragsize", str(REQUESTED_LENGTH)),
]
_MARKS = (("pre", REQUESTED_OPEN), ("post", REQUESTED_CLOSE))


@dataclass(frozen=True)
class SolrRequest:
    """The parameters of a form, in order; or those of a JSON request (`params`), whose rest is `body`."""

    parameters: Sequence[tuple[str, Any]]
    body: Mapping[str, Any] | None = None

    def with_parameters(self, *parameters: tuple[str, Any]) -> SolrRequest:
        """Returns the request with further parameters. Filters (`fq`) are added to the template's own."""
        if self.body is None:
            return SolrRequest([*self.parameters, *parameters])
        queries = [value for name, value in parameters if name == "fq"]
        body = {**self.body, "filter": [*self.filters, *queries]} if queries else self.body
        return SolrRequest([*self.parameters, *(pair for pair in parameters if pair[0] != "fq")], body)

    def without_parameters(self, names: re.Pattern[str]) -> SolrRequest:
        """Returns the request without the parameters of these names."""
        return replace(self, parameters=[pair for pair in self.parameters if not names.fullmatch(pair[0])])

    @property
    def filters(self) -> list[Any]:
        """Its filters: strings, or objects of a JSON request."""
        if self.body is None:
            return [value for name, value in self.parameters if name == "fq"]
        filters = self.body.get("filter", [])
        return list(filters) if isinstance(filters, list) else [filters]

    def only_filtered_by(self, solr_filter: Any, query: str) -> SolrRequest:
        """Returns a request for the documents of another query that pass one of the filters, with the other parameters, to
        which the filter may refer."""
        kept = self.without_parameters(_REPLACED)
        plain: Parameters = [("defType", "lucene"), ("rows", "1"), *RESPONSE_FORMAT]
        if self.body is None:
            return kept.with_parameters(("q", query), ("fq", solr_filter), *plain)
        body = {name: value for name, value in self.body.items() if name != "sort"}
        return replace(kept, body={**body, "query": query, "filter": [solr_filter]}).with_parameters(*plain)

    @property
    def as_json(self) -> dict[str, Any]:
        """The request as plain JSON: `params` of a form, or the `body` to send."""
        if self.body is None:
            return {"params": [list(pair) for pair in self.parameters]}
        return {"body": {**self.body, "params": dict(self.parameters)}}


def template_request(request: Request, allowed_indexes: Collection[str] = ()) -> SolrRequest:
    """Returns the template's part of a request.

    allowed_indexes: those that the query may refer to. Raises `BadQuery` naming what is refused.
    """
    rendered = request.render()
    has_macros = has_macro(request.template.literals())
    if request.template.syntax == "params":
        parameters = allowed_parameters(rendered)
        switches = [value for name, value in parameters if name == _EXPAND_MACROS]
        check_parameters(parameters, allowed_indexes, expands_macros=has_macros or bool(switches))
        if not has_macros and not switches and has_macro(value for _, value in parameters):
            parameters.append(_MACROS_OFF)
        return SolrRequest(parameters)
    if has_macros:
        raise BadQuery(
            "The template contains a macro (${…}), which cannot be checked in a JSON request.",
            hint="Use placeholders such as #$qOption.name##, or write the template as parameters.",
        )
    body = allowed_body(rendered)
    check_body(body, allowed_indexes)
    has_macros_as_text = has_macro(texts_in(body))
    solr_request = SolrRequest(list(body.pop("params", {}).items()), body)
    return solr_request.with_parameters(_MACROS_OFF) if has_macros_as_text else solr_request


def search_request(request: Request, allowed_indexes: Collection[str] = ()) -> SolrRequest:
    """Returns the whole request: the template's part, depth and fields, and highlighting if it is requested."""
    solr_request = template_request(request, allowed_indexes)
    check_field_list(field_list(request.fields), allowed_indexes)
    if request.highlight:
        solr_request = solr_request.without_parameters(_MARKING)
        names = {name for name, _ in solr_request.parameters}
        highlighted = highlighted_fields(request.fields)
        # A pattern such as `t*itle` for each name: Solr rejects a search that highlights an unknown field, but not a pattern that
        # matches nothing. Fields that a pattern matches by chance are ignored.
        patterns = "*" if highlighted is None else " ".join(f"{name[0]}*{name[1:]}" for name in highlighted)
        solr_request = solr_request.with_parameters(
            *[parameter for parameter in _DEFAULT_SNIPPETS if parameter[0] not in names],
            ("hl", "true"),
            ("hl.fl", patterns),
            ("hl.snippets", "1"),
            ("hl.encoder", ""),
            *[(f"hl.{kind}.{end}", mark) for kind in ("tag", "simple") for end, mark in _MARKS],
        )
    return solr_request.with_parameters(
        ("fl", field_list(request.fields)),
        ("rows", str(request.rows)),
        ("start", str(request.start)),
        *RESPONSE_FORMAT,
    )
