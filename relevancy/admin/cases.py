"""Books, cases, endpoints, and the indexes and files on this server."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest

from relevancy import models

from .base import OwnedAdmin, ReadOnlyInline


@admin.register(models.Book)
class BookAdmin(OwnedAdmin):
    list_display = ("name", "owner", "rule", "relevant_from", "created_at")
    list_filter = ("rule",)
    # Another scale or rule changes every score, so it can only be changed where that triggers a rescoring.
    readonly_fields = ("scale", "relevant_from", "rule", "created_at", "rescore_queued_at")


class CaseScorerInline(ReadOnlyInline):
    model = models.CaseScorer
    related = ("scorer", "case")
    fields = ("scorer", "position")


@admin.register(models.Case)
class CaseAdmin(OwnedAdmin):
    list_display = ("name", "owner", "book", "created_at", "archived_at")
    list_filter = (("archived_at", admin.EmptyFieldListFilter), "teams")
    list_select_related = ("owner", "book")
    readonly_fields = ("book", "created_at")
    inlines = (CaseScorerInline,)


@admin.register(models.Endpoint)
class EndpointAdmin(OwnedAdmin):
    list_display = ("name", "engine", "url", "owner", "credentials_set", "archived_at")
    list_filter = ("engine", ("archived_at", admin.EmptyFieldListFilter))
    search_fields = ("url", *OwnedAdmin.search_fields)
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


@admin.register(models.StoredIndex)
class StoredIndexAdmin(OwnedAdmin):
    """Who owns the embedded indexes and uploaded files: other teams' endpoints may not name them."""

    list_display = ("name", "engine", "owner", "created_at")
    list_filter = ("engine", "teams")
    readonly_fields = ("engine", "name", "created_at")
