"""Facts about one ranking and its grades, and the phrases in which they are stated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.batch import Batch
from relevancy.scoring.slots import Slots, judged_grades

from .phrases import BE, Verb, count_in_words, describe_count, describe_group, describe_single, none_of


@dataclass(frozen=True)
class Reason:
    """A clause that explains a score.

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
        if len(self.grades) == 1:
            return describe_single(self.k, self._counted)
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
            return Reason(f"{none_of(total)} {plural} {self._not_here('is', '')}")
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
    grades, repeats = judged_grades(batch)[0, :returned], batch.repeats[0, :returned]
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
