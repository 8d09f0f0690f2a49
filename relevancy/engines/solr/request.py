"""Requests to Solr: form parameters, or the body of a JSON request with the same content."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from relevancy.engines.errors import BadQuery
from relevancy.engines.fields.snippets import REQUESTED_CLOSE, REQUESTED_LENGTH, REQUESTED_OPEN, highlighted_fields
from relevancy.engines.types import Request

from .parameters import Parameters, allowed_body, allowed_parameters, field_list
from .references import check_body, check_field_list, check_parameters, has_macro, texts_of

RESPONSE_FORMAT: Parameters = [("wt", "json"), ("echoParams", "none"), ("indent", "off")]
# Where the template itself has no macros, ${…} in the text of a query is only text.
_EXPAND_MACROS = "expandMacros"
_MACROS_OFF = (_EXPAND_MACROS, "false")
# The adapter decides how words are marked; how snippets are found and cut may be the template's choice.
_MARKING = re.compile(r"hl|(f\..+\.)?hl\.(fl|snippets|encoder|(simple|tag)\.(pre|post))")
_DEFAULT_SNIPPETS: Parameters = [
    ("hl.method", "unified"),
    ("hl.requireFieldMatch", "false"),
    ("hl.fragsize", str(REQUESTED_LENGTH)),
]
_MARKS = (("pre", REQUESTED_OPEN), ("post", REQUESTED_CLOSE))


@dataclass(frozen=True)
class SolrRequest:
    """Either `parameters` (of a form, in order) or `body` (a JSON request); the other one is None."""

    parameters: Parameters | None = None
    body: Mapping[str, Any] | None = None

    def with_parameters(self, *parameters: tuple[str, str]) -> SolrRequest:
        """Returns the request with further parameters. Filters (`fq`) are added to the template's own."""
        if self.body is None:
            return SolrRequest(parameters=[*(self.parameters or ()), *parameters])
        body = dict(self.body)
        params = dict(body.get("params", {}))
        for name, value in parameters:
            if name == "fq":
                filters = body.get("filter", [])
                body["filter"] = [*(filters if isinstance(filters, list) else [filters]), value]
            else:
                params[name] = value
        return SolrRequest(body={**body, "params": params})

    @property
    def names(self) -> set[str]:
        """Names of its parameters."""
        if self.body is None:
            return {name for name, _ in self.parameters or ()}
        return set(self.body.get("params", {}))

    @property
    def filters(self) -> list[Any]:
        """Its filters: strings, or objects of a JSON request."""
        if self.body is None:
            return [value for name, value in self.parameters or () if name == "fq"]
        filters = self.body.get("filter", [])
        return list(filters) if isinstance(filters, list) else [filters]

    def only_filtered_by(self, solr_filter: Any, query: str) -> SolrRequest:
        """Returns a request for the documents of another query that pass one of the filters, with the other parameters, to
        which the filter may refer."""
        plain: Parameters = [("defType", "lucene"), ("rows", "1"), *RESPONSE_FORMAT]
        replaced = ("q", "fq", "defType", "rows", "start", "sort", "rq")
        if self.body is None:
            kept = [parameter for parameter in self.parameters or () if parameter[0] not in replaced]
            return SolrRequest(parameters=[*kept, ("q", query), ("fq", solr_filter), *plain])
        params = {name: value for name, value in self.body.get("params", {}).items() if name not in replaced}
        body = {**self.body, "query": query, "filter": [solr_filter], "params": params}
        return SolrRequest(body={name: value for name, value in body.items() if name != "sort"}).with_parameters(*plain)

    @property
    def as_json(self) -> dict[str, Any]:
        """The request as plain JSON."""
        if self.body is not None:
            return {"body": self.body}
        return {"params": [list(parameter) for parameter in self.parameters or ()]}


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
        return SolrRequest(parameters=parameters)
    if has_macros:
        raise BadQuery(
            "The template contains a macro (${…}), which cannot be checked in a JSON request.",
            hint="Use placeholders such as #$qOption.name##, or write the template as parameters.",
        )
    body = allowed_body(rendered)
    check_body(body, allowed_indexes)
    solr_request = SolrRequest(body=body)
    return solr_request.with_parameters(_MACROS_OFF) if has_macro(texts_of(body)) else solr_request


def search_request(request: Request, allowed_indexes: Collection[str] = ()) -> SolrRequest:
    """Returns the whole request: the template's part, depth and fields, and highlighting if it is requested."""
    solr_request = template_request(request, allowed_indexes)
    check_field_list(field_list(request.fields), allowed_indexes)
    if request.highlight:
        solr_request = _without_marking(solr_request)
        names = solr_request.names
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


def _without_marking(solr_request: SolrRequest) -> SolrRequest:
    if solr_request.body is None:
        return SolrRequest(
            parameters=[
                parameter for parameter in solr_request.parameters or () if not _MARKING.fullmatch(parameter[0])
            ]
        )
    params = solr_request.body.get("params", {})
    kept = {name: value for name, value in params.items() if not _MARKING.fullmatch(name)}
    return SolrRequest(body={**solr_request.body, "params": kept})
