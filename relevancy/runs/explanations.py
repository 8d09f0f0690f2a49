"""Why documents have their engine scores: requested from the engine on demand, and stored with the ranking in short.

See docs/decisions/0062.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from relevancy import engines
from relevancy.engines.types import Contribution, ExplanationNode, Factor, FailedClause
from relevancy.models import Case, Ranking, User

from .page_requests import query_engine

COLOURS = 5  # the last one is for everything else
MAX_EXPLAINED = 50  # documents in one request; further ones are explained one by one
MAX_PARTS = 24  # of a document that are stored; the others become one part
OTHER = "other"
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
    """Why a document has its engine score.

    parts: contributions by field and term, largest first.
    slices: contributions by field, largest first.
    tree: the engine's explanation in the form common to all engines; None if it was read from the database.
    failures: the conditions that the document does not meet; empty if it matches.
    matching_parts: contributions of the clauses that match, although the document as a whole does not.
    """

    doc_id: str
    score: float
    parts: Sequence[Contribution]
    slices: Sequence[Slice]
    tree: ExplanationNode | None = None
    failures: Sequence[FailedClause] = ()
    matching_parts: Sequence[Contribution] = ()

    @property
    def matches(self) -> bool:
        """Whether the query matches the document. Only those that do are stored."""
        return self.tree is None or self.tree.matches

    @property
    def score_of_matching_parts(self) -> float:
        """What the clauses that match add up to: about the score that the document would have."""
        return math.fsum(part.value for part in self.matching_parts)

    @property
    def compared_parts(self) -> Sequence[Contribution]:
        """What is compared with another explanation: the contributions; of a document that does not match, those of the clauses
        that do."""
        return self.parts if self.matches else self.matching_parts

    @property
    def compared_score(self) -> float:
        """The engine score; of a document that does not match, what the clauses that do add up to."""
        return self.score if self.matches else self.score_of_matching_parts

    @property
    def has_factors(self) -> bool:
        """Whether the engine named the factors of a contribution. Explanations that were stored by earlier versions have none."""
        return any(part.factors for part in self.parts)

    def differs_from(self, score: float | None) -> bool:
        """Whether the engine score of the run is another one: the index has changed between run and explanation."""
        return score is not None and not math.isclose(score, self.score, rel_tol=0.005, abs_tol=0.005)


def explain(ranking: Ranking, doc_id: str, *, by: User) -> DocumentExplanation:
    """Returns why a document has its score for the query of a ranking, whether or not the document was returned.

    Queries the engine. Raises what `query_engine` raises.
    """
    with query_engine(ranking, by=by) as (engine, request):
        if not engine.abilities.explain:
            raise engines.EngineError(f"{engine.label} does not support explaining scores.")
        raw = engine.explain(request, doc_id)
    tree = engines.parse_explanation(raw)
    parts = engines.contributions(tree)
    colours = _assign_colours(ranking, [parts])
    return DocumentExplanation(
        doc_id,
        tree.value,
        parts,
        _slices(parts, colours),
        tree,
        failures=engines.failed_clauses(tree),
        matching_parts=() if tree.matches else engines.contributions(engines.matching_part(tree)),
    )


def explain_results(ranking: Ranking, *, depth: int, by: User) -> dict[str, DocumentExplanation]:
    """Returns why the first `depth` documents of a ranking, at most 50, have their scores, and stores it with the ranking.

    One request to the engine. Documents that the query does not match any more are left out. Raises what `query_engine` raises.
    """
    doc_ids = list(dict.fromkeys(hit[0] for hit in ranking.hits[: min(depth, MAX_EXPLAINED)]))
    with query_engine(ranking, by=by) as (engine, request):
        if not engine.abilities.explain_many:
            raise engines.EngineError(f"{engine.label} does not explain the scores of several documents at once.")
        raw = engine.explain_many(request, doc_ids) if doc_ids else {}
    trees = {doc_id: engines.parse_explanation(raw[doc_id]) for doc_id in doc_ids if doc_id in raw}
    parts = {doc_id: engines.contributions(tree) for doc_id, tree in trees.items()}
    colours = _assign_colours(ranking, parts.values())
    explained = {
        doc_id: DocumentExplanation(doc_id, tree.value, _longest(parts[doc_id]), _slices(parts[doc_id], colours))
        for doc_id, tree in trees.items()
    }
    as_json = {doc_id: _as_json(explanation) for doc_id, explanation in explained.items()}
    ranking.explanations = json.dumps(as_json, ensure_ascii=False)
    Ranking.objects.filter(pk=ranking.pk).update(explanations=ranking.explanations)
    return explained


def stored_explanations(ranking: Ranking) -> dict[str, DocumentExplanation]:
    """Returns what `explain_results` has stored, by document id; empty if nothing was. Sends no request."""
    return {doc_id: _from_json(doc_id, stored) for doc_id, stored in json.loads(ranking.explanations or "{}").items()}


def _assign_colours(ranking: Ranking, parts: Iterable[Sequence[Contribution]]) -> dict[str, int]:
    """Returns the colour of each field; fields that are seen for the first time get theirs, and the case remembers it."""
    weights: dict[str, float] = {}
    for contributions in parts:
        for part in contributions:
            if part.field:
                weights[part.field] = weights.get(part.field, 0.0) + part.share
    fields = sorted(weights, key=lambda field: (-weights[field], field))
    template_words = set(_WORD.findall(ranking.run.config["template"]))
    with transaction.atomic():
        case = Case.objects.select_for_update(no_key=True).only("explained_fields").get(pk=ranking.run.case_id)
        coloured = coloured_fields(case.explained_fields, fields, template_words)
        if coloured != case.explained_fields:
            case.explained_fields = coloured
            case.save(update_fields=["explained_fields"])
    return {field: colour for colour, field in enumerate(coloured, 1)}


def coloured_fields(known: Sequence[str], fields: Sequence[str], template_words: set[str]) -> list[str]:
    """Returns the fields that have a colour of their own, at most four, in the order of the colours.

    known: those that the case has already. They keep their colour, unless all colours are taken and the field occurs neither
    in the template nor in this explanation.
    fields: those of this explanation, heaviest first.
    """
    coloured = list(known[: COLOURS - 1])
    for field in fields:
        if field in coloured:
            continue
        if len(coloured) < COLOURS - 1:
            coloured.append(field)
            continue
        unused = [name for name in coloured if name not in fields and name not in template_words]
        if unused:
            coloured[coloured.index(unused[0])] = field
    return coloured


def _slices(parts: Sequence[Contribution], colours: Mapping[str, int]) -> list[Slice]:
    """Adds up the parts of each field. Parts without a field, such as functions, are “everything else”."""
    sums: dict[str, list[float]] = {}
    for part in parts:
        field_sums = sums.setdefault(part.field, [0.0, 0.0])
        field_sums[0] += part.value
        field_sums[1] += part.share
    slices = [Slice(name, value, share, colours.get(name, COLOURS)) for name, (value, share) in sums.items()]
    return sorted(slices, key=lambda item: (-item.share, item.field))


def _longest(parts: Sequence[Contribution]) -> list[Contribution]:
    """Returns the largest parts; the others are one more part, so that nothing is lost."""
    if len(parts) <= MAX_PARTS:
        return list(parts)
    rest = parts[MAX_PARTS - 1 :]
    value, share = math.fsum(part.value for part in rest), math.fsum(part.share for part in rest)
    return [*parts[: MAX_PARTS - 1], Contribution("", "", f"{len(rest)} more", value, share)]


def _as_json(explanation: DocumentExplanation) -> dict[str, Any]:
    return {
        "score": explanation.score,
        "parts": [
            [
                part.field,
                part.term,
                part.label,
                part.value,
                part.share,
                *([[[factor.name, factor.value, factor.inputs] for factor in part.factors]] if part.factors else []),
            ]
            for part in explanation.parts
        ],
        "slices": [[item.field, item.value, item.share, item.colour] for item in explanation.slices],
    }


def _from_json(doc_id: str, stored: Mapping[str, Any]) -> DocumentExplanation:
    parts = [
        Contribution(field, term, label, value, share, _factors_from_json(factors))
        for field, term, label, value, share, *factors in stored["parts"]
    ]
    return DocumentExplanation(doc_id, stored["score"], parts, [Slice(*item) for item in stored["slices"]])


def _factors_from_json(stored: Sequence[Any]) -> tuple[Factor, ...]:
    """`stored`: the list of factors in a list, or nothing."""
    return tuple(
        Factor(name, value, tuple((key, number) for key, number in inputs))
        for factors in stored
        for name, value, inputs in factors
    )
