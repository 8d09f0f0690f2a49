"""An engine's explanation in one normal form, and what each field and term contributed to a score.

Lucene writes its trees in English: what a node means stands in its description. Solr, Elasticsearch and OpenSearch send those
trees, the embedded engine writes the same words. Descriptions that are not known become one part, under their own words, so
that the parts always add up to the score.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

_DEEPEST = 100
_LONGEST = 120
_TIE = re.compile(r"max plus ([\d.eE+-]+) times others")
# A scoring leaf of Lucene: weight(title:star in 0) [BM25Similarity], result of: …
_WEIGHT = re.compile(r"(?:weight|fieldWeight)\((?P<what>.*?)(?: in \d+)?\)(?: \[|,|$)")
_CONSTANT = re.compile(r"ConstantScore\((?P<what>.*)\)(?:\^[\d.eE+-]+)?(?:,|$)")
_FIELD_AND_TERM = re.compile(r"(?P<field>[A-Za-z_][\w.\-]*):(?P<term>.+)", re.DOTALL)
_BARE = re.compile(r"\+?[A-Za-z_][\w.\-]*:\S.*(?:\^[\d.]+)?", re.DOTALL)
_GROUP = re.compile(r"(?:Synonym|spanNear|spanOr|intervals)\((?P<inner>.*)\)", re.DOTALL)
_ONLY_FACTORS = (
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
_EVERYTHING = ("*:*", "every document", "matchalldocsquery")


@dataclass(frozen=True)
class Node:
    """A node of the normal form. `value` is finite."""

    value: float
    description: str
    children: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Part:
    """What a field and term (or a function, then both are empty) gave to a score: `value` in points, `share` of 1."""

    field: str
    term: str
    label: str
    value: float
    share: float = 0.0


def normal(tree: Any, depth: int = 0) -> Node:
    """The normal form of an engine's tree `{value, description, details}`. What cannot be read becomes 0 and empty text."""
    if isinstance(tree, Node):
        return tree
    if not isinstance(tree, Mapping):
        return Node(0.0, "")
    value = tree.get("value")
    number = float(value) if isinstance(value, int | float) and abs(value) < 1e300 else 0.0
    children = tree.get("details", tree.get("children"))
    inner = children if isinstance(children, list | tuple) and depth < _DEEPEST else ()
    description = " ".join(str(tree.get("description", "")).split())
    return Node(
        number if math.isfinite(number) else 0.0, description, tuple(normal(child, depth + 1) for child in inner)
    )


def contributions(tree: Any) -> tuple[Part, ...]:
    """The parts of a score, largest first; parts of the same field and term are one. Shares add up to 1.

    Sums give what each summand has; of a maximum the winner counts, and the others with the tie breaker; a product is
    handed to the terms within it, its functions are named beside them. Where a part is negative, shares are of the absolute
    values. Empty where nothing scored.
    """
    merged: dict[str, Part] = {}
    for part in _parts(normal(tree)):
        before = merged.get(part.label)
        merged[part.label] = replace(part, value=part.value + (before.value if before else 0.0))
    total = math.fsum(abs(part.value) for part in merged.values())
    if not total or not math.isfinite(total):
        return ()
    parts = [replace(part, share=abs(part.value) / total) for part in merged.values() if part.value]
    return tuple(sorted(parts, key=lambda part: (-part.share, part.label)))


def _parts(node: Node) -> list[Part]:
    """Parts whose values add up to the node's."""
    if not node.value:
        return []
    text = node.description.lower()
    if part := _leaf(node):
        return [part]
    if not node.children:
        return [_other(node, _shortened(node.description))]
    tie = _TIE.match(text)
    # Functions have words of their own for how they are combined: "score mode [sum]".
    if tie or text.startswith(("max of", "sum of")) or _is_sum(node, text):
        return _scaled(_summands(node, text, float(tie[1]) if tie and _is_number(tie[1]) else 0.0), node.value)
    scoring = [child for child in node.children if child.value and _has_terms(child)]
    if scoring:
        return _scaled([part for child in scoring for part in _parts(child)], node.value, _factors(node, scoring))
    return [_other(node, _function_name(node))]


def _summands(node: Node, text: str, tie: float) -> list[Part]:
    children = [child for child in node.children if child.value]
    if not children:
        return [_other(node, _shortened(node.description))]
    adds_up = math.isclose(math.fsum(child.value for child in children), node.value, rel_tol=1e-3, abs_tol=1e-6)
    if text.startswith("max") and not adds_up:
        best = max(children, key=lambda child: child.value)
        rest = [child for child in children if child is not best] if tie else []
        lesser = [replace(part, value=part.value * tie) for child in rest for part in _parts(child)]
        return [*_parts(best), *lesser]
    return [part for child in children for part in _parts(child)]


def _leaf(node: Node) -> Part | None:
    """The node as a field and term, where its description names one."""
    text = node.description
    for pattern in (_WEIGHT, _CONSTANT):
        if match := pattern.match(text):
            what = match["what"]
            # A function around a whole query: its terms are within.
            if what.startswith("FunctionScoreQuery(") and any(map(_has_terms, node.children)):
                return None
            return _named(node, what)
    if text.lower() in _EVERYTHING or text.startswith("*:*"):
        return _other(node, "every document")
    return _named(node, text) if _BARE.fullmatch(text) and not node.children else None


def _named(node: Node, what: str) -> Part:
    what = re.sub(r"\^[\d.]+$", "", what)
    group = _GROUP.fullmatch(what)
    match = _FIELD_AND_TERM.search(group["inner"] if group else what)
    if what in ("*:*", ""):
        return _other(node, "every document")
    if not match:
        return _other(node, _shortened(what))
    field, term = match["field"], match["term"]
    # Synonym(title:tv title:television), spanNear([title:star, title:wars], 0, true), title:star title:wars
    several = re.findall(rf"(?:^|[\s,(\[]){re.escape(field)}:([^\s,\])]+)", group["inner"] if group else what)
    term = _shortened(" ".join(dict.fromkeys(several)) if group or len(several) > 1 else term)
    return Part(field, term, f"{field}:{term}", node.value)


def _other(node: Node, label: str) -> Part:
    return Part("", "", label or "other", node.value)


def _is_sum(node: Node, text: str) -> bool:
    """A node without known words whose children add up to it, and are not the numbers of a formula."""
    if "product of" in text or "score mode" in text or not any(map(_has_terms, node.children)):
        return False
    return math.isclose(math.fsum(child.value for child in node.children), node.value, rel_tol=1e-3, abs_tol=1e-6)


def _has_terms(node: Node) -> bool:
    if _WEIGHT.match(node.description) or _CONSTANT.match(node.description):
        return True
    return any(map(_has_terms, node.children))


def _factors(node: Node, scoring: list[Node]) -> str:
    """The functions a product's terms were multiplied by, as they are named beside them; plain boosts are not."""
    own = ["script"] if node.description.lower().startswith("script score") else []
    names = [_function_name(child) for child in node.children if child not in scoring and child.value != 1]
    shown = [name for name in names if name.lower() not in _ONLY_FACTORS and not name.lower().startswith("queryboost")]
    return "".join(f" × {name}" for name in [*own, *shown])


def _function_name(node: Node) -> str:
    """The first words below a node that name a function, not how functions are combined."""
    for one in _in_order(node):
        text = one.description
        if text and not re.match(
            r"(min|max|sum|product|math\.min) of|function score|result of|match filter", text.lower()
        ):
            return _shortened(
                re.sub(r",? ?(product of|computed (as|with)|result of|with parameters).*$", "", text).rstrip(" :")
            )
    return _shortened(node.description.rstrip(" :"))


def _in_order(node: Node) -> Iterable[Node]:
    yield node
    for child in node.children:
        yield from _in_order(child)


def _scaled(parts: list[Part], value: float, suffix: str = "") -> list[Part]:
    """Parts brought to a value they add up to."""
    total = math.fsum(part.value for part in parts)
    factor = value / total if total else 0.0
    if not factor or not math.isfinite(factor):
        return [Part("", "", "other", value)]
    return [replace(part, value=part.value * factor, label=part.label + suffix) for part in parts]


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _shortened(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
