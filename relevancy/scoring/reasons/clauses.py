"""Reasons that scores can have: how many results there are and are rated, which are relevant, and in which order their grades are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from relevancy.scoring.rounding import format_rounded, format_short

from .facts import HAVE, NONE_COUNTED, Facts, Reason, count_in_words, describe_count

MIN_RANGE = 0.05
"""A range that is narrower would be printed as one number."""


# --- how many results there are, and which of them are rated ---


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


# --- which documents are relevant ---


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


# --- how good the results are, and in which order ---


def best_documents(
    facts: Facts, pool: Sequence[float] | None = None, kind: str = "known", cut: bool = True
) -> list[Reason]:
    """States the rank of the best document, unless that is 1, and how many of the best k are not in the first k.

    `pool`: grades of the documents that are compared, without it all known ones; `kind`: 'known' or 'returned'.
    `cut`: compare with the best k, else with all that have a grade above 0.
    """
    expected = _expected(facts, pool, cut)
    if not expected:
        return []
    best, missing = expected[0], _count_missing(facts, expected)
    rank = best_rank(facts, pool, kind)
    if best not in facts.grades and set(missing) == {best}:
        return [rank] if rank else []
    including = ""
    if best not in facts.returned:
        rank = None
        same = expected.count(best)
        including = f", including the {'best one' if same == 1 else f'{count_in_words(same)} best'},"
    others = _missing_of_best(facts, missing.total(), len(expected), kind, including)
    return [reason for reason in (rank, others) if reason is not None]


def best_rank(facts: Facts, pool: Sequence[float] | None = None, kind: str = "known") -> Reason | None:
    """States the rank of the best document, unless that is 1; `pool` and `kind` as in `best_documents`."""
    grades = facts.known if pool is None else pool
    best = max(grades, default=0.0)
    if best <= 0:
        return None
    if best not in facts.returned:
        return _best_absent(facts, grades, kind)
    same = sum(grade == best for grade in grades)
    subject = _best(same, kind) if same == 1 else f"the first of {_best(same, kind)}"
    return facts.rank_of_first(lambda grade: grade == best, subject)


def best_grade_rank(facts: Facts) -> Reason | None:
    """States the rank at which the best grade in the first k first appears, unless that is 1."""
    best = max((grade for grade in facts.grades if grade is not None), default=0.0)
    if best <= 0 or facts.grades[0] == best:
        return None
    rank = facts.grades.index(best) + 1
    return Reason(f"the best grade in {facts.group()} first appears at rank {rank}")


def missing_best(facts: Facts) -> Reason | None:
    """States how many of the k best known documents are not in the first k."""
    expected = _expected(facts, None, cut=True)
    missing = _count_missing(facts, expected)
    if expected and expected[0] not in facts.grades and set(missing) == {expected[0]}:
        return _best_absent(facts, facts.known, "known")
    return _missing_of_best(facts, missing.total(), len(expected), "known")


def top_grades(facts: Facts) -> Reason | None:
    """States how many of the first k have the top grade of the scale."""
    if facts.has_only_unrated:
        return None
    count = sum(grade is not None and grade >= facts.top for grade in facts.grades)
    only = "only " if 0 < count < len(facts.grades) else ""
    quality = f"the top grade ({format_short(facts.top)})"
    return Reason(only + facts.count(count, quality, HAVE, facts.without_repeats))


def inversions(facts: Facts) -> Reason | None:
    """States how many of the first k are ranked above one with a better grade; unrated results are not counted."""
    best_below, count = -np.inf, 0
    for grade in reversed(facts.grades):
        if grade is not None:
            count += grade < best_below
            best_below = max(best_below, grade)
    return Reason(facts.count(count, "ranked above a better one")) if count else None


def in_order(facts: Facts) -> Reason | None:
    """States that the first k are all rated and in order from best to worst."""
    if len(facts.grades) < 2 or None in facts.grades or inversions(facts):
        return None
    return Reason(f"{facts.group()} are in order from best to worst")


def _expected(facts: Facts, pool: Sequence[float] | None, cut: bool) -> list[float]:
    gaining = sorted((grade for grade in (facts.known if pool is None else pool) if grade > 0), reverse=True)
    return gaining[: facts.k] if cut else gaining


def _count_missing(facts: Facts, expected: Sequence[float]) -> Counter[float]:
    return Counter(expected) - Counter(grade for grade in facts.grades if grade is not None)


def _missing_of_best(facts: Facts, missing: int, total: int, kind: str, including: str = "") -> Reason | None:
    return facts.missing_from_first_k(missing, total, _best(1, kind), _best_noun(total, kind), including)


def _best_absent(facts: Facts, pool: Sequence[float], kind: str) -> Reason | None:
    """States that none of the documents with the best grade is in the first k."""
    same = sum(grade == max(pool) for grade in pool)
    return facts.missing_from_first_k(same, same, _best(1, kind), _best_noun(same, kind))


def _best(count: int, kind: str) -> str:
    """Returns "the best known document", "the three best documents returned"."""
    return f"the {'' if count == 1 else f'{count_in_words(count)} '}{_best_noun(count, kind)}"


def _best_noun(count: int, kind: str) -> str:
    noun = "document" if count == 1 else "documents"
    return f"best known {noun}" if kind == "known" else f"best {noun} returned"
