"""Why a document has its engine score: requested from the engine on demand, not stored."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relevancy import engines
from relevancy.endpoints import connect_for_page
from relevancy.engines.types import Contribution, ExplanationNode
from relevancy.models import Case, Ranking, User

from .access import check_usable
from .chunks import endpoint_changed
from .requests import RequestBuilder

COLOURS = 5  # the last one is for everything else
_WORD = re.compile(r"[A-Za-z_][\w.\-]*")


@dataclass(frozen=True)
class Slice:
    """The part of a score that one field contributed. `share` is at most 1; `colour`, 1 to 5, is the same in all attempts of a case."""

    field: str
    value: float
    share: float
    colour: int


@dataclass(frozen=True)
class DocumentExplanation:
    """Why a document currently has its engine score.

    raw: the tree as the engine returned it.
    tree: the same tree in the form common to all engines.
    parts: contributions by field and term, largest first.
    slices: contributions by field, largest first.
    """

    doc_id: str
    score: float
    raw: Mapping[str, Any]
    tree: ExplanationNode
    parts: Sequence[Contribution]
    slices: Sequence[Slice]


def can_explain(ranking: Ranking) -> bool:
    """Returns whether the engine of the run can explain scores."""
    engine = engines.find(ranking.run.config["engine"])
    return engine is not None and engine.abilities.explain


def explain(ranking: Ranking, doc_id: str, *, by: User) -> DocumentExplanation:
    """Returns why a document has its score for the query of a ranking, whether or not the document was returned.

    Queries the engine. Raises `RunNotAllowed` if `by` may not use the endpoint, and `EngineError`, also if the endpoint has a
    different address since the run.
    """
    run = ranking.run
    check_usable(case=run.case, endpoint=run.attempt.endpoint, by=by)
    if reason := endpoint_changed(run):
        raise engines.EngineError(reason)
    builder = RequestBuilder(run.config, run.rows)
    with connect_for_page(run.attempt.endpoint) as engine:
        if not engine.abilities.explain:
            raise engines.EngineError(f"{engine.label} does not support explaining scores.")
        raw = engine.explain(builder.request(ranking.text, ranking.options), doc_id)
        template_fields = _fields_in_templates(run.case, engine)
    tree = engines.parse_explanation(raw)
    parts = engines.contributions(tree)
    return DocumentExplanation(
        doc_id, tree.value, raw, tree, parts, _slices(parts, assign_colours(parts, template_fields))
    )


def _fields_in_templates(case: Case, engine: engines.Engine) -> list[str]:
    """Returns the engine's fields that occur in the case's templates, in the order of their first occurrence. One SQL statement."""
    templates = "\n".join(case.attempts.order_by("number").values_list("template", flat=True))
    try:
        fields = set(engine.fields())
    except engines.EngineError:  # an explanation without these colours is better than none
        return []
    return [word for word in dict.fromkeys(_WORD.findall(templates)) if word in fields]


def assign_colours(parts: Sequence[Contribution], template_fields: Sequence[str]) -> dict[str, int]:
    """Returns the colour of each field.

    The fields of the templates come first, so that a field has the same colour for every document and attempt; then the other
    fields, in the order of `parts`. All fields from the fifth on share the last colour.
    """
    fields = dict.fromkeys([*template_fields, *(part.field for part in parts if part.field)])
    positions = {name: position for position, name in enumerate(fields, 1)}
    return {part.field: min(positions[part.field], COLOURS) for part in parts if part.field}


def _slices(parts: Sequence[Contribution], colours: Mapping[str, int]) -> list[Slice]:
    """Adds up the parts of each field. Parts without a field, such as functions, are “everything else”."""
    sums: dict[str, list[float]] = {}
    for part in parts:
        field_sums = sums.setdefault(part.field, [0.0, 0.0])
        field_sums[0] += part.value
        field_sums[1] += part.share
    slices = [Slice(name, value, share, colours.get(name, COLOURS)) for name, (value, share) in sums.items()]
    return sorted(slices, key=lambda item: (-item.share, item.field))
