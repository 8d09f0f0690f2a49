"""Reasons that concern which documents are relevant."""

from __future__ import annotations

import numpy as np

from .facts import Facts, Reason
from .phrases import count_in_words


def first_relevant(facts: Facts, rel: float) -> Reason | None:
    """States the rank of the first relevant result, unless that is 1."""
    total = sum(grade >= rel for grade in facts.known)
    if not total:
        return None
    if any(grade is not None and grade >= rel for grade in facts.returned):
        return facts.rank_of_first(lambda grade: grade >= rel, "the first relevant result")
    return missing_relevant(facts, rel)


def missing_relevant(facts: Facts, rel: float) -> Reason | None:
    """States how many of the known relevant documents are not in the first k."""
    total = sum(grade >= rel for grade in facts.known)
    missing = total - facts.count_relevant(rel)
    return facts.missing_from_first_k(missing, total, "the only known relevant document", "known relevant documents")


def relevant_results(facts: Facts, rel: float) -> Reason | None:
    """States how many of the first k are relevant, as far as they are rated."""
    if facts.has_only_unrated:
        return None
    quality = "rated relevant" if facts.unrated and not facts.skips_unrated else "relevant"
    return Reason(facts.count(facts.count_relevant(rel), quality, exception=facts.without_repeats))


def nonrelevant_above_relevant(facts: Facts, rel: float, ignores_negative: bool = False) -> Reason | None:
    """States how many rated results that are not relevant are ranked above a relevant one in the first k.

    `ignores_negative`: results with a grade below 0 are not counted, as in Bpref.
    """
    lowest = 0.0 if ignores_negative else -np.inf
    last = max((index for index, grade in enumerate(facts.grades) if grade is not None and grade >= rel), default=0)
    count = sum(grade is not None and lowest <= grade < rel for grade in facts.grades[:last])
    if not count:
        return None
    results = "result" if count == 1 else "results"
    subject = f"{results} judged non-relevant" if ignores_negative else f"non-relevant {results}"
    return Reason(f"{count_in_words(count)} {subject} {'is' if count == 1 else 'are'} ranked above a relevant one")


def all_relevant_found(facts: Facts, rel: float) -> Reason:
    """States that the first k contain all known relevant documents; only for rankings of which that is true."""
    total = sum(grade >= rel for grade in facts.known)
    if len(facts.grades) < facts.k:
        predicate = f"{'was' if total == 1 else 'were'} returned"
    else:
        predicate = f"{'is' if total == 1 else 'are'} {f'among {facts.group()}' if facts.k > 1 else 'at rank 1'}"
    return Reason(f"{_all_relevant(total)} {predicate}")


def all_relevant_on_top(facts: Facts, rel: float) -> Reason:
    """States that all known relevant documents are ranked above all others; only for rankings of which that is true."""
    total = sum(grade >= rel for grade in facts.known)
    ranks = {1: "is at rank 1", 2: "are at ranks 1 and 2"}.get(total, f"are at ranks 1 to {total}")
    return Reason(f"{_all_relevant(total)} {ranks}{facts.of_counted}")


def _all_relevant(total: int) -> str:
    if total == 1:
        return "the only known relevant document"
    return f"{'both' if total == 2 else f'all {count_in_words(total)}'} known relevant documents"
