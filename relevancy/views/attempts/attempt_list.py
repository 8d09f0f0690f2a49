"""The attempts of a case as a tree, with their scores."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from relevancy import runs, scores
from relevancy.models import Case, ScorerVersion

MAX_INDENT = 8  # steps: deeper branches stand below each other


class Node(NamedTuple):
    """An attempt. depth: how deep it is in the tree, from 0. children: numbers of the attempts made from it, ascending."""

    pk: int
    number: int
    depth: int
    children: list[int]


def read_tree(case: Case) -> list[Node]:
    """Returns the attempts in the order of a tree: each one is followed by those made from it, newest first."""
    rows = list(case.attempts.order_by("number").values_list("pk", "number", "parent_id"))
    present = {pk for pk, *_ in rows}
    by_parent: dict[int | None, list[tuple[int, int]]] = defaultdict(list)
    for pk, number, parent_id in rows:
        by_parent[parent_id if parent_id in present else None].append((pk, number))
    tree = []
    waiting = [(pk, number, 0) for pk, number in by_parent[None]]
    while waiting:
        pk, number, depth = waiting.pop()
        tree.append(Node(pk, number, depth, [child for _, child in by_parent[pk]]))
        waiting += [(child_pk, child, depth + 1) for child_pk, child in by_parent[pk]]
    return tree


def build_rows(case: Case, version: ScorerVersion, nodes: Iterable[Node]) -> list[dict[str, Any]]:
    """Returns attempts with their scores. changes: in the parent. scored_run: the number of the run that the score is of."""
    by_number = {node.number: node for node in nodes}
    scored = {row.attempt.number: row for row in scores.attempts_with_scores(case, version, numbers=list(by_number))}
    return [
        {
            "attempt": scored[number].attempt,
            "scored": scored[number],
            "scored_run": case_score.run.number if (case_score := scored[number].case_score) else None,
            "indent": min(node.depth, MAX_INDENT),
            "changes": runs.find_changes(scored[number].attempt),
            "children": node.children,
        }
        for number, node in by_number.items()
        if number in scored
    ]
