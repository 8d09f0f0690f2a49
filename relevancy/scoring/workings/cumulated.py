"""CG, DCG and nDCG, rank by rank: gain, discount, product, running sum, and the ideal list beside them."""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.definition import Settings
from relevancy.scoring.formulas import discount_latex, discount_title, gain_latex, gain_title
from relevancy.scoring.gains import discounts, gains
from relevancy.scoring.ideal import ideal_grades
from relevancy.scoring.slots import Slots
from relevancy.scoring.table import Column, Filled, Working, last, tabulate
from relevancy.scoring.wording import half_up

NOTHING = "No document to count: 0"


def show_cg(slots: Slots, settings: Settings) -> Working:
    """Gain and its running sum."""
    gained = gains(slots.grades, settings.choice("gain"))[0, : int(slots.held[0])]
    columns = [_gain(settings, gained), (Column("sum", "CG", sums="gain"), np.cumsum(gained))]
    total = last(columns[-1][1])
    return tabulate(slots, columns, total, _sum_of("gains", total, gained), {})


def show_dcg(slots: Slots, settings: Settings) -> Working:
    """Gain, discount, their product and its running sum."""
    columns = _ranking(slots, settings, int(slots.held[0]))
    total = last(columns[-1][1])
    return tabulate(slots, columns, total, _sum_of("products", total, columns[-1][1]), {})


def show_ndcg(slots: Slots, settings: Settings) -> Working:
    """As DCG, with the ideal list to the right; its discounts reach as far as the longer of the two."""
    ideal = _ideal(slots, settings)
    columns = _ranking(slots, settings, max(int(slots.held[0]), len(ideal)))
    product = gains(ideal, settings.choice("gain")) * discounts(settings.choice("discount"), len(ideal))
    columns += [
        (Column("ideal_grade", "Ideal grade", decimals=None, ideal=True), ideal),
        (Column("ideal_product", "Product", _ideal_latex(settings), ideal=True), product),
        (Column("ideal_sum", "Ideal DCG", sums="ideal_product", ideal=True), np.cumsum(product)),
    ]
    total = last(next(numbers for column, numbers in columns if column.key == "sum"))
    best = last(columns[-1][1])
    if best <= 0:
        return tabulate(slots, columns, 0.0, "The ideal list is worth nothing: 0", {})
    result = min(total / best, 1.0)
    conclusion = f"{half_up(total, 3)} ÷ {half_up(best, 3)} = {half_up(result, 4)}"
    return tabulate(slots, columns, result, conclusion, {})


def _ideal_latex(settings: Settings) -> str:
    return rf"({gain_latex(settings, 'i_r')}) \cdot {discount_latex(settings)}"


def _ranking(slots: Slots, settings: Settings, length: int) -> list[Filled]:
    held = int(slots.held[0])
    gained = gains(slots.grades, settings.choice("gain"))[0, :held]
    worth = discounts(settings.choice("discount"), length)
    product = gained * worth[:held]
    return [
        _gain(settings, gained),
        (Column("discount", f"Discount {discount_title(settings)}", discount_latex(settings), decimals=4), worth),
        (Column("product", "Product"), product),
        (Column("sum", "DCG", sums="product"), np.cumsum(product)),
    ]


def _gain(settings: Settings, gained: FloatArray) -> Filled:
    return Column("gain", f"Gain {gain_title(settings)}", gain_latex(settings)), gained


def _ideal(slots: Slots, settings: Settings) -> FloatArray:
    """The grades of the ideal list, without the padding that stands for unrated documents at its end."""
    ideal = settings.choice("ideal")
    if ideal == "max":
        length = min(int(slots.held[0]), slots.depth) if slots.at_own_length else slots.depth
        return np.full(length, slots.scale.top)
    grades: FloatArray = ideal_grades(slots, ideal)[0]
    if ideal in ("local", "recall"):
        source = slots.grades if ideal == "local" else slots.everything
        return grades[: int((~np.isnan(source)).sum())]
    return grades


def _sum_of(what: str, total: float, numbers: FloatArray) -> str:
    return f"Sum of the {what} = {half_up(total, 3)}" if len(numbers) else NOTHING
