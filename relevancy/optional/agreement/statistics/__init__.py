"""Agreement of raters: coefficients of all raters, pairs of raters, and figures of single raters and of queries.

Start with `RaterTable.build` and `measure_agreement`.
"""

from .coefficients import MIN_ITEMS, Agreement, Coefficient, RaterTable, measure_agreement
from .rater_pairs import KappaWeights, PairAgreement, compare_raters
from .raters import (
    AgreeingRaters,
    QueryGrades,
    RaterFigures,
    count_agreeing,
    estimate_kappas,
    measure_queries,
    measure_raters,
)

__all__ = [
    "MIN_ITEMS",
    "AgreeingRaters",
    "Agreement",
    "Coefficient",
    "KappaWeights",
    "PairAgreement",
    "QueryGrades",
    "RaterFigures",
    "RaterTable",
    "compare_raters",
    "count_agreeing",
    "estimate_kappas",
    "measure_agreement",
    "measure_queries",
    "measure_raters",
]
