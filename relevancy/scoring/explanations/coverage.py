"""Reasons that concern how many results there are, and which of them are rated."""

from __future__ import annotations

from relevancy.scoring.rounding import format_rounded

from .facts import Facts, Reason
from .phrases import NONE_COUNTED, count_in_words, describe_count

MIN_RANGE = 0.05
"""A range that is narrower would be printed as one number."""


def unrated_results(facts: Facts, is_remark: bool = False) -> Reason | None:
    """States how many of the first k are unrated, and the range of the score; a remark if rating them cannot raise it."""
    if not facts.unrated:
        return None
    text = describe_count(facts.unrated, facts.displayed, facts.k, "unrated")
    if facts.skips_unrated:
        was = "was" if facts.unrated == 1 else "were"
        return Reason(f"{text} and {was} skipped", is_remark=True)
    cannot_rise = facts.high is not None and facts.score is not None and facts.high < facts.score + MIN_RANGE
    return Reason(text, text + _range(facts), is_remark or cannot_rise)


def all_rated(facts: Facts) -> Reason:
    """States that the first k are all rated; only for rankings of which that is true."""
    return Reason(facts.count(0, "unrated") if facts.repeats else facts.count(len(facts.grades), "rated"))


def repeated_results(facts: Facts) -> Reason | None:
    """States how many of the first k are repeats."""
    if not facts.repeats:
        return None
    text = facts.count(facts.repeats, "a repeat" if facts.repeats == 1 else "repeats")
    return Reason(text, f"{text} and {'has' if facts.repeats == 1 else 'have'} no gain")


def fewer_than_k(facts: Facts) -> Reason | None:
    """States how many results there are, if fewer than k."""
    count = len(facts.grades)
    if count >= facts.k:
        return None
    results = f"only {count_in_words(count)} {'result' if count == 1 else 'results'}"
    if facts.skips_unrated:
        return Reason(f"{results} remained after unrated ones were skipped" if count else NONE_COUNTED)
    return Reason(f"{results} {'was' if count == 1 else 'were'} returned")


def _range(facts: Facts) -> str:
    if facts.low is None or facts.high is None or facts.high - facts.low < MIN_RANGE:
        return ""
    pronoun = "it" if facts.unrated == 1 else "them"
    low, high = format_rounded(facts.low, 1), format_rounded(facts.high, 1)
    return f"; rating {pronoun} would give a score between {low} and {high}"
