"""Clicks in the administration."""

from relevancy.admin.read_only import register_read_only

from .models import ClickEstimate, ClickLog

register_read_only(ClickEstimate, "doc_id query log value evidence shown clicks")
register_read_only(ClickLog, "name book method searches pairs is_ready created_by created_at")
