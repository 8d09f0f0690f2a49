"""A comparison in words."""

from __future__ import annotations

from relevancy.scoring.rounding import format_p, format_rounded, format_signed
from relevancy.statistics import Verdict

from .comparisons import RunPair


def describe_verdict(pair: RunPair) -> str:
    """Returns one sentence: which run is better, by how much, and how sure that is."""
    queries = len(pair.paired.differences)
    on_queries = f"on the same {queries:,} quer{'y' if queries == 1 else 'ies'}"
    names = f"{pair.b} and {pair.a}"
    match pair.verdict:
        case Verdict.BETTER | Verdict.WORSE:
            return f"{pair.b} is {pair.verdict} than {pair.a}: {_describe_difference(pair)} {on_queries}."
        case Verdict.EQUAL:
            return f"{names} are practically equal: {_describe_difference(pair)} {on_queries}."
        case Verdict.UNDECIDED:
            return f"{names} show no difference that {queries:,} queries can prove: {_describe_difference(pair)}."
        case Verdict.TOO_FEW:
            scored = f"only {queries}" if queries else "none"
            return f"{names} cannot be compared: {scored} of their queries is scored in both."


def _describe_difference(pair: RunPair) -> str:
    """Returns the difference with its interval and p: `+5.5 points (95 %: 0.4 to 10.9), p = .037`."""
    text = f"{format_signed(pair.paired.differences.mean, 1)} points"
    if pair.paired.interval is not None:
        low, high = (format_rounded(bound, 1) for bound in (pair.paired.interval.low, pair.paired.interval.high))
        text += f" (95 %: {low} to {high})"
    p = next((p for p in (pair.p_holm, pair.p_hsd, pair.paired.p) if p is not None), None)
    if p is not None:
        formatted = format_p(p)
        text += f", p {formatted}" if formatted.startswith("<") else f", p = {formatted}"
    return text
