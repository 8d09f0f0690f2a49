"""Solr's JSON: documents, explanations, and its words for what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .base import Hit
from .errors import TooSlow, UnreadableAnswer
from .fields import FieldSpec
from .highlights import read_highlights


def total_and_docs(answer: dict[str, Any], where: str) -> tuple[int | None, list[dict[str, Any]]]:
    """Total and documents of an answer."""
    header = answer.get("responseHeader")
    if isinstance(header, dict) and header.get("partialResults") is True:
        raise TooSlow(
            "Solr stopped early and returned only a part of the results (partialResults).",
            todo="Raise or remove timeAllowed, or try a cheaper query.",
        )
    response = answer.get("response")
    docs = response.get("docs") if isinstance(response, dict) else None
    if not isinstance(docs, list) or not all(isinstance(doc, dict) for doc in docs):
        what = "grouped results, which are not a ranking" if "grouped" in answer else "JSON without “response.docs”"
        raise UnreadableAnswer(
            f"{where} answered with {what}.",
            todo="Is this a search handler of Solr, and the template without grouping?",
        )
    total = response.get("numFound") if isinstance(response, dict) else None
    return (total if isinstance(total, int) else None), docs


def read_hit(doc: dict[str, Any], fields: FieldSpec, snippets: Any = None) -> Hit:
    """One document, with its snippets where they were asked for. Raises `UnreadableAnswer` where it has no id."""
    score = doc.pop("score", None)
    picked = fields.pick(doc)
    return Hit(
        id=fields.id_of(doc),
        score=float(score) if isinstance(score, int | float) else None,
        fields=picked,
        highlights=read_highlights(snippets, picked, fields) if snippets else {},
    )


def snippets_of(answer: Mapping[str, Any], docs: Sequence[Any]) -> list[Any]:
    """For each document what was highlighted in it. Solr keys this by its unique key, which need not be the id field shown,
    and keeps the documents' order."""
    found = answer.get("highlighting")
    values = list(found.values()) if isinstance(found, dict) else []
    return values if len(values) == len(docs) else [None] * len(docs)


def first_tree(debug: Any, name: str) -> Mapping[str, Any] | None:
    """The only tree below `debug.explain` or `debug.explainOther`, whose keys are unique keys of documents."""
    trees = debug.get(name) if isinstance(debug, dict) else None
    if not isinstance(trees, dict):
        return None
    return next((tree for tree in trees.values() if isinstance(tree, dict)), None)


def product(answer: dict[str, Any], where: str) -> str:
    """Name and version from the answer of a system information handler."""
    lucene = answer.get("lucene")
    version = lucene.get("solr-spec-version") if isinstance(lucene, dict) else None
    if not isinstance(version, str):
        raise UnreadableAnswer(f"{where} answers, but not as Solr does.", todo="Is this the address of a Solr core?")
    return f"Solr {version}"


def own_message(body: Any) -> str:
    """Solr's words for what is wrong, or an empty string."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return ""
    return str(error.get("msg") or str(error.get("trace", "")).partition("\n")[0])
