"""Preference tests in the administration."""

from django.contrib import admin

from relevancy.admin.base import ReadOnlyAdmin

from . import models


@admin.register(models.PreferenceTest)
class PreferenceTestAdmin(ReadOnlyAdmin):
    list_display = ("pk", "run_a", "run_b", "drawn", "identical", "created_by", "created_at", "closed_at")
    list_select_related = ("run_a", "run_b", "created_by")


@admin.register(models.PreferenceQuery)
class PreferenceQueryAdmin(ReadOnlyAdmin):
    list_display = ("query", "test")
    list_select_related = ("query", "test")
    search_fields = ("query__text",)


@admin.register(models.Preference)
class PreferenceAdmin(ReadOnlyAdmin):
    list_display = ("test_query", "rater", "choice", "at", "undone_at")
    list_filter = ("choice", "at")
    list_select_related = ("test_query", "rater")
    search_fields = ("test_query__query__text", "rater__email")
