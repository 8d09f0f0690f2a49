"""Feature sets and logs in the administration."""

from relevancy.admin.read_only import register_read_only
from relevancy.admin_site import Section

from .models import FeatureLog, FeatureModel, FeatureSet, FeatureValues

register_read_only(FeatureSet, "case version attempt created_by created_at", section=Section.WORK)
register_read_only(
    FeatureLog,
    "feature_set run status queries done failed created_by created_at",
    related=["feature_set__case"],
    section=Section.WORK,
)
register_read_only(FeatureValues, "query log gone error", related=["log__feature_set"])
register_read_only(
    FeatureModel, "log kind version status created_by created_at", related=["log__feature_set"], section=Section.WORK
)
