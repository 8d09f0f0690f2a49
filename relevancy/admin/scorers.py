"""Scorers and site settings."""

from django.contrib import admin
from django.http import HttpRequest

from relevancy import models
from relevancy.admin_site import Section

from .base import OwnedAdmin, ReadOnlyInline, UndeletableAdmin


class ScorerVersionInline(ReadOnlyInline):
    model = models.ScorerVersion
    related = ("scorer", "created_by")
    fields = readonly_fields = (
        "number",
        "measure",
        "script",
        "output_range",
        "cutoff",
        "scale",
        "count_unscoreable_as_zero",
        "created_by",
        "created_at",
    )


@admin.register(models.Scorer)
class ScorerAdmin(OwnedAdmin):
    section = Section.SCORERS
    list_display = ("name", "owner", "is_default", "only_for", "created_at", "retired_at")
    list_filter = ("is_default", ("owner", admin.EmptyFieldListFilter), ("retired_at", admin.EmptyFieldListFilter))
    list_select_related = ("owner", "only_for")
    search_fields = ("description", *OwnedAdmin.search_fields)
    readonly_fields = ("only_for", "created_at")
    inlines = (ScorerVersionInline,)


@admin.register(models.Policy)
class PolicyAdmin(UndeletableAdmin):
    """The only row exists once a setting differs from its default."""

    section = Section.SCORERS
    list_display = ("__str__", "allow_user_scripts")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and not models.Policy.objects.exists()
