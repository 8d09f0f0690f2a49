"""A score in plain words: "61.0 because three of the first ten are unrated and the best known document is at rank 4."

Only facts that can be counted are stated; none of them guesses what a searcher wanted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .batch import Batch
from .facts import Facts, Reason, gather
from .measure import Measure
from .reasons import of_any, of_grades
from .score import score as score_batch
from .slots import look
from .unscoreable import why_unscoreable
from .wording import half_up, in_words, joined, sentence
from .working import only_one, seen

MOST_REASONS = 3


@dataclass(frozen=True)
class Explanation:
    """`sentence`: the score and why; `reasons`: each by itself, the most telling first, at most three."""

    sentence: str
    reasons: tuple[str, ...]


def explain(measure: Measure, batch: Batch, shown: int) -> Explanation:
    """Why the one query in `batch` has its score under `measure`; `shown` as in `score`.

    `GradeError` for a batch of more or fewer queries. A measure that brings no reasons of its own gets those that
    hold whatever it looks at.
    """
    slots, settings = seen(measure, batch, shown)
    definition = measure.definition
    scores = score_batch(measure, batch, shown)
    found = float(scores.score[0])
    if math.isnan(found):
        reason = why_unscoreable(definition, slots, settings)
        return Explanation(f"Not scoreable because {reason}.", (sentence(reason),))
    skipping = settings.values.get("unrated") == "skip"
    facts = gather(batch, slots, found, float(scores.low[0]), float(scores.high[0]), skipping)
    if not batch.returned[0]:
        rel = settings.number("rel") if "rel" in settings.values else None
        return _told(facts, (_nothing(facts, rel, definition.unrated_queries == "zero"),), True)
    if definition.reasons is None:
        return _told(facts, of_any(facts), False)
    return _told(facts, definition.reasons(facts, settings), True)


def explain_grades(score: float | None, batch: Batch, shown: int) -> Explanation:
    """What is to be seen in the first `shown` results of the one query in `batch`, beside the score 0–100 that a
    script gave it (None: none). Says "61.0: …", not "because": nobody knows what a script looks at."""
    only_one(batch)
    slots = look(batch, None, shown, skip=False)
    facts = gather(batch, slots, score, math.nan, math.nan, False)
    if not batch.known.counts[0]:
        return _told(facts, (Reason("nobody has rated anything for this query"),), False)
    if not batch.returned[0]:
        return _told(facts, (_nothing(facts, None, False),), False)
    return _told(facts, of_grades(facts), False)


def _nothing(facts: Facts, rel: float | None, bare: bool) -> Reason:
    """Nothing was returned, although …"""
    count = sum(grade >= rel if rel is not None else grade > 0 for grade in facts.known)
    if bare or not count:
        return Reason("nothing was returned")
    noun = "document" if count == 1 else "documents"
    verb = "is" if count == 1 else "are"
    kind = f"relevant {noun}" if rel is not None else f"{noun} with a grade above 0"
    return Reason(f"nothing was returned although {in_words(count)} {kind} {verb} known")


def _told(facts: Facts, found: Sequence[Reason | None], because: bool) -> Explanation:
    """`because`: the reasons are known to be those of the score."""
    chosen = list({reason.text: reason for reason in found if reason is not None}.values())[:MOST_REASONS]
    if not chosen:
        chosen = [facts.all_rated()]
        because = False
    said = "Not scored" if facts.score is None else half_up(facts.score, 1)
    main = joined([reason.text for reason in chosen if not reason.aside])
    link = " because " if because else ": "
    first = f"{said}{link}{main}." if main else f"{said}."
    asides = [sentence(reason.detail or reason.text) for reason in chosen if reason.aside]
    return Explanation(" ".join((first, *asides)), tuple(sentence(reason.detail or reason.text) for reason in chosen))
