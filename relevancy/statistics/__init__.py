"""Statistics: paired comparisons, overlap of result lists. Scores and differences are in points, 0 to 100.

numpy and scipy only: no Django, no network, no clock, and random numbers only from a given seed. Start with
`Differences.build` and `compare_paired`.
"""

from .corrections import ALPHA, correct_holm, group_runs, list_too_few
from .cross_fitted import compare_cross_fitted, find_cross_fitted_interval
from .differences import TIE, Differences, merge_units
from .errors import StatisticsError
from .generators import SEED
from .intervals import INTERVAL_KIND, Interval, find_interval, t_test
from .overlap import jaccard, rbo
from .power import detectable_difference, required_queries
from .randomisation import RunMeans, compare_means
from .sign_test import SignTest, sign_test
from .verdicts import EQUIVALENCE_MARGIN, PairedComparison, Verdict, compare_paired, compare_several

__all__ = [
    "ALPHA",
    "EQUIVALENCE_MARGIN",
    "INTERVAL_KIND",
    "SEED",
    "TIE",
    "Differences",
    "Interval",
    "PairedComparison",
    "RunMeans",
    "SignTest",
    "StatisticsError",
    "Verdict",
    "compare_cross_fitted",
    "compare_means",
    "compare_paired",
    "compare_several",
    "correct_holm",
    "detectable_difference",
    "find_cross_fitted_interval",
    "find_interval",
    "group_runs",
    "jaccard",
    "list_too_few",
    "merge_units",
    "rbo",
    "required_queries",
    "sign_test",
    "t_test",
]
