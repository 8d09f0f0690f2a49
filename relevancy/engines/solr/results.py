"""Solr's JSON responses: documents, explanations, versions and error messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from relevancy.engines.errors import TooSlow, UnreadableResponse
from relevancy.engines.fields.snippets import read_highlights
from relevancy.engines.fields.specs import FieldSpec
from relevancy.engines.fields.values import as_number, object_at, value_at
from relevancy.engines.types import Hit, Interpretation, Timing

_MAX_TIMING_LEVEL = 4


def total_and_documents(response: dict[str, Any], url: str) -> tuple[int | None, list[dict[str, Any]]]:
    """Returns total and documents of a search. Raises if the response is partial or not a ranking."""
    if value_at(response, "responseHeader.partialResults") is True:
        raise TooSlow(
            "Solr stopped early and returned only a part of the results (partialResults).",
            hint="Raise or remove timeAllowed, or try a cheaper query.",
        )
    documents = value_at(response, "response.docs")
    if not isinstance(documents, list) or not all(isinstance(document, dict) for document in documents):
        content = (
            "grouped results, which are not a ranking" if "grouped" in response else "JSON without “response.docs”"
        )
        raise UnreadableResponse(
            f"{url} returned {content}.",
            hint="Check that this is a search handler of Solr, and that the template does not group results.",
        )
    total = value_at(response, "response.numFound")
    return (total if isinstance(total, int) else None), documents


def read_hit(document: dict[str, Any], fields: FieldSpec, highlights: Any = None) -> Hit:
    """Returns one document with its highlights. Raises `UnreadableResponse` if it has no id."""
    score = document.pop("score", None)
    values = fields.pick(document)
    return Hit(
        id=fields.id_of(document),
        score=as_number(score),
        fields=values,
        highlights=read_highlights(highlights, values, fields) if highlights else {},
    )


def highlights_of(response: Mapping[str, Any], documents: Sequence[Any]) -> list[Any]:
    """Returns the highlights of each document.

    Solr keys them by its unique key, which need not be the displayed id, in the order of the documents.
    """
    values = list(object_at(response, "highlighting").values())
    return values if len(values) == len(documents) else [None] * len(documents)


def first_explanation(response: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """Returns the only tree below `debug.explain` or `debug.explainOther`, whose keys are unique keys of documents."""
    return next((tree for tree in object_at(response, f"debug.{name}").values() if isinstance(tree, dict)), None)


def explanations_of(response: Mapping[str, Any], doc_ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Returns the trees below `debug.explain` by document id.

    Solr keys them by its unique key, which need not be the displayed id, in the order of the documents.
    """
    trees = object_at(response, "debug.explain")
    by_id = zip(doc_ids, trees.values(), strict=True) if len(trees) == len(doc_ids) else trees.items()
    return {doc_id: tree for doc_id, tree in by_id if isinstance(tree, dict)}


_QUERY_PARTS = (
    ("QParser", "Query parser"),
    ("parsedquery_toString", "Parsed query"),
    ("parsed_filter_queries", "Filters"),
    ("parsed_boost_queries", "Boost queries"),
    ("boostfuncs", "Boost functions"),
    ("rerank", "Reranking"),
)


def interpretation_of(response: Mapping[str, Any]) -> Interpretation:
    """Returns what `debug` says of the query and of the time that each component took, those that took none left out."""
    debug = response.get("debug")
    if not isinstance(debug, dict):
        raise UnreadableResponse(
            "Solr returned no “debug”.", hint="Check that the request handler has the component “debug”."
        )
    values = [(label, debug.get(name)) for name, label in _QUERY_PARTS]
    parts = [
        (label, "\n".join(map(str, value)) if isinstance(value, list) else str(value or "")) for label, value in values
    ]
    timing = object_at(debug, "timing")
    timings = tuple(_timings("Solr", timing, 0)) if timing else ()
    return Interpretation(tuple((label, text) for label, text in parts if text), timings)


def _timings(label: str, timing: Mapping[str, Any], level: int) -> Iterator[Timing]:
    milliseconds = as_number(timing.get("time")) or 0.0
    if milliseconds <= 0 and level:
        return
    yield Timing(label, milliseconds, level)
    for name, inner in timing.items():
        if isinstance(inner, dict) and level < _MAX_TIMING_LEVEL:
            yield from _timings(name, inner, level + 1)


def product_version(response: dict[str, Any], url: str) -> str:
    """Returns product and version from the response of a system information handler."""
    version = value_at(response, "lucene.solr-spec-version")
    if not isinstance(version, str):
        raise UnreadableResponse(f"{url} responds, but not as Solr does.", hint="Check that this is a Solr core.")
    return f"Solr {version}"


def error_message(body: Any) -> str:
    """Returns Solr's own message from an error response, or an empty string."""
    error = object_at(body, "error")
    return str(error.get("msg") or str(error.get("trace", "")).partition("\n")[0])
