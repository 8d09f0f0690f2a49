"""Books, queries, cases and endpoints."""

from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest

from relevancy import models, scores

from .base import ReadOnlyInline, UndeletableAdmin


@admin.register(models.Book)
class BookAdmin(UndeletableAdmin):
    list_display = ("name", "owner", "rule", "relevant_from", "created_at")
    list_filter = ("rule",)
    list_select_related = ("owner",)
    search_fields = ("name", "owner__email", "owner__name")
    autocomplete_fields = ("owner", "teams")
    # Another scale or rule changes every score, so it can only be changed where that triggers a rescoring.
    readonly_fields = ("scale", "relevant_from", "rule", "created_at", "rescore_queued_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(models.Query)
class QueryAdmin(UndeletableAdmin):
    list_display = ("text", "book", "revision", "created_at", "retired_at")
    list_filter = (("retired_at", admin.EmptyFieldListFilter), "created_at")
    list_select_related = ("book",)
    search_fields = ("text",)
    raw_id_fields = ("book",)
    readonly_fields = ("book", "text", "text_key", "tags", "revision", "created_at")
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


class CaseScorerInline(ReadOnlyInline):
    model = models.CaseScorer
    related = ("scorer", "case")
    fields = ("scorer", "position")


@admin.register(models.Case)
class CaseAdmin(UndeletableAdmin):
    list_display = ("name", "owner", "book", "created_at", "archived_at")
    list_filter = (("archived_at", admin.EmptyFieldListFilter), "teams")
    list_select_related = ("owner", "book")
    search_fields = ("name", "owner__email", "owner__name")
    autocomplete_fields = ("owner", "teams")
    readonly_fields = ("book", "created_at")
    inlines = (CaseScorerInline,)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(models.CaseQuery)
class CaseQueryAdmin(UndeletableAdmin):
    list_display = ("query", "case", "position", "weight", "removed_at")
    list_filter = (("removed_at", admin.EmptyFieldListFilter),)
    list_select_related = ("query", "case")
    search_fields = ("query__text", "case__name")
    readonly_fields = ("case", "query", "options")
    show_full_result_count = False

    def save_model(self, request: HttpRequest, obj: models.CaseQuery, form: Any, change: bool) -> None:
        """The scores of the case depend on its queries and their weights."""
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            scores.case_changed(obj.case_id)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(models.Endpoint)
class EndpointAdmin(UndeletableAdmin):
    list_display = ("name", "engine", "url", "owner", "credentials_set", "archived_at")
    list_filter = ("engine", ("archived_at", admin.EmptyFieldListFilter))
    list_select_related = ("owner",)
    search_fields = ("name", "url", "owner__email")
    autocomplete_fields = ("owner", "teams")
    fieldsets = (
        (None, {"fields": ("name", "engine", "url", "options", "credentials_set", "headers_set")}),
        ("Rate limit", {"fields": ("parallel", "per_minute")}),
        ("Allowed at the engine", {"fields": ("allowed_handlers", "allowed_indexes")}),
        ("Owner", {"fields": ("owner", "teams", "archived_at", "created_at")}),
    )
    # Address, engine and secrets belong together: only the endpoint's page changes them, and asks for the secrets again.
    readonly_fields = ("engine", "url", "options", "credentials_set", "headers_set", "created_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Endpoint]:
        # Secrets are not loaded: one whose key is lost would make the list fail.
        rows = super().get_queryset(request).defer("credentials", "headers")
        return rows.annotate(
            with_credentials=Count("pk", filter=~Q(credentials="")), with_headers=Count("pk", filter=~Q(headers=""))
        )

    @admin.display(boolean=True, description="credentials")
    def credentials_set(self, endpoint: Any) -> bool:
        return bool(endpoint.with_credentials)

    @admin.display(boolean=True, description="headers")
    def headers_set(self, endpoint: Any) -> bool:
        return bool(endpoint.with_headers)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(models.StoredIndex)
class StoredIndexAdmin(UndeletableAdmin):
    """Who owns the embedded indexes and uploaded files: other teams' endpoints may not name them."""

    list_display = ("name", "engine", "owner", "created_at")
    list_filter = ("engine", "teams")
    list_select_related = ("owner",)
    search_fields = ("name", "owner__email", "owner__name")
    autocomplete_fields = ("owner", "teams")
    readonly_fields = ("engine", "name", "created_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False
