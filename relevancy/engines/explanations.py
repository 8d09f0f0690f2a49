"""Explanations of scores: one normal form, and what each field and term contributed.

Lucene's explanations are trees whose nodes are described in English. Solr, Elasticsearch and OpenSearch return such trees,
and the embedded engine uses the same wording. A node with an unknown description becomes one contribution labelled with that
description, so that the contributions always add up to the score.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from .types import Contribution, ExplanationNode, Factor, FailedClause

MAX_DEPTH = 100
_MAX_LABEL_LENGTH = 120
_MAX_CLAUSE_LENGTH = 400
_TIE = re.compile(r"max plus (\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?) times others")
# A scoring leaf of Lucene, such as: weight(title:star in 0) [BM25Similarity], result of:
_WEIGHT = re.compile(r"(?:weight|fieldWeight)\((?P<query>.*?)(?: in \d+)?\)(?: \[|,|$)")
_CONSTANT = re.compile(r"ConstantScore\((?P<query>.*)\)(?:\^[\d.eE+-]+)?(?:,|$)")
_FIELD_AND_TERM = re.compile(r"(?P<field>[A-Za-z_][\w.\-]*):(?P<term>.+)", re.DOTALL)
_BARE_TERM = re.compile(r"\+?[A-Za-z_][\w.\-]*:\S.*(?:\^[\d.]+)?", re.DOTALL)
_GROUP = re.compile(r"(?:Synonym|spanNear|spanOr|intervals)\((?P<inner>.*)\)", re.DOTALL)
_UNNAMED_FACTORS = (
    "boost",
    "queryboost",
    "querynorm",
    "maxboost",
    "tie",
    "constant score",
    "coord",
    "weight",
    "primaryweight",
)
_FACTOR_NAMES = (("idf", "idf"), ("tf", "tf"), ("freq /", "tf"), ("fieldnorm", "field norm"), ("(k1+1)", "k1 + 1"))
_INPUTS = {
    "freq": "occurrences",
    "dl": "length of the field",
    "n": "documents with the term",
    "docFreq": "documents with the term",
    "N": "documents",
    "docCount": "documents",
}
# Conditions that a document does not meet, in the words of Lucene. An engine may cut a long description, and its bracket.
_REQUIRED = re.compile(r"no match on required clause \((?P<clause>.*)", re.DOTALL)
_OPTIONAL = re.compile(r"no match on optional clause \((?P<clause>.*)", re.DOTALL)
_PROHIBITED = re.compile(r"match on prohibited clause \((?P<clause>.*)", re.DOTALL)
_MINIMUM = re.compile(r"Failure to match minimum number of optional clauses: (?P<minimum>\d{1,9})")
_CONSTANT_FAILURE = re.compile(r"(?:ConstantScore\()?(?P<clause>.+?)\)? doesn't match id \d+", re.DOTALL)
_CONJUNCTION = "failure to meet condition"
_ALTERNATIVES = "no matching clause"
_FAILURE = re.compile(
    r"(no match\b|no matching|failure to|match on prohibited)|.*(doesn't match|does not match|not in top|too low)",
    re.IGNORECASE,
)
_NAMELESS_FAILURE = re.compile(r"no match(ing (term|clauses?))?\b", re.IGNORECASE)
_MATCH_ALL = ("*:*", "every document", "matchalldocsquery")


def parse_explanation(tree: Any, depth: int = 0) -> ExplanationNode:
    """Returns the normal form of an engine's tree `{value, description, details}`.

    Never raises: an invalid value becomes 0, an invalid description becomes empty.
    """
    if isinstance(tree, ExplanationNode):
        return tree
    if not isinstance(tree, Mapping):
        return ExplanationNode(0.0, "")
    value = tree.get("value")
    number = float(value) if isinstance(value, int | float) and abs(value) < 1e300 else 0.0
    details = tree.get("details", tree.get("children"))
    children = details if isinstance(details, list | tuple) and depth < MAX_DEPTH else ()
    description = " ".join(str(tree.get("description", "")).split())
    return ExplanationNode(
        value=number if math.isfinite(number) else 0.0,
        description=description,
        children=tuple(parse_explanation(child, depth + 1) for child in children),
        # Elasticsearch only says of a whole tree whether it matches.
        matches=tree.get("match") is not False and not (number == 0 and bool(_FAILURE.match(description))),
    )


def no_match(description: str, *details: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the node of an explanation that says what a document does not meet."""
    return {"match": False, "value": 0.0, "description": description, "details": list(details)}


def left_out(tree: Mapping[str, Any], *reasons: str) -> dict[str, Any]:
    """Returns the explanation of a document that matches the query (`tree`), but is not returned.

    `reasons`: what leaves it out, as clauses such as `fq=genre:comedy`.
    """
    clauses = [no_match(f"no match on required clause ({reason})") for reason in reasons]
    return no_match("Failure to meet condition(s) of required/prohibited clause(s)", *clauses, tree)


def failed_clauses(tree: Any) -> tuple[FailedClause, ...]:
    """Returns the conditions that a document does not meet, in the order of the query; empty if it matches.

    The innermost clauses are named: of “required (+title:lord +title:rings)”, only “required title:rings”, if just that is missing.
    """
    root = parse_explanation(tree)
    return () if root.matches else tuple(dict.fromkeys(_failures(root, "")))


def matching_part(tree: Any) -> ExplanationNode:
    """Returns what the clauses that match a document contribute, as a sum, although the document as a whole does not match.

    Of alternatives that all fail, only the one that contributes most. The whole tree if the document matches.
    """
    root = parse_explanation(tree)
    return root if root.matches else _sum_of(_matching_nodes(root))


def _sum_of(nodes: Iterable[ExplanationNode]) -> ExplanationNode:
    children = tuple(nodes)
    return ExplanationNode(math.fsum(child.value for child in children), "sum of:", children, bool(children))


def _matching_nodes(node: ExplanationNode) -> list[ExplanationNode]:
    if _PROHIBITED.match(node.description):
        return []
    parts = [
        [child] if child.matches and child.value else [] if child.matches else _matching_nodes(child)
        for child in node.children
    ]
    if node.description.lower().startswith(_ALTERNATIVES):
        return max(parts, key=lambda nodes: _sum_of(nodes).value, default=[])
    return [matching for nodes in parts for matching in nodes]


def _failures(node: ExplanationNode, clause: str) -> Iterable[FailedClause]:
    """Yields the failures at or below a node that does not match. `clause`: the text of the innermost clause around it."""
    text = node.description
    failed = [child for child in node.children if not child.matches]
    if match := _PROHIBITED.match(text):
        yield FailedClause("prohibited", _clause_text(match["clause"]))
    elif match := _REQUIRED.match(text):
        clause = _clause_text(match["clause"])
        inner = [failure for child in failed for failure in _failures(child, clause)]
        yield from inner or [FailedClause("required", clause)]
    elif match := _MINIMUM.match(text):
        missing = [optional for child in failed if (optional := _OPTIONAL.match(child.description))]
        matching = [part.label for child in node.children if child.matches for part in contributions(child)]
        yield FailedClause(
            "minimum",
            clause,
            int(match["minimum"]),
            tuple(dict.fromkeys(matching)),
            tuple(_clause_text(optional["clause"]) for optional in missing),
        )
    elif text.lower().startswith(_CONJUNCTION) and failed:
        for child in failed:
            yield from _failures(child, clause)
    elif match := _CONSTANT_FAILURE.fullmatch(text):
        yield FailedClause("required", clause or match["clause"])
    elif clause or not text or _NAMELESS_FAILURE.match(text):
        yield FailedClause("required", clause)
    else:
        yield FailedClause("other", _truncated(text))


def _clause_text(text: str) -> str:
    """Returns a clause without the bracket that ends its description, and without Lucene's mark of a filter."""
    return _truncated(text.removesuffix(")").removeprefix("#"), _MAX_CLAUSE_LENGTH)


def contributions(tree: Any) -> tuple[Contribution, ...]:
    """Returns the contributions to a score, largest first, one per field and term. Shares add up to 1.

    Of a sum, each summand contributes its value. Of a maximum, the largest child counts, and the others times the tie
    breaker. A product counts as the contribution of the terms in it, whose label names its functions. If a contribution is
    negative, shares are of the absolute values. Empty if nothing scored.
    """
    merged: dict[str, Contribution] = {}
    for part in _contributions(parse_explanation(tree)):
        earlier = merged.get(part.label)
        # A sum of products has no factors.
        merged[part.label] = replace(part, value=part.value + earlier.value, factors=()) if earlier else part
    total = math.fsum(abs(part.value) for part in merged.values())
    if not total or not math.isfinite(total):
        return ()
    parts = [replace(part, share=abs(part.value) / total) for part in merged.values() if part.value]
    return tuple(sorted(parts, key=lambda part: (-part.share, part.label)))


def _contributions(node: ExplanationNode) -> list[Contribution]:
    """Returns contributions whose values add up to the node's value."""
    if not node.value:
        return []
    text = node.description.lower()
    if leaf := _leaf(node):
        return [leaf]
    if not node.children:
        return [_labelled(node, _truncated(node.description))]
    tie = _TIE.match(text)
    # Function scores describe how they are combined in words of their own: "score mode [sum]". Products are factors of a formula.
    may_be_sum = "product of" not in text and "score mode" not in text and any(map(_has_terms, node.children))
    if tie or text.startswith(("max of", "sum of")) or (may_be_sum and _adds_up(node)):
        return _scaled(_of_sum_or_max(node, text, float(tie[1]) if tie else 0.0), node.value)
    scoring = [child for child in node.children if child.value and _has_terms(child)]
    if scoring:
        parts = [part for child in scoring for part in _contributions(child)]
        return _scaled(parts, node.value, _factors(node, scoring))
    return [_labelled(node, _function_name(node))]


def _of_sum_or_max(node: ExplanationNode, text: str, tie: float) -> list[Contribution]:
    children = [child for child in node.children if child.value]
    if not children:
        return [_labelled(node, _truncated(node.description))]
    if text.startswith("max") and not _adds_up(node):
        best = max(children, key=lambda child: child.value)
        others = [child for child in children if child is not best] if tie else []
        smaller = [replace(part, value=part.value * tie) for child in others for part in _contributions(child)]
        return [*_contributions(best), *smaller]
    return [part for child in children for part in _contributions(child)]


def _leaf(node: ExplanationNode) -> Contribution | None:
    """Returns the contribution of the field and term that the node's description names, None if it names none."""
    text = node.description
    for pattern in (_WEIGHT, _CONSTANT):
        if match := pattern.match(text):
            query = match["query"]
            # A function around a whole query: its children name the terms.
            if query.startswith("FunctionScoreQuery(") and any(map(_has_terms, node.children)):
                return None
            return _of_query(node, query)
    if text.lower() in _MATCH_ALL or text.startswith("*:*"):
        return _labelled(node, "every document")
    return _of_query(node, text) if _BARE_TERM.fullmatch(text) and not node.children else None


def _of_query(node: ExplanationNode, query: str) -> Contribution:
    query = re.sub(r"\^[\d.]+$", "", query)
    group = _GROUP.fullmatch(query)
    terms_text = group["inner"] if group else query
    match = _FIELD_AND_TERM.search(terms_text)
    if query in ("*:*", ""):
        return _labelled(node, "every document")
    if not match:
        return _labelled(node, _truncated(query))
    field, term = match["field"], match["term"]
    # Synonym(title:tv title:television), spanNear([title:star, title:wars], 0, true), title:star title:wars
    terms = re.findall(rf"(?:^|[\s,(\[]){re.escape(field)}:([^\s,\])]+)", terms_text)
    term = _truncated(" ".join(dict.fromkeys(terms)) if group or len(terms) > 1 else term)
    return Contribution(field, term, f"{field}:{term}", node.value, factors=_formula_factors(node))


def _formula_factors(node: ExplanationNode) -> tuple[Factor, ...]:
    """Returns the factors of a term's formula, each name once; empty if the node's children are not factors of its value."""
    factors: dict[str, Factor] = {}
    for child in _multiplied(node):
        text = child.description
        shown = _truncated(re.split(r"[,(]", text)[0].strip() or text)[:40]
        name = next((name for beginning, name in _FACTOR_NAMES if text.lower().startswith(beginning)), shown)
        names = {_INPUTS.get(part.description.split(",")[0]): part.value for part in child.children}
        inputs = tuple((name, value) for name, value in names.items() if name)
        computed = factors.get(name)
        factors[name] = (
            Factor(name, child.value * computed.value, computed.inputs)
            if computed
            else Factor(name, child.value, inputs)
        )
    product = math.prod(factor.value for factor in factors.values())
    is_product = factors and math.isclose(product, node.value, rel_tol=2e-3)
    return tuple(factors.values()) if is_product and all(factor.value > 0 for factor in factors.values()) else ()


def _multiplied(node: ExplanationNode) -> Iterable[ExplanationNode]:
    """Yields the nodes whose values a formula multiplies, those of a product in a product included."""
    if len(node.children) == 1 and math.isclose(node.children[0].value, node.value, rel_tol=1e-4):
        (child,) = node.children
        if child.children and "idf, computed" not in child.description:
            yield from _multiplied(child)
            return
    for child in node.children:
        if child.children and "product of" in child.description:
            yield from _multiplied(child)
        else:
            yield child


def _labelled(node: ExplanationNode, label: str) -> Contribution:
    return Contribution("", "", label or "other", node.value)


def _adds_up(node: ExplanationNode) -> bool:
    return math.isclose(math.fsum(child.value for child in node.children), node.value, rel_tol=1e-3, abs_tol=1e-6)


def _has_terms(node: ExplanationNode) -> bool:
    if _WEIGHT.match(node.description) or _CONSTANT.match(node.description):
        return True
    return any(map(_has_terms, node.children))


def _factors(node: ExplanationNode, scoring: list[ExplanationNode]) -> str:
    """Returns the functions that a product multiplied its terms by, as a suffix of their labels, without plain boosts."""
    script = ["script"] if node.description.lower().startswith("script score") else []
    names = [_function_name(child) for child in node.children if child not in scoring and child.value != 1]
    named = [
        name for name in names if name.lower() not in _UNNAMED_FACTORS and not name.lower().startswith("queryboost")
    ]
    return "".join(f" × {name}" for name in [*script, *named])


def _function_name(node: ExplanationNode) -> str:
    """Returns the first description at or below a node that names a function, not how functions are combined."""
    for descendant in _depth_first(node):
        text = descendant.description
        if text and not re.match(
            r"(min|max|sum|product|math\.min) of|function score|result of|match filter", text.lower()
        ):
            return _truncated(
                re.sub(r",? ?(product of|computed (as|with)|result of|with parameters).*$", "", text).rstrip(" :")
            )
    return _truncated(node.description.rstrip(" :"))


def _depth_first(node: ExplanationNode) -> Iterable[ExplanationNode]:
    yield node
    for child in node.children:
        yield from _depth_first(child)


def _scaled(parts: list[Contribution], value: float, label_suffix: str = "") -> list[Contribution]:
    """Returns the contributions scaled so that they add up to `value`."""
    total = math.fsum(part.value for part in parts)
    factor = value / total if total else 0.0
    if not factor or not math.isfinite(factor):
        return [Contribution("", "", "other", value)]
    return [replace(part, value=part.value * factor, label=part.label + label_suffix) for part in parts]


def _truncated(text: str, length: int = _MAX_LABEL_LENGTH) -> str:
    text = text.strip()
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
