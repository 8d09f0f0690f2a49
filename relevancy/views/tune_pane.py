"""The tune pane: one attempt to be edited, and all of them as a tree."""

from typing import Any

from django.db.models import Q

from relevancy import cases, evaluation
from relevancy.models import Case, Endpoint, ScorerVersion

from .listing import number


def tune_pane(case: Case, version: ScorerVersion, user: Any, wanted: str = "", typed: Any = None) -> dict[str, Any]:
    """The attempt being tuned and all others as a tree. `wanted`: its number, default the newest; `typed`: what was sent."""
    attempts = evaluation.attempts_with_scores(case, version)
    newest = attempts[0] if attempts else None
    shown = next((attempt for attempt in attempts if str(attempt.number) == wanted), newest)
    return {"attempts": tree(attempts), "attempt": shown, **(_fields(shown, user, typed) if shown else {})}


def _fields(attempt: Any, user: Any, typed: Any) -> dict[str, Any]:
    offered = Endpoint.objects.visible_to(user).filter(Q(archived_at=None) | Q(pk=attempt.endpoint_id))
    chosen = str((typed or {}).get("endpoint") or attempt.endpoint_id)
    syntax = cases.attempts.syntax(attempt.endpoint, attempt.template)
    return {
        "endpoints": list(offered.defer("credentials", "headers")),
        "chosen_endpoint": number(chosen) or attempt.endpoint_id,
        "syntax": syntax,
        "syntax_label": {"json": "JSON", "params": "Parameters"}[syntax],
        "knobs": [knob(name, value, typed) for name, value in attempt.knobs.items()],
    }


def knob(name: str, was: float, typed: Any = None) -> dict[str, Any]:
    """A knob with a slider whose range fits the value it had."""
    field = f"knob.{name}"
    small = abs(was) <= 1
    return {
        "name": name,
        "field": field,
        "value": (typed or {}).get(field, was),
        "was": was,
        "lowest": min(0, was),
        "top": 1 if small else max(10, abs(was) * 3),
        "step": 0.05 if small else 0.5,
    }


def tree(attempts: list[Any]) -> list[dict[str, Any]]:
    """Attempts, newest first, each with its lane: 0 for the newest one and its ancestors, 1 for side branches."""
    by_id = {attempt.pk: attempt for attempt in attempts}
    trunk: set[int] = set()
    at = attempts[0] if attempts else None
    while at is not None:
        trunk.add(at.pk)
        at = by_id.get(at.parent_id or 0)
    found = []
    for index, attempt in enumerate(attempts):
        parent = by_id.get(attempt.parent_id or 0)
        both = parent is not None and parent.score is not None and attempt.score is not None
        found.append(
            {
                "attempt": attempt,
                "trunk": attempt.pk in trunk,
                "first": index == 0,
                "last": index == len(attempts) - 1,
                "changed": cases.attempts.changes(attempt),
                "difference": attempt.score - parent.score if both and parent else None,
            }
        )
    return found
