"""Click models: how relevant documents are, estimated from what users click. Positions bias clicks: each model corrects for that in
its own way.

Start with `ClickCounts.build` and `estimate_relevance`, or with `ExaminationCounts.build` and `estimate_by_cascade`.
"""

from .cascade import ExaminationCounts, estimate_by_cascade
from .counts import ClickCounts
from .estimates import PRIOR_STRENGTH, ClickEstimates
from .examination import Examination, estimate_examination
from .models import MAX_CLICK_WEIGHT, estimate_by_coec, estimate_by_ips, estimate_by_position

__all__ = [
    "MAX_CLICK_WEIGHT",
    "PRIOR_STRENGTH",
    "ClickCounts",
    "ClickEstimates",
    "Examination",
    "ExaminationCounts",
    "estimate_by_cascade",
    "estimate_by_coec",
    "estimate_by_ips",
    "estimate_by_position",
    "estimate_examination",
]
