"""Facts about one ranking and its grades, and the phrases and words in which they are stated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.batch import Batch
from relevancy.scoring.slots import Slots

NONE_COUNTED = "no rated results were returned"
_NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class Verb(NamedTuple):
    """The forms of a verb: for one result, for several, and negated for one."""

    singular: str
    plural: str
    negated: str


BE = Verb("is", "are", "is not")
HAVE = Verb("has", "have", "does not have")


@dataclass(frozen=True)
class Reason:
    """A clause that gives a reason for a score.

    Attributes:
        text: the clause in the sentence.
        detail: the clause in a list, if it is longer there.
        is_remark: it does not explain the score, but should be known; it becomes a sentence of its own.
    """

    text: str
    detail: str = ""
    is_remark: bool = False


@dataclass(frozen=True)
class Facts:
    """What is known about the ranking of one query.

    Attributes:
        grades: of the first k results that the measure counts; None for an unrated document or a repeat.
        below: of the results that follow.
        repeats: number of repeats in the first k.
        known: all known grades, best first.
        k: the cutoff.
        skips_unrated: whether unrated documents were removed before ranks were counted.
        unrated: number of unrated documents in the first k, before any were removed.
        displayed: number of results in the first k, before any were removed.
        top: the top grade of the scale.
        score: 0–100; None if there is none.
        low, high: the range of the score; None for measures without one.
    """

    grades: tuple[float | None, ...]
    below: tuple[float | None, ...]
    repeats: int
    known: tuple[float, ...]
    k: int
    skips_unrated: bool
    unrated: int
    displayed: int
    top: float
    score: float | None
    low: float | None = None
    high: float | None = None

    @property
    def is_perfect(self) -> bool:
        return self.score is not None and self.score >= 100.0 - 1e-9

    @property
    def has_only_unrated(self) -> bool:
        """Nothing else can then be said about the grades."""
        return 0 < len(self.grades) == self.unrated and not self.skips_unrated

    @property
    def returned(self) -> tuple[float | None, ...]:
        """The grades of all results that the measure counts."""
        return (*self.grades, *self.below)

    def count_relevant(self, rel: float) -> int:
        """Returns how many of the first k are relevant."""
        return sum(grade is not None and grade >= rel for grade in self.grades)

    # Phrases.

    def group(self) -> str:
        """Returns "the first ten results", "the only result returned"."""
        return describe_group(len(self.grades), self.k, self._counted)

    def count(self, count: int, quality: str, verb: Verb = BE, exception: str = "") -> str:
        """Returns "two of the first ten results are …"; see `describe_count`."""
        return describe_count(count, len(self.grades), self.k, quality, verb, self._counted, exception)

    def rank_of_first(self, is_wanted: Callable[[float], bool], subject: str) -> Reason | None:
        """Returns the rank of the first wanted result, unless that is 1; only if there is one."""
        ranks = enumerate(self.returned, start=1)
        rank = next(rank for rank, grade in ranks if grade is not None and is_wanted(grade))
        if rank == 1:
            return None
        below = f", below {self.group()}" if rank > len(self.grades) else ""
        return Reason(f"{subject} is at rank {rank}{self.of_counted}{below}")

    def missing_from_first_k(
        self, missing: int, total: int, single: str, plural: str, including: str = ""
    ) -> Reason | None:
        """Returns how many of `total` documents are not in the first k: "one of the six known relevant documents is not …".

        `single`, `plural`: what the documents are called if the total is one, or more; `including`: follows the latter.
        """
        if missing <= 0:
            return None
        if total == 1:
            return Reason(f"{single} {self._not_here('is', ' not')}")
        if missing == total:
            none = "neither of the two" if total == 2 else f"none of the {count_in_words(total)}"
            return Reason(f"{none} {plural} {self._not_here('is', '')}")
        subject = f"{count_in_words(missing)} of the {count_in_words(total)} {plural}{including}"
        return Reason(f"{subject} {self._not_here('is' if missing == 1 else 'are', ' not')}")

    @property
    def of_counted(self) -> str:
        """Follows a rank if unrated results were skipped."""
        return " of the results counted" if self.skips_unrated else ""

    @property
    def without_repeats(self) -> str:
        """Follows a group if it contains repeats, which have no grade."""
        return ", not counting repeats," if self.repeats else ""

    @property
    def _counted(self) -> str:
        return " counted" if self.skips_unrated else ""

    def _not_here(self, verb: str, negation: str) -> str:
        """Returns "is not among the first ten results"; if fewer than k were returned, "was not returned"."""
        if len(self.grades) < self.k:
            return f"{'was' if verb == 'is' else 'were'}{negation} returned"
        return f"{verb}{negation} {f'among {self.group()}' if len(self.grades) > 1 else 'at rank 1'}"


def collect_facts(
    batch: Batch, slots: Slots, score: float | None, low: float, high: float, *, skips_unrated: bool
) -> Facts:
    """Returns the facts about the one query in `batch`. `slots`: those that the measure looks at. `low`, `high`: NaN for none."""
    counted, returned = int(slots.filled_counts[0]), min(int(batch.returned[0]), batch.grades.shape[1])
    grades, repeats = batch.grades[0, :returned], batch.repeats[0, :returned]
    unrated = int((np.isnan(grades) & ~repeats)[: slots.k].sum())
    if skips_unrated:
        grades = grades[~np.isnan(grades) | repeats]
    return Facts(
        grades=_to_optional(grades[:counted]),
        below=_to_optional(grades[counted:]),
        repeats=int(slots.is_repeat[0, :counted].sum()),
        known=tuple(batch.known.ranked(None)[0].tolist()),
        k=slots.k,
        skips_unrated=skips_unrated,
        unrated=unrated,
        displayed=min(returned, slots.k),
        top=batch.scale.top,
        score=score,
        low=None if np.isnan(low) else low,
        high=None if np.isnan(high) else high,
    )


def _to_optional(grades: FloatArray) -> tuple[float | None, ...]:
    return tuple(None if grade != grade else grade for grade in grades.tolist())


# --- words and phrases: how many of which results have a property ---


def count_in_words(count: int) -> str:
    """Returns "no", "one" … "ten" in words, larger counts in digits."""
    return _NUMBER_WORDS[count] if 0 <= count < len(_NUMBER_WORDS) else str(count)


def join_clauses(clauses: Sequence[str]) -> str:
    """Returns "", "a", "a and b", "a, b, and c"."""
    if len(clauses) < 3:
        return " and ".join(clauses)
    return f"{', '.join(clauses[:-1])}, and {clauses[-1]}"


def as_sentence(clause: str) -> str:
    """Returns the clause with a capital letter and a full stop."""
    return f"{clause[:1].upper()}{clause[1:]}."


def describe_group(size: int, k: int, counted: str = "") -> str:
    """Returns the `size` results in the first k: "the first ten results", "the three results returned", "the only result returned".

    `counted`: " counted" if unrated results were skipped, else "".
    """
    if size >= k:
        return f"the first {'result' if k == 1 else f'{count_in_words(k)} results'}{counted}"
    return f"the {'only result' if size == 1 else f'{count_in_words(size)} results'}{counted or ' returned'}"


def describe_count(
    count: int, size: int, k: int, quality: str, verb: Verb = BE, counted: str = "", exception: str = ""
) -> str:
    """Returns how many of the `size` results in the first k have a quality.

    "two of the first ten results are …", "none of the three results returned is …", "the first result is not …".
    `exception`: follows the group, such as ", not counting repeats,".
    """
    if size == 0:
        return NONE_COUNTED
    group = describe_group(size, k, counted)
    if size == 1:
        return f"{group} {verb.singular if count else verb.negated} {quality}"
    if count == size:
        return f"{'both' if size == 2 else 'all'} of {group} {verb.plural} {quality}"
    if count == 0:
        return f"{'neither' if size == 2 else 'none'} of {group}{exception} {verb.singular} {quality}"
    return f"{count_in_words(count)} of {group}{exception} {verb.singular if count == 1 else verb.plural} {quality}"
