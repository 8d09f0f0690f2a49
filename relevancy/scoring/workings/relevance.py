"""The workings of measures for which a document is relevant or not: P, R, Success, AP, RR, RBP, Bpref; or rated: Judged."""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.definition import Settings
from relevancy.scoring.rounding import format_rounded, format_short
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.table import NO_RESULTS, Column, NumberedColumn, Working, build_table, last_sum

_COUNT = Column("count", "Running count", sums="relevant", decimals=0)


def build_precision_working(slots: Slots, settings: Settings) -> Working:
    """Shows whether each result is relevant, and the running count; divided by k or by the number of results."""
    divides_by_k = settings.choice("denominator") == "k"
    return _build_share(slots, settings, float(slots.k) if divides_by_k else float(slots.filled_counts[0]))


def build_recall_working(slots: Slots, settings: Settings) -> Working:
    """Shows whether each result is relevant, and the running count; divided by the number of known relevant documents."""
    return _build_share(slots, settings, float(slots.count_known(settings.number("rel"))[0]))


def build_success_working(slots: Slots, settings: Settings) -> Working:
    """Shows whether each result is relevant, and the running count, of which one is enough."""
    columns, hits = _relevance_columns(slots, settings)
    result = 1.0 if hits else 0.0
    results = "result" if hits == 1 else "results"
    conclusion = f"{format_short(hits)} relevant {results} in the first {slots.k}: {format_short(result)}"
    return build_table(slots, columns, result, conclusion, {})


def build_ap_working(slots: Slots, settings: Settings) -> Working:
    """Shows the precision at every relevant result, and their running sum."""
    relevance = _relevance(slots, settings)
    counts = np.cumsum(relevance)
    precisions = np.where(relevance > 0, counts / slots.ranks[: len(relevance)], np.nan)
    sums = np.cumsum(np.nan_to_num(precisions))
    columns: list[NumberedColumn] = [
        _relevance_column(relevance),
        (_COUNT, counts),
        (Column("precision", "Precision at this rank", decimals=4), precisions),
        (Column("sum", "Sum", sums="precision", decimals=4), sums),
    ]
    known = float(slots.count_known(settings.number("rel"))[0])
    return _divide(slots, columns, (last_sum(sums), 4), ("known", known))


def build_rr_working(slots: Slots, settings: Settings) -> Working:
    """Shows the reciprocal of each rank; that of the first relevant result is the value."""
    relevance = _relevance(slots, settings)
    reciprocals = 1.0 / slots.ranks[: len(relevance)]
    columns: list[NumberedColumn] = [
        _relevance_column(relevance),
        (Column("reciprocal", "1 / rank", r"\frac{1}{r}", decimals=4), reciprocals),
    ]
    if not relevance.any():
        return build_table(slots, columns, 0.0, f"No relevant result in the first {slots.k}: 0", {})
    rank = int(np.argmax(relevance > 0)) + 1
    result = float(reciprocals[rank - 1])
    conclusion = f"The first relevant result is at rank {rank}: 1 ÷ {rank} = {format_rounded(result, 4)}"
    return build_table(slots, columns, result, conclusion, {"first": float(rank)})


def build_rbp_working(slots: Slots, settings: Settings) -> Working:
    """Shows the weight of each rank, which counts if the result is relevant."""
    relevance, p = _relevance(slots, settings), settings.number("p")
    weights = (1.0 - p) * p ** (slots.ranks[: len(relevance)] - 1.0)
    products = relevance * weights
    sums = np.cumsum(products)
    title = f"Weight (1 − p) · p^(r − 1), p = {p:g}"
    columns: list[NumberedColumn] = [
        _relevance_column(relevance),
        (Column("weight", title, r"(1 - p) \cdot p^{r - 1}", decimals=4), weights),
        (Column("product", "Product", decimals=4), products),
        (Column("sum", "Sum", sums="product", decimals=4), sums),
    ]
    total = last_sum(sums)
    note = f"A user who goes on with probability {p:g} stops at each result with probability {1.0 - p:g}."
    return build_table(slots, columns, total, f"Sum of the products = {format_rounded(total, 4)}", {}, (note,))


def build_bpref_working(slots: Slots, settings: Settings) -> Working:
    """Shows, for every relevant result, how many results judged non-relevant are ranked above it."""
    rel, relevance = settings.number("rel"), _relevance(slots, settings)
    grades = slots.grades[0, : len(relevance)]
    relevant = float(slots.count_known(rel)[0])
    nonrelevant = float(slots.count_known(0.0, below=rel)[0])
    is_nonrelevant = (grades >= 0) & (grades < rel)
    above = np.cumsum(is_nonrelevant).astype(np.float64)
    divisor = max(min(nonrelevant, relevant), 1.0)
    terms = np.where(relevance > 0, 1.0 - np.minimum(above, relevant) / divisor, np.nan)
    sums = np.cumsum(np.nan_to_num(terms))
    judged = np.where((relevance > 0) | is_nonrelevant, relevance, np.nan)
    columns: list[NumberedColumn] = [
        (Column("relevant", "Relevant", decimals=0), judged),
        (Column("above", "Judged non-relevant so far (n)", decimals=0), above),
        (Column("term", "1 − n / min(N, R)", r"1 - \frac{\min(n_r, R)}{\min(N, R)}", decimals=4), terms),
        (Column("sum", "Sum", sums="term", decimals=4), sums),
    ]
    note = f"Known: R = {format_short(relevant)} relevant, N = {format_short(nonrelevant)} judged non-relevant."
    return _divide(slots, columns, (last_sum(sums), 4), ("known", relevant), (note,))


def build_judged_working(slots: Slots, _settings: Settings) -> Working:
    """Shows 1 for a rated result, 0 for an unrated one, nothing for a repeat."""
    returned = int(slots.filled_counts[0])
    rated = slots.is_rated[0, :returned].astype(np.float64)
    rated[slots.is_repeat[0, :returned]] = np.nan
    count, total = float(np.nansum(rated)), float((~np.isnan(rated)).sum())
    columns = [
        (Column("rated", "Rated", decimals=0), rated),
        (Column("count", "Running count", sums="rated", decimals=0), np.cumsum(np.nan_to_num(rated))),
    ]
    totals = {"whole": total}
    if not total:
        return build_table(slots, columns, 0.0, NO_RESULTS, totals)
    result = count / total
    conclusion = f"{format_short(count)} ÷ {format_short(total)} = {format_rounded(result, 4)}"
    return build_table(slots, columns, result, conclusion, totals)


def _build_share(slots: Slots, settings: Settings, denominator: float) -> Working:
    columns, hits = _relevance_columns(slots, settings)
    return _divide(slots, columns, (hits, 0), ("whole", denominator))


def _relevance_columns(slots: Slots, settings: Settings) -> tuple[list[NumberedColumn], float]:
    relevance = _relevance(slots, settings)
    counts = np.cumsum(relevance)
    return [_relevance_column(relevance), (_COUNT, counts)], last_sum(counts)


def _divide(
    slots: Slots,
    columns: list[NumberedColumn],
    numerator: tuple[float, int],
    denominator: tuple[str, float],
    notes: tuple[str, ...] = (),
) -> Working:
    """Builds the working of a division. `numerator`: (value, decimals); `denominator`: (name, value)."""
    dividend, places = numerator
    name, divisor = denominator
    totals = {name: divisor}
    if divisor <= 0:
        return build_table(slots, columns, 0.0, NO_RESULTS, totals, notes)
    result = dividend / divisor
    conclusion = f"{format_rounded(dividend, places)} ÷ {format_short(divisor)} = {format_rounded(result, 4)}"
    return build_table(slots, columns, result, conclusion, totals, notes)


def _relevance(slots: Slots, settings: Settings) -> FloatArray:
    """Returns 1 for every relevant result in the first k, 0 for the others."""
    return slots.is_relevant(settings.number("rel"))[0, : int(slots.filled_counts[0])].astype(np.float64)


def _relevance_column(relevance: FloatArray) -> NumberedColumn:
    return Column("relevant", "Relevant", r"\text{rel}_r", decimals=0), relevance
