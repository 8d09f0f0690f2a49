"""Scores of single queries for given documents: pseudo-fields such as `clause_0:query($clause_0,-1e30)`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from relevancy.engines.errors import BadQuery, UnsupportedByEngine
from relevancy.engines.fields.values import as_number
from relevancy.engines.templates.template import Template
from relevancy.engines.types import Request, WeightedClause

from .parameters import Parameters, allowed_parameters
from .references import has_macro

CLAUSE = "clause"  # the parameter that a template of a clause begins with
_RESERVED = frozenset({"q", "fq", "fl", "defType", "rows", "start", "sort", "doc_ids", "expandMacros"})
# What a document gets that a query does not match, which is not 0: a query can give a score of 0.
_NO_MATCH = -1e30


def clause_parameters(requests: Iterable[Request]) -> tuple[Parameters, list[str]]:
    """Returns the parameters with the queries, and the pseudo-fields with their scores. Raises `BadQuery`."""
    values: dict[str, str] = {}
    pseudo_fields = []
    for number, request in enumerate(requests):
        rendered = request.render()
        if request.template.syntax != "params" or has_macro(request.template.literals()):
            raise BadQuery("A query for single scores is the value of a parameter, without macros (${…}).")
        own = f"{CLAUSE}_{number}"
        for name, value in allowed_parameters(rendered):
            key = own if name == CLAUSE else name
            if key in _RESERVED or values.setdefault(key, value) != value:
                raise BadQuery(
                    f"The parameter “{name}” of a query for single scores is set twice.", hint="Give it another name."
                )
        pseudo_fields.append(f"{own}:query(${own},{_NO_MATCH:g})")
    return list(values.items()), pseudo_fields


def clause_scores_of(document: Mapping[str, Any], names: Sequence[str]) -> dict[str, float]:
    """Returns the scores of the queries that match a document, by their names."""
    scores = {name: as_number(document.get(f"{CLAUSE}_{number}")) for number, name in enumerate(names)}
    return {name: score for name, score in scores.items() if score is not None and score > _NO_MATCH / 2}


def reranked_template(template: Template, clauses: Sequence[WeightedClause], *, window: int) -> str:
    """Returns the template with a `rerank` by a weighted sum. Raises `UnsupportedByEngine`."""
    names = {parameter.name for parameter in template.parameters if isinstance(parameter.name, str)}
    if template.syntax != "params":
        raise UnsupportedByEngine("The template is a JSON request. Write it as parameters.")
    for name in ("rq", "rqq", "sort", *(f"f_{clause.name}" for clause in clauses)):
        if name in names:
            raise UnsupportedByEngine(f"The template has the parameter “{name}” already.")
    values = [f"def({clause.text},0)" if clause.is_number else f"query($f_{clause.name},0)" for clause in clauses]
    products = ",".join(f"product(##{clause.knob}##,{value})" for clause, value in zip(clauses, values, strict=True))
    rerank = f"{{!rerank reRankQuery=$rqq reRankDocs={window} reRankWeight=1 reRankOperator=replace}}"
    lines = [template.text.rstrip(), f"&rq={rerank}", f"&rqq={{!func}}sum({products})"]
    lines += [f"&f_{clause.name}={clause.text}" for clause in clauses if not clause.is_number]
    return "\n".join(lines)
