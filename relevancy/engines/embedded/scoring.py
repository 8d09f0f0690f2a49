"""Scores of the embedded engine: a tree of weighted terms that becomes a tantivy query, and an explanation.

tantivy's own explanation calls every combination a sum and identifies fields by number. So combinations are explained here,
from the tree that the query was made of; only the terms are explained by tantivy.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tantivy

from relevancy.engines.explanations import no_match

Node = dict[str, Any]


@dataclass(frozen=True)
class Weight:
    """One term, phrase or similar word in one field. `label`: `field:term`."""

    label: str
    leaf: tantivy.Query
    boost: float = 1.0

    @property
    def text(self) -> str:
        """The query as people read it, as Lucene writes its own."""
        return self.label if self.boost == 1 else f"({self.label})^{self.boost:g}"

    def query(self) -> tantivy.Query:
        return self.leaf if self.boost == 1 else tantivy.Query.boost_query(self.leaf, self.boost)

    def explain(self, searcher: tantivy.Searcher, address: tantivy.DocAddress) -> Node | None:
        try:
            tree = json.loads(self.leaf.explain(searcher, address).to_json())
        except ValueError:  # the document does not contain the term
            return None
        details = list(tree.get("details") or ())
        if self.boost != 1:
            details.insert(0, _node(self.boost, "boost"))
        return _node(self.boost * tree["value"], f"weight({self.label})", details)


@dataclass(frozen=True)
class Sum:
    """The sum of parts, of which at least `minimum` must match."""

    parts: tuple[Part, ...]
    minimum: int = 1

    @property
    def text(self) -> str:
        """As `Weight.text`, with how many parts must match."""
        return f"({' '.join(part.text for part in self.parts)})" + (f"~{self.minimum}" if self.minimum > 1 else "")

    def explain_failure(self, searcher: tantivy.Searcher, address: tantivy.DocAddress) -> Node:
        """Returns which parts a document lacks that does not match enough of them."""
        if self.minimum < 2:
            return no_match("No matching clauses")
        explained = [(part, part.explain(searcher, address)) for part in self.parts]
        missing = [no_match(f"no match on optional clause ({part.text})") for part, tree in explained if tree is None]
        matching = [tree for _, tree in explained if tree is not None]
        return no_match(f"Failure to match minimum number of optional clauses: {self.minimum}", *matching, *missing)

    def query(self) -> tantivy.Query:
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, part.query()) for part in self.parts], self.minimum)

    def explain(self, searcher: tantivy.Searcher, address: tantivy.DocAddress) -> Node | None:
        details = _explain_matching(self.parts, searcher, address)
        if len(details) < 2:
            return details[0] if details else None
        return _node(sum(detail["value"] for detail in details), "sum of:", details)


@dataclass(frozen=True)
class Best:
    """The best part, plus `tie` times the others."""

    parts: tuple[Part, ...]
    tie: float

    @property
    def text(self) -> str:
        """As `Weight.text`."""
        return f"({' | '.join(part.text for part in self.parts)})" + (f"~{self.tie:g}" if self.tie else "")

    def query(self) -> tantivy.Query:
        return tantivy.Query.disjunction_max_query([part.query() for part in self.parts], self.tie)

    def explain(self, searcher: tantivy.Searcher, address: tantivy.DocAddress) -> Node | None:
        """Returns a tree whose details add up to its value; parts that contribute nothing are omitted."""
        matching = _explain_matching(self.parts, searcher, address)
        best, *others = sorted(matching, key=lambda node: -node["value"]) or (None,)
        if best is None or not others or not self.tie:
            return best
        details = [best, *(_scaled(node, self.tie) for node in others)]
        return _node(sum(detail["value"] for detail in details), f"max plus {self.tie:g} times others of:", details)


Part = Weight | Sum | Best


def sum_of(parts: Sequence[Part], minimum: int = 1) -> Part:
    """Returns the sum of parts; a single one is itself."""
    return parts[0] if len(parts) == 1 else Sum(tuple(parts), minimum)


def best_of(parts: Sequence[Part], tie: float) -> Part:
    """Returns the best of parts; a single one is itself."""
    return parts[0] if len(parts) == 1 else Best(tuple(parts), tie)


def _explain_matching(parts: tuple[Part, ...], searcher: tantivy.Searcher, address: tantivy.DocAddress) -> list[Node]:
    explanations = (part.explain(searcher, address) for part in parts)
    return [node for node in explanations if node is not None]


def _scaled(node: Node, factor: float) -> Node:
    """Returns the tree times a factor: a term gets the factor as a detail, a combination scales its details."""
    if node["description"].startswith("weight("):
        details = [_node(factor, "tie"), *node["details"]]
    else:
        details = [_scaled(detail, factor) for detail in node["details"]]
    return _node(node["value"] * factor, node["description"], details)


def _node(value: float, description: str, details: list[Node] | None = None) -> Node:
    return {"value": value, "description": description, "details": details or []}
