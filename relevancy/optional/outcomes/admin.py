"""Outcomes in the administration."""

from django.contrib import admin

from relevancy.admin.base import ReadOnlyAdmin

from .models import OnlineOutcome


@admin.register(OnlineOutcome)
class OnlineOutcomeAdmin(ReadOnlyAdmin):
    list_display = ("name", "case", "run_a", "run_b", "method", "created_by", "created_at")
    list_filter = ("method", "created_at")
    list_select_related = ("case", "run_a", "run_b", "created_by")
    search_fields = ("name", "case__name")
