"""Why a document has its score: asked from the engine when somebody wants to know, kept nowhere."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relevancy import engines
from relevancy.engines.explaining import Node, Part, contributions, normal
from relevancy.models import Case, Ranking

from .asking import Asker
from .chunk import moved_away
from .connecting import connect

COLOURS = 5  # the last one is “everything else”
_WORD = re.compile(r"[A-Za-z_][\w.\-]*")


@dataclass(frozen=True)
class Slice:
    """What one field gave to a score. `share` of 1; `colour` 1–5, the same for a field in all attempts of a case."""

    field: str
    value: float
    share: float
    colour: int


@dataclass(frozen=True)
class Explained:
    """Why a document has the engine score it has now. `parts`: by field and term, `slices`: by field, largest first each.

    `raw` is the engine's own tree, `tree` its normal form.
    """

    doc_id: str
    score: float
    raw: Mapping[str, Any]
    tree: Node
    parts: Sequence[Part]
    slices: Sequence[Slice]


def can_explain(ranking: Ranking) -> bool:
    """Whether the engine that was asked can say why."""
    return engines.get(ranking.run.asked["engine"]).abilities.explain


def explain(ranking: Ranking, doc_id: str) -> Explained:
    """Ask the engine why a document, returned or not, scores what it does for a query as the run asked it.

    Raises `EngineError`, also where the endpoint has become another engine meanwhile.
    """
    run = ranking.run
    if moved := moved_away(run):
        raise engines.EngineError(moved)
    asker = Asker(run.asked, run.rows)
    with connect(run.attempt.endpoint) as engine:
        if not engine.abilities.explain:
            raise engines.EngineError(f"{engine.label} does not say why a document has its score.")
        raw = engine.explain(asker.request(ranking.text, ranking.options), doc_id)
        named = _named(run.case, engine)
    tree = normal(raw)
    parts = contributions(tree)
    return Explained(doc_id, tree.value, raw, tree, parts, _slices(parts, colours(parts, named)))


def _named(case: Case, engine: engines.Engine) -> list[str]:
    """The engine's fields that the case's attempts name, in the order in which they first do. One statement."""
    templates = "\n".join(case.attempts.order_by("number").values_list("template", flat=True))
    try:
        fields = set(engine.fields())
    except engines.EngineError:  # colours are no reason to keep an explanation back
        return []
    return [word for word in dict.fromkeys(_WORD.findall(templates)) if word in fields]


def colours(parts: Sequence[Part], named: Sequence[str]) -> dict[str, int]:
    """The colour of each field: 1–4 for the first that the attempts name (`named`), so that a field keeps its colour from
    document to document and attempt to attempt; then for others, heaviest first; 5 for all further ones."""
    places = {
        name: place
        for place, name in enumerate(dict.fromkeys([*named, *(part.field for part in parts if part.field)]), 1)
    }
    return {part.field: min(places[part.field], COLOURS) for part in parts if part.field}


def _slices(parts: Sequence[Part], colour: Mapping[str, int]) -> list[Slice]:
    """Parts of one field together; what belongs to no field, such as a function, is “everything else”."""
    sums: dict[str, list[float]] = {}
    for part in parts:
        both = sums.setdefault(part.field, [0.0, 0.0])
        both[0] += part.value
        both[1] += part.share
    found = [Slice(name, value, share, colour.get(name, COLOURS)) for name, (value, share) in sums.items()]
    return sorted(found, key=lambda one: (-one.share, one.field))
