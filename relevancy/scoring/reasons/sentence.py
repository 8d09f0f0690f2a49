"""Gives the reasons for a score in a sentence: "61.0 because three of the first ten results are unrated, …".

Only facts that can be counted are stated; nothing is guessed about what users want.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from relevancy.scoring.batch import Batch
from relevancy.scoring.definition import Definition, Settings
from relevancy.scoring.errors import GradeError
from relevancy.scoring.rounding import format_rounded
from relevancy.scoring.slots import Slots, take_slots

from .by_measure import list_general_reasons, list_script_reasons
from .clauses import all_rated
from .facts import Facts, Reason, as_sentence, collect_facts, count_in_words, describe_count, join_clauses

MAX_REASONS = 3
NOTHING_RATED = "no document has been rated for this query"
_NO_GAIN = "no document with a grade above 0 is known"


@dataclass(frozen=True)
class ScoreReasons:
    """Why a score is what it is.

    Attributes:
        sentence: the score and its reasons.
        reasons: each reason as a sentence, most important first, at most three.
    """

    sentence: str
    reasons: tuple[str, ...]


def give_reasons(
    definition: Definition, settings: Settings, batch: Batch, slots: Slots, score: float, low: float, high: float
) -> ScoreReasons:
    """Returns why the one query in `batch` has this score, 0–100; NaN if it is not scoreable.

    `slots`: those that the measure looks at. `low`, `high`: the range of the score, NaN for none.
    """
    if math.isnan(score):
        reason = why_unscoreable(definition, slots, settings)
        return ScoreReasons(f"Not scoreable because {reason}.", (as_sentence(reason),))
    facts = collect_facts(batch, slots, score, low, high, skips_unrated=settings.skips_unrated)
    if not batch.returned[0]:
        rel = settings.number("rel") if "rel" in settings.values else None
        names_known = definition.unrated_queries != "zero"
        return _compose(facts, [_nothing_returned(facts, rel, names_known=names_known)], "because")
    if definition.list_reasons is None:
        return _compose(facts, list_general_reasons(facts), ":")
    return _compose(facts, definition.list_reasons(facts, settings), "because")


def describe_ranking(score: float | None, batch: Batch, depth: int) -> ScoreReasons:
    """Describes what the first `depth` results of the one query in `batch` show, next to the score that a script gave it.

    `score`: 0–100; None for none. The sentence is "61.0: …", not "61.0 because …", because nothing is known about what
    the script does. Raises `GradeError` unless the batch has one query.
    """
    require_one_query(batch)
    slots = take_slots(batch, None, depth, skip_unrated=False)
    facts = collect_facts(batch, slots, score, math.nan, math.nan, skips_unrated=False)
    if not batch.known.counts[0]:
        return _compose(facts, [Reason(NOTHING_RATED)], ":")
    if not batch.returned[0]:
        return _compose(facts, [_nothing_returned(facts, None, names_known=True)], ":")
    return _compose(facts, list_script_reasons(facts), ":")


def require_one_query(batch: Batch) -> None:
    """Raises `GradeError` unless the batch has exactly one query."""
    if len(batch) != 1:
        raise GradeError(f"Reasons or a working are those of one query, but the batch has {len(batch)}.")


def _nothing_returned(facts: Facts, rel: float | None, *, names_known: bool) -> Reason:
    count = sum(grade >= rel if rel is not None else grade > 0 for grade in facts.known)
    if not names_known or not count:
        return Reason("no results were returned")
    noun = "document" if count == 1 else "documents"
    known = f"relevant {noun}" if rel is not None else f"{noun} with a grade above 0"
    verb = "is" if count == 1 else "are"
    return Reason(f"no results were returned, although {count_in_words(count)} {known} {verb} known")


def _compose(facts: Facts, candidates: Sequence[Reason | None], link: str) -> ScoreReasons:
    """Returns `link`: "because" if the reasons are known to be those of the score, else ":"."""
    reasons = list({reason.text: reason for reason in candidates if reason is not None}.values())[:MAX_REASONS]
    if not reasons:
        reasons, link = [all_rated(facts)], ":"
    subject = "Not scored" if facts.score is None else format_rounded(facts.score, 1)
    clauses = join_clauses([reason.text for reason in reasons if not reason.is_remark])
    separator = ":" if link == ":" else f" {link}"
    main = f"{subject}{separator} {clauses}." if clauses else f"{subject}."
    remarks = [as_sentence(reason.detail or reason.text) for reason in reasons if reason.is_remark]
    details = tuple(as_sentence(reason.detail or reason.text) for reason in reasons)
    return ScoreReasons(" ".join((main, *remarks)), details)


def why_unscoreable(definition: Definition, slots: Slots, settings: Settings) -> str:
    """Returns a clause such as "no document has been rated for this query", for one query that is not scoreable."""
    if not slots.known.counts[0]:
        return NOTHING_RATED
    needs = definition.needs(settings)
    if needs == "relevant" and not slots.count_known(settings.number("rel"))[0]:
        return f"no relevant document (grade {settings.number('rel'):g} or higher) is known"
    is_gain_known = bool(slots.is_gain_known[0])
    if needs == "gain" and not is_gain_known:
        return _NO_GAIN
    returned = int(slots.filled_counts[0])
    if needs == "judged" and not returned and not is_gain_known:
        return f"no results were returned and {_NO_GAIN}"
    if needs == "judged" and returned and not slots.is_rated.any():
        return describe_count(0, returned, slots.k, "rated")
    return "the measure is not defined for these grades"
