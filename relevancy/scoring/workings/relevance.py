"""Measures that ask whether a document is relevant: P, R, Success, AP, RR, RBP, Bpref."""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.definition import Settings
from relevancy.scoring.slots import Slots
from relevancy.scoring.table import Column, Filled, Working, last, tabulate
from relevancy.scoring.wording import half_up, plain

_COUNT = Column("count", "So far", sums="relevant", decimals=0)


def show_precision(slots: Slots, settings: Settings) -> Working:
    """Relevant or not, and how many so far; divided by k or by what was returned."""
    by_k = settings.choice("denominator") == "k"
    return _share(slots, settings, float(slots.depth) if by_k else float(slots.held[0]))


def show_recall(slots: Slots, settings: Settings) -> Working:
    """As precision, divided by the number of known relevant documents."""
    return _share(slots, settings, float(slots.known_between(settings.number("rel"))[0]))


def show_success(slots: Slots, settings: Settings) -> Working:
    """As precision, without a division: one is enough."""
    columns, hits = _counted(slots, settings)
    result = 1.0 if hits else 0.0
    conclusion = f"{plain(hits) if hits else 'No'} relevant among the first {slots.depth}: {plain(result)}"
    return tabulate(slots, columns, result, conclusion, {})


def show_average_precision(slots: Slots, settings: Settings) -> Working:
    """The precision at every relevant document, and their running sum."""
    marks = _marks(slots, settings)
    ranks = slots.ranks[: len(marks)]
    at_hits = np.where(marks > 0, np.cumsum(marks) / ranks, np.nan)
    running = np.cumsum(np.nan_to_num(at_hits))
    columns: list[Filled] = [
        _relevant(marks),
        (_COUNT, np.cumsum(marks)),
        (Column("precision", "Precision at the hit", decimals=4), at_hits),
        (Column("sum", "Sum", sums="precision", decimals=4), running),
    ]
    total, known = last(running), float(slots.known_between(settings.number("rel"))[0])
    return _divided(slots, columns, (total, 4), ("known", known))


def show_reciprocal_rank(slots: Slots, settings: Settings) -> Working:
    """The reciprocal of each rank; that of the first relevant document counts."""
    marks = _marks(slots, settings)
    reciprocal = 1.0 / slots.ranks[: len(marks)]
    columns: list[Filled] = [
        _relevant(marks),
        (Column("reciprocal", "1 / rank", r"\frac{1}{r}", decimals=4), reciprocal),
    ]
    if not marks.any():
        return tabulate(slots, columns, 0.0, f"No relevant document among the first {slots.depth}: 0", {})
    first = int(np.argmax(marks > 0))
    result = float(reciprocal[first])
    conclusion = f"The first relevant document is at rank {first + 1}: 1 ÷ {first + 1} = {half_up(result, 4)}"
    return tabulate(slots, columns, result, conclusion, {"first": first + 1.0})


def show_rank_biased_precision(slots: Slots, settings: Settings) -> Working:
    """The weight of each rank, counted where the document is relevant."""
    marks, p = _marks(slots, settings), settings.number("p")
    weight = (1.0 - p) * p ** (slots.ranks[: len(marks)] - 1.0)
    running = np.cumsum(marks * weight)
    left, power = f"{1.0 - p:g}", f"{p:g}"
    columns: list[Filled] = [
        _relevant(marks),
        (Column("weight", f"Weight (1 − p) · p^(r − 1), p = {power}", r"(1 - p) \cdot p^{r - 1}", decimals=4), weight),
        (Column("product", "Product", decimals=4), marks * weight),
        (Column("sum", "Sum", sums="product", decimals=4), running),
    ]
    total = last(running)
    note = f"A reader who goes on with probability {power} stops at each result with probability {left}."
    return tabulate(slots, columns, total, f"Sum of the products = {half_up(total, 4)}", {}, (note,))


def show_binary_preference(slots: Slots, settings: Settings) -> Working:
    """For every relevant document, how many of those judged not relevant stand above it."""
    rel, marks = settings.number("rel"), _marks(slots, settings)
    grades = slots.grades[0, : len(marks)]
    relevant, others = float(slots.known_between(rel)[0]), float(slots.known_between(0.0, rel)[0])
    against = (grades >= 0) & (grades < rel)
    above = np.cumsum(against).astype(np.float64)
    most = max(min(others, relevant), 1.0)
    term = np.where(marks > 0, 1.0 - np.minimum(above, relevant) / most, np.nan)
    running = np.cumsum(np.nan_to_num(term))
    judged = np.where((marks > 0) | against, marks, np.nan)
    columns: list[Filled] = [
        (Column("relevant", "Relevant", decimals=0), judged),
        (Column("above", "Judged not relevant, so far", decimals=0), above),
        (Column("term", "1 − n / min(N, R)", r"1 - \frac{\min(n_r, R)}{\min(N, R)}", decimals=4), term),
        (Column("sum", "Sum", sums="term", decimals=4), running),
    ]
    note = f"Known: R = {plain(relevant)} relevant, N = {plain(others)} judged not relevant."
    return _divided(slots, columns, (last(running), 4), ("known", relevant), (note,))


def _share(slots: Slots, settings: Settings, whole: float) -> Working:
    columns, hits = _counted(slots, settings)
    return _divided(slots, columns, (hits, 0), ("whole", whole))


def _counted(slots: Slots, settings: Settings) -> tuple[list[Filled], float]:
    marks = _marks(slots, settings)
    running = np.cumsum(marks)
    return [_relevant(marks), (_COUNT, running)], last(running)


def _divided(
    slots: Slots,
    columns: list[Filled],
    part: tuple[float, int],
    whole: tuple[str, float],
    notes: tuple[str, ...] = (),
) -> Working:
    """`part` (value, decimals) over `whole` (name, value)."""
    value, places = part
    totals = {whole[0]: whole[1]}
    if whole[1] <= 0:
        return tabulate(slots, columns, 0.0, "No document to count: 0", totals, notes)
    result = value / whole[1]
    conclusion = f"{half_up(value, places)} ÷ {plain(whole[1])} = {half_up(result, 4)}"
    return tabulate(slots, columns, result, conclusion, totals, notes)


def _marks(slots: Slots, settings: Settings) -> FloatArray:
    """1 for every relevant document of the first k, 0 for the others."""
    return slots.relevant(settings.number("rel"))[0, : int(slots.held[0])].astype(np.float64)


def _relevant(marks: FloatArray) -> Filled:
    return Column("relevant", "Relevant", r"\text{rel}_r", decimals=0), marks
