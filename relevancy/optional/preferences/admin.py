"""Preference tests in the administration."""

from relevancy.admin.read_only import register_read_only

from . import models

register_read_only(models.PreferenceTest, "pk run_a run_b drawn identical created_by created_at closed_at")
register_read_only(models.PreferenceQuery, "query test")
register_read_only(models.Preference, "test_query rater choice at undone_at")
