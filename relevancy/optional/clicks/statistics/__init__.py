"""Click models: how relevant documents are, estimated from what users click. Positions bias clicks: each model corrects for that in
its own way.

Start with `ClickCounts.build`.
"""

from .counts import PRIOR_STRENGTH, ClickCounts, ClickEstimates
from .examination import estimate_examination
from .models import MAX_CLICK_WEIGHT, estimate_by_cascade, estimate_by_coec, estimate_by_ips, estimate_by_position

__all__ = [
    "MAX_CLICK_WEIGHT",
    "PRIOR_STRENGTH",
    "ClickCounts",
    "ClickEstimates",
    "estimate_by_cascade",
    "estimate_by_coec",
    "estimate_by_ips",
    "estimate_by_position",
    "estimate_examination",
]
