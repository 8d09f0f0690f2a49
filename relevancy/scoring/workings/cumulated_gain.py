"""The workings of measures of gains: those of CG, DCG and nDCG, with the ideal list beside them, and that of ERR."""

from __future__ import annotations

import numpy as np

from relevancy.scoring.arrays import FloatArray
from relevancy.scoring.definition import Settings
from relevancy.scoring.measures.gains import compute_discounts, compute_gains, ideal_grades
from relevancy.scoring.measures.latex import discount_latex, discount_title, gain_latex, gain_title
from relevancy.scoring.rounding import format_rounded, format_short
from relevancy.scoring.slots import Slots
from relevancy.scoring.workings.table import NO_RESULTS, Column, NumberedColumn, Working, build_table, last_sum


def build_cg_working(slots: Slots, settings: Settings) -> Working:
    """Shows gain and its running sum."""
    gains = compute_gains(slots.grades, settings.choice("gain"))[0, : int(slots.filled_counts[0])]
    sums = np.cumsum(gains)
    columns = [_gain_column(settings, gains), (Column("sum", "CG", sums="gain"), sums)]
    return build_table(slots, columns, last_sum(sums), _sum_conclusion("gains", sums), {})


def build_dcg_working(slots: Slots, settings: Settings) -> Working:
    """Shows gain, discount, their product and its running sum."""
    columns = _dcg_columns(slots, settings, int(slots.filled_counts[0]))
    sums = columns[-1][1]
    return build_table(slots, columns, last_sum(sums), _sum_conclusion("products", sums), {})


def build_ndcg_working(slots: Slots, settings: Settings) -> Working:
    """Shows the columns of DCG, then those of the ideal list. There are as many discounts as the longer of both has ranks."""
    ideal = _list_ideal_grades(slots, settings)
    columns = _dcg_columns(slots, settings, max(int(slots.filled_counts[0]), len(ideal)))
    dcg = last_sum(columns[-1][1])
    ideal_gains = compute_gains(ideal, settings.choice("gain"))
    products = ideal_gains * compute_discounts(settings.choice("discount"), len(ideal))
    sums = np.cumsum(products)
    product_latex = rf"({gain_latex(settings, 'i_r')}) \cdot {discount_latex(settings)}"
    columns += [
        (Column("ideal_grade", "Ideal grade", decimals=None, is_ideal=True), ideal),
        (Column("ideal_product", "Product", product_latex, is_ideal=True), products),
        (Column("ideal_sum", "Ideal DCG", sums="ideal_product", is_ideal=True), sums),
    ]
    ideal_dcg = last_sum(sums)
    if ideal_dcg <= 0:
        return build_table(slots, columns, 0.0, "The ideal list has no gain: 0", {})
    result = min(dcg / ideal_dcg, 1.0)
    conclusion = f"{format_rounded(dcg, 3)} ÷ {format_rounded(ideal_dcg, 3)} = {format_rounded(result, 4)}"
    return build_table(slots, columns, result, conclusion, {})


def build_err_working(slots: Slots, _settings: Settings) -> Working:
    """Shows the probabilities of stopping at a rank and of reaching it, 1 / rank, their product and its running sum."""
    returned = int(slots.filled_counts[0])
    stops = compute_gains(slots.grades, "exp")[0, :returned] / np.exp2(slots.scale.top)
    reaches = np.cumprod(np.concatenate(([1.0], 1.0 - stops)))[:returned]
    reciprocals = 1.0 / slots.ranks[:returned]
    products = stops * reaches * reciprocals
    sums = np.cumsum(products)
    top = format_short(slots.scale.top)
    columns = [
        (Column("stops", f"Stops here: p = (2^g − 1) / 2^{top}", rf"\frac{{2^{{g_r}} - 1}}{{2^{{{top}}}}}", 4), stops),
        (Column("arrives", "Reaches this rank", r"\prod_{i=1}^{r-1} (1 - p_i)", 4), reaches),
        (Column("reciprocal", "1 / rank", r"\frac{1}{r}", 4), reciprocals),
        (Column("product", "Product", decimals=4), products),
        (Column("sum", "Sum", sums="product", decimals=4), sums),
    ]
    total = last_sum(sums)
    conclusion = f"Sum of the products = {format_rounded(total, 4)}" if returned else NO_RESULTS
    return build_table(slots, columns, total, conclusion, {})


def _dcg_columns(slots: Slots, settings: Settings, discount_count: int) -> list[NumberedColumn]:
    returned = int(slots.filled_counts[0])
    gains = compute_gains(slots.grades, settings.choice("gain"))[0, :returned]
    discounts = compute_discounts(settings.choice("discount"), discount_count)
    products = gains * discounts[:returned]
    discount_column = Column("discount", f"Discount {discount_title(settings)}", discount_latex(settings), decimals=4)
    return [
        _gain_column(settings, gains),
        (discount_column, discounts),
        (Column("product", "Product"), products),
        (Column("sum", "DCG", sums="product"), np.cumsum(products)),
    ]


def _gain_column(settings: Settings, gains: FloatArray) -> NumberedColumn:
    return Column("gain", f"Gain {gain_title(settings)}", gain_latex(settings)), gains


def _list_ideal_grades(slots: Slots, settings: Settings) -> FloatArray:
    """Returns the grades of the ideal list, without the zeros that pad it where documents are unrated."""
    ideal = settings.choice("ideal")
    if ideal == "max":
        length = slots.k if slots.has_cutoff else int(slots.filled_counts[0])
        return np.full(length, slots.scale.top)
    grades: FloatArray = ideal_grades(slots, ideal)[0]
    if ideal in ("local", "recall"):
        source = slots.grades if ideal == "local" else slots.all_grades
        return grades[: int((~np.isnan(source)).sum())]
    return grades


def _sum_conclusion(summed: str, sums: FloatArray) -> str:
    return f"Sum of the {summed} = {format_rounded(last_sum(sums), 3)}" if len(sums) else NO_RESULTS
