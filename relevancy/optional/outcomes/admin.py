"""Outcomes in the administration."""

from relevancy.admin.read_only import register_read_only

from .models import OnlineOutcome

register_read_only(OnlineOutcome, "name case run_a run_b method created_by created_at")
