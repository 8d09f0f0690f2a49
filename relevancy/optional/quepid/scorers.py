"""Quepid's scorers: the measures that its shipped ones compute, and scripts as they are.

Queries that cannot be scored count as 0 in Quepid's shipped scorers, and so they do here. An edited script of a shipped name is
recognised by its scores for a few rankings: it stays a script.
"""

import json
from dataclasses import replace
from typing import Any

from django.core.exceptions import ValidationError

from relevancy import scorers, scores, scoring
from relevancy.formats.cases.case_content import Scale, ScorerContent
from relevancy.formats.errors import BadFile, quote
from relevancy.models import ScorerDefinition
from relevancy.models.errors import error_text

from .fields import Fields

_GRADED: Scale = [[0, "Poor"], [1, "Fair"], [2, "Good"], [3, "Perfect"]]
_BINARY: Scale = [[0, "Irrelevant"], [1, "Relevant"]]
# By the name in Quepid, in lower case: our name, the measure, and the scale with Quepid's labels.
SHIPPED = {
    "ndcg@10": ("nDCG@10 uncut", "nDCG(ideal='uncut')@10", _GRADED),
    "ndcg_cut@10": ("nDCG@10", "nDCG@10", _GRADED),
    "dcg@10": ("DCG@10", "DCG@10", _GRADED),
    "cg@10": ("CG@10", "CG(gain='linear')@10", _GRADED),
    "err@10": ("ERR@10", "ERR@10", _GRADED),
    "p@10": ("P@10 of those returned", "P(denominator='returned')@10", _BINARY),
    "ap@10": ("AP@10", "AP@10", _BINARY),
    "rr@10": ("RR@10", "RR@10", _BINARY),
}
_AS_ZERO = "unscoreable as 0"
_TOLERANCE = 1e-9
_MAX_GRADES = 101


def read_scorer(value: Any) -> ScorerContent | None:
    """Returns the scorer of a file: an object with its name and, in older files, script and scale. Raises `BadFile`."""
    if value is None:
        return None
    scorer = Fields(value, "scorer")
    name, code = scorer.text("name").strip(), scorer.text("code")
    shipped = _shipped(name)
    scale = read_scale(scorer, labels=shipped.definition.scale if shipped and shipped.definition else ())
    if not code.strip():
        if shipped and shipped.definition and scale:
            shipped = replace(shipped, definition=replace(shipped.definition, scale=scale))
        return shipped or ScorerContent(name)
    script = ScorerDefinition(script=code, scale=scale or [[0, ""], [1, ""]])
    if scale is None:
        raise scorer.error("scale", "the scale of the script is missing")
    if shipped and shipped.definition and _computes_the_same(script, replace(shipped.definition, scale=scale)):
        return replace(shipped, definition=replace(shipped.definition, scale=scale))
    return ScorerContent(name or "Script from Quepid", script, "Script of a case in Quepid.")


def read_scale(fields: Fields, labels: Any = ()) -> Scale | None:
    """Returns the scale of a scorer or book: `scale` is a list or a text such as `0,1,2,3`, `scale_with_labels` an object.

    labels: those used for grades without one. None if the file has no scale. Raises `BadFile`.
    """
    value = fields.members.get("scale")
    if isinstance(value, str):
        value = [part for part in value.replace(" ", "").split(",") if part]
    if not value:
        return None
    if not isinstance(value, list) or len(value) > _MAX_GRADES:
        raise fields.error("scale", f"{quote(value)} is not a scale; write grades such as 0,1,2,3")
    names = {float(grade): label for grade, label in labels}
    names |= _labels(fields)
    text = ", ".join(f"{grade}" for grade in value)
    try:
        return [[grade, names.get(float(grade), label)] for grade, label in scorers.parse_scale(text)]
    except ValidationError as error:
        raise BadFile(f"{fields.location}.scale: {error_text(error)}".removeprefix(".")) from None


def _labels(fields: Fields) -> dict[float, str]:
    labels = fields.mapping("scale_with_labels")
    try:
        return {float(grade): " ".join(str(label or "").split())[:200] for grade, label in labels.items()}
    except ValueError:
        raise fields.error("scale_with_labels", f"{quote(json.dumps(labels))} must name grades") from None


def _shipped(name: str) -> ScorerContent | None:
    if name.lower() not in SHIPPED:
        return None
    own_name, measure, scale = SHIPPED[name.lower()]
    definition = ScorerDefinition(
        measure=str(scoring.parse_measure(measure)), scale=scale, count_unscoreable_as_zero=True
    )
    description = f"What Quepid's scorer {name} computes. A query that cannot be scored counts as 0, as it does there."
    as_zero = f"The scorer is {definition.measure} and counts a query that cannot be scored as 0"
    remark = f"{as_zero}, so that its scores are those of Quepid."
    return ScorerContent(f"{own_name}, {_AS_ZERO}", definition, description, remark=remark)


def _computes_the_same(script: ScorerDefinition, measure: ScorerDefinition) -> bool:
    """Returns whether a script gives the value of a measure for rankings that tell the shipped scorers from each other."""
    try:
        checked = scorers.check(script)
    except ValidationError:
        return False
    low, *_, top = (f"{grade:g}" for grade in script.grades)
    middle = f"{script.grades[len(script.grades) // 2]:g}"
    rankings = (
        (f"{top} {low} {middle}", ""),
        (f"{low} - {middle} {top}", f"{top} {middle}"),
        (" ".join([middle, "-", top, low] * 4), " ".join([top] * 12)),
        (f"- - {low}", ""),
        (f"{middle}", f"{top} {top} {low}"),
    )
    for grades, known in rankings:
        try:
            values = [
                scores.preview_grades(definition, grades=grades, known=known) for definition in (checked, measure)
            ]
        except scoring.ScoringError:
            return False
        if values[0].error or abs((values[0].value or 0) - (values[1].value or 0)) > _TOLERANCE:
            return False
    return True
