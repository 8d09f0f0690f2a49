"""Groups of cases in the administration."""

from django.contrib import admin

from relevancy.admin.base import IdSelectMixin
from relevancy.admin.read_only import register_read_only
from relevancy.admin_site import Section

from .models import CaseGroup, StoredGroupComparison

register_read_only(StoredGroupComparison, "group key computed_at error", section=Section.WORK)


@admin.register(CaseGroup)
class CaseGroupAdmin(IdSelectMixin, admin.ModelAdmin):
    list_display = ("name", "owner", "weighting", "created_at")
    list_filter = ("weighting",)
    list_select_related = ("owner",)
    search_fields = ("name", "owner__email", "owner__name")
    autocomplete_fields = ("owner", "teams", "cases")
    readonly_fields = ("created_at",)
