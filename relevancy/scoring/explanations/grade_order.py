"""Reasons that concern how good the results are, and in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from relevancy.scoring.rounding import format_short

from .facts import Facts, Reason
from .phrases import HAVE, count_in_words


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
