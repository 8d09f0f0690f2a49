"""What can be said of one ranking and its grades. Every sentence here must be true of every ranking it is said of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import FloatArray
from .batch import Batch
from .phrases import IS, NONE_LEFT, Verbs, group, no_one_of, some
from .slots import Slots
from .wording import half_up, in_words, plain


@dataclass(frozen=True)
class Reason:
    """A clause, `text`, as it stands in the sentence, and `detail`, as it stands in a list. `aside`: not a reason of
    the score, but worth knowing beside it."""

    text: str
    detail: str = ""
    aside: bool = False


@dataclass(frozen=True)
class Facts:
    """One query. `grades`: of the first k documents as the measure sees them (None: unrated or a repeat); `below`:
    of those returned below; `repeats`: how many of the first k are repeats. `known`: all known grades, best first.
    `depth`: k. `skipping`: unrated documents were taken out. `unrated` of the `looked_at` first k documents, none taken
    out, are unrated. `score`, `low`, `high`: 0–100, `score` None where there is none, `low` and `high` where there are
    no bounds.
    """

    grades: tuple[float | None, ...]
    below: tuple[float | None, ...]
    repeats: int
    known: tuple[float, ...]
    depth: int
    skipping: bool
    unrated: int
    looked_at: int
    top: float
    score: float | None
    low: float | None = None
    high: float | None = None

    @property
    def perfect(self) -> bool:
        return self.score is not None and self.score >= 100.0 - 1e-9

    # --- who is spoken of ---

    def first(self) -> str:
        """The documents that count, to follow "of": "the first ten", "the three returned"."""
        return group(len(self.grades), self.depth, self._counted())

    def _counted(self) -> str:
        return " counted" if self.skipping else ""

    def some(self, count: int, quality: str, verbs: Verbs = IS, aside: str = "") -> str:
        """ "two of the first ten are …", "none of the three returned is …", "the first document is not …"."""
        return some(count, len(self.grades), self.depth, quality, verbs, self._counted(), aside)

    # --- facts ---

    def some_unrated(self, aside: bool = False) -> Reason | None:
        """How many of the first k nobody has rated, and between what the score would then lie; aside, if it could not raise the
        score."""
        if not self.unrated:
            return None
        text = some(self.unrated, self.looked_at, self.depth, "unrated")
        if self.skipping:
            left_out = "was left out" if self.unrated == 1 else "were left out"
            return Reason(f"{text} and {left_out}", aside=True)
        hopeless = self.high is not None and self.score is not None and self.high < self.score + 0.05
        return Reason(text, text + self._range(), aside or hopeless)

    def all_rated(self) -> Reason:
        """To be said only where it is so: that none of the first k is left to rate."""
        return Reason(self.some(0, "unrated") if self.repeats else self.some(len(self.grades), "rated"))

    def _range(self) -> str:
        if self.low is None or self.high is None or self.high - self.low < 0.05:
            return ""
        them = "it" if self.unrated == 1 else "them"
        return f"; rating {them} would put the score between {half_up(self.low, 1)} and {half_up(self.high, 1)}"

    def best_rank(self, among: Sequence[float] | None = None, kind: str = "known") -> Reason | None:
        """Where the first of the best stands, unless at rank 1. `among`: the grades compared, if not all; `kind`: theirs."""
        grades = self.known if among is None else among
        best = max(grades, default=0.0)
        if best <= 0:
            return None
        same = sum(grade == best for grade in grades)
        return self._first_rank(
            lambda grade: grade == best,
            f"the best document {kind}" if same == 1 else f"the first of the {in_words(same)} best documents {kind}",
            f"the best document {kind}" if same == 1 else f"{no_one_of(same)} best documents {kind}",
        )

    def first_relevant(self, rel: float) -> Reason | None:
        """Where the first relevant document stands, unless at rank 1."""
        total = sum(grade >= rel for grade in self.known)
        if not total:
            return None
        none = "the only known relevant document" if total == 1 else "none of the known relevant documents"
        return self._first_rank(lambda grade: grade >= rel, "the first known relevant document", none)

    def _first_rank(self, wanted: Callable[[float], bool], subject: str, none: str) -> Reason | None:
        for rank, grade in enumerate((*self.grades, *self.below), start=1):
            if grade is not None and wanted(grade):
                below = f", below {self.first()}" if rank > len(self.grades) else ""
                of_those = " of those counted" if self.skipping else ""
                return Reason(f"{subject} is at rank {rank}{of_those}{below}") if rank > 1 else None
        return Reason(f"{none} {self._absent('is' if none.startswith(('none', 'neither')) else 'is not')}")

    def _absent(self, verb: str) -> str:
        """ "is not among the first ten"; where fewer came than were looked for, "was not returned"."""
        if len(self.grades) < self.depth:
            return f"{verb.replace('is', 'was').replace('are', 'were')} returned"
        return f"{verb} among {self.first()}" if len(self.grades) > 1 else f"{verb} at rank 1"

    def missing_relevant(self, rel: float) -> Reason | None:
        """How many of the known relevant documents are not among the first k."""
        total = sum(grade >= rel for grade in self.known)
        here = sum(grade is not None and grade >= rel for grade in self.grades)
        return self._missing(total - here, total, "only known relevant document", "known relevant documents")

    def missing_best(
        self,
        among: Sequence[float] | None = None,
        kind: str = "known",
        cut: bool = True,
        beside_best: bool = True,
    ) -> Reason | None:
        """How many of the best k known documents (all with a grade above 0, where not cut) are not in the first k.

        `beside_best`: leave it out where it is just the best one, of which `best_rank` speaks.
        """
        gaining = sorted((grade for grade in (self.known if among is None else among) if grade > 0), reverse=True)
        wanted = gaining[: self.depth] if cut else gaining
        here = Counter(grade for grade in self.grades if grade is not None)
        missing = Counter(wanted) - here
        just_the_best = wanted and missing == Counter(wanted[:1]) and wanted[0] not in here
        return (
            None
            if beside_best and just_the_best
            else self._missing(missing.total(), len(wanted), f"best document {kind}", f"best documents {kind}")
        )

    def _missing(self, missing: int, total: int, one: str, many: str) -> Reason | None:
        if missing <= 0:
            return None
        if total == 1:
            return Reason(f"the {one} {self._absent('is not')}")
        if missing == total:
            return Reason(f"{no_one_of(total)} {many} {self._absent('is')}")
        verb = "is not" if missing == 1 else "are not"
        return Reason(f"{in_words(missing)} of the {in_words(total)} {many} {self._absent(verb)}")

    def inversions(self) -> Reason | None:
        """How many of the first k stand above one with a better grade; unrated ones are not counted."""
        best_below, count = -np.inf, 0
        for grade in reversed(self.grades):
            if grade is not None:
                count += grade < best_below
                best_below = max(best_below, grade)
        if not count:
            return None
        return Reason(f"{in_words(count)} of {self.first()} {'stands' if count == 1 else 'stand'} above a better one")

    def not_relevant_above(self, rel: float, judged: bool = False) -> Reason | None:
        """How many rated documents that are not relevant stand above a relevant one in the first k. `judged`: a grade
        below 0 does not count, as in Bpref."""
        lowest = 0.0 if judged else -np.inf
        last = max((at for at, grade in enumerate(self.grades) if grade is not None and grade >= rel), default=0)
        count = sum(grade is not None and lowest <= grade < rel for grade in self.grades[:last])
        if not count:
            return None
        one = count == 1
        which = "judged" if judged else "that is" if one else "that are"
        who = f"{in_words(count)} {'document' if one else 'documents'} {which} not relevant"
        return Reason(f"{who} {'stands' if one else 'stand'} above a relevant one")

    def all_relevant_found(self, rel: float) -> Reason:
        """To be said only where it is so: that the first k hold all known relevant documents."""
        total = sum(grade >= rel for grade in self.known)
        one = total == 1
        where = f"among {self.first()}" if self.depth > 1 else "at rank 1"
        came = f"{'was' if one else 'were'} returned"
        here = came if len(self.grades) < self.depth else f"{'is' if one else 'are'} {where}"
        return Reason(f"{'the only' if one else _all(total)} known relevant document{'' if one else 's'} {here}")

    def all_relevant_on_top(self, rel: float) -> Reason:
        """To be said only where it is so: that the known relevant documents stand above all others."""
        total = sum(grade >= rel for grade in self.known)
        of_those = " of those counted" if self.skipping else ""
        if total == 1:
            return Reason(f"the only known relevant document is at rank 1{of_those}")
        return Reason(f"{_all(total)} known relevant documents are at ranks 1 to {total}{of_those}")

    def some_relevant(self, rel: float) -> Reason | None:
        """How many of the first k are relevant, as far as anyone has said."""
        if self._none_rated():
            return None
        rated = "rated " if self.unrated and not self.skipping else ""
        count = sum(grade is not None and grade >= rel for grade in self.grades)
        return Reason(self.some(count, f"{rated}relevant", aside=self._aside()))

    def at_the_top(self) -> Reason | None:
        """How many of the first k have the scale's top grade."""
        if self._none_rated():
            return None
        count = sum(grade is not None and grade >= self.top for grade in self.grades)
        only = "only " if 0 < count < len(self.grades) else ""
        verbs = ("has", "have", "does not have")
        return Reason(only + self.some(count, f"the top grade ({plain(self.top)})", verbs, self._aside()))

    def in_order(self) -> Reason | None:
        """That the first k, all rated, stand from best to worst."""
        if len(self.grades) < 2 or None in self.grades or self.inversions():
            return None
        return Reason(f"{self.first()} stand from best to worst")

    def _none_rated(self) -> bool:
        """Then that is all there is to say of their grades."""
        return 0 < len(self.grades) == self.unrated and not self.skipping

    def _aside(self) -> str:
        return ", repeats aside," if self.repeats else ""

    def some_repeats(self) -> Reason | None:
        """How many of the first k stood at a better rank already."""
        if not self.repeats:
            return None
        text = self.some(self.repeats, "a repeat" if self.repeats == 1 else "repeats")
        return Reason(text, f"{text} and {'gains' if self.repeats == 1 else 'gain'} nothing")

    def fewer(self) -> Reason | None:
        """How many there are, where they are fewer than k."""
        count = len(self.grades)
        if count >= self.depth:
            return None
        if self.skipping:
            left = f"only {in_words(count)} {'document was' if count == 1 else 'documents were'} left to count"
            return Reason(left if count else NONE_LEFT)
        return Reason(f"only {in_words(count)} {'document was' if count == 1 else 'documents were'} returned")


def gather(batch: Batch, slots: Slots, score: float | None, low: float, high: float, skipping: bool) -> Facts:
    """The facts of the one query of `batch`, of which the measure sees `slots`. NaN: no bounds."""
    held, returned = int(slots.held[0]), min(int(batch.returned[0]), batch.grades.shape[1])
    grades, repeats = batch.grades[0, :returned], batch.repeats[0, :returned]
    first = slice(0, slots.depth)
    unrated = int((np.isnan(grades) & ~repeats)[first].sum())
    if skipping:
        grades = grades[~np.isnan(grades) | repeats]
    return Facts(
        grades=_optional(grades[:held]),
        below=_optional(grades[held:]),
        repeats=int(slots.repeated[0, :held].sum()),
        known=tuple(batch.best()[0].tolist()),
        depth=slots.depth,
        skipping=skipping,
        unrated=unrated,
        looked_at=min(returned, slots.depth),
        top=batch.scale.top,
        score=score,
        low=None if np.isnan(low) else low,
        high=None if np.isnan(high) else high,
    )


def _optional(grades: FloatArray) -> tuple[float | None, ...]:
    return tuple(None if np.isnan(grade) else float(grade) for grade in grades)


def _all(total: int) -> str:
    return "both" if total == 2 else f"all {in_words(total)}"
