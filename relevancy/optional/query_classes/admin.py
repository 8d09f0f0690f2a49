"""Rules in the administration."""

from relevancy.admin.read_only import register_read_only

from .models import RuleState, TaggedQuery, TagRule

register_read_only(TagRule, "tag case kind matches error created_by created_at")
register_read_only(TaggedQuery, "rule query")
register_read_only(RuleState, "case revision applied_revision applied_at")
