"""The administration site: every model to look at; what has rules of its own is changed on the pages, which keep them.

Ratings, rankings, scores and versions are for reading only: changing them here would pass by the log, the revisions and the
rescoring. Nothing secret is in any form or list; endpoints say only whether something is set.
"""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm
from django.db.models import Count, Model, Q, QuerySet
from django.http import HttpRequest

from relevancy import models

admin.site.site_header = "Relevancy administration"
admin.site.site_title = "Relevancy"
admin.site.index_title = "Everything that is stored"


class NoDelete(admin.ModelAdmin):
    """Rows that others refer to for ever: archived or retired on the pages, never deleted."""

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ReadOnly(NoDelete):
    """Rows that are written by the site alone."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ReadOnlyInline(admin.TabularInline):
    """Rows within another's page, in one statement however many they are."""

    extra = 0
    can_delete = False
    related: tuple[str, ...] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related(*self.related)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class NewUserForm(AdminUserCreationForm):
    """A person by e-mail address; without a password nobody can sign in as them."""

    class Meta:
        model = models.User
        fields = ("email", "name", "kind")

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"].strip().lower()
        if models.User.objects.filter(email__iexact=email).exists():
            raise forms.ValidationError(f"{email} has an account already.")
        return email


@admin.register(models.User)
class PersonAdmin(UserAdmin):
    add_form = NewUserForm
    list_display = ("email", "name", "kind", "is_active", "is_staff", "is_superuser", "last_login")
    list_filter = ("kind", "is_active", "is_staff", "is_superuser")
    search_fields = ("email", "name")
    ordering = ("email",)
    readonly_fields = ("last_login", "date_joined")
    fieldsets = (
        (None, {"fields": ("email", "password", "name", "kind", "single_keys")}),
        ("Rights", {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"fields": ("email", "name", "kind", "usable_password", "password1", "password2")}),)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class MembershipInline(ReadOnlyInline):
    model = models.Membership
    related = ("user", "team")
    fields = ("user", "role")


@admin.register(models.Team)
class TeamAdmin(admin.ModelAdmin):
    list_display = ("name", "people", "created_at")
    search_fields = ("name",)
    readonly_fields = ("created_at",)
    inlines = (MembershipInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Team]:
        return super().get_queryset(request).annotate(people=Count("memberships"))

    @admin.display(ordering="people")
    def people(self, team: Any) -> int:
        return int(team.people)


@admin.register(models.Membership)
class MembershipAdmin(admin.ModelAdmin):
    list_display = ("user", "team", "role")
    list_filter = ("role", "team")
    list_select_related = ("user", "team")
    search_fields = ("user__email", "user__name", "team__name")
    autocomplete_fields = ("user", "team")


@admin.register(models.Book)
class BookAdmin(NoDelete):
    list_display = ("name", "owner", "rule", "relevant_from", "created_at")
    list_filter = ("rule",)
    list_select_related = ("owner",)
    search_fields = ("name", "owner__email", "owner__name")
    autocomplete_fields = ("owner", "teams")
    # Another scale or rule changes every score: that is a deed of its own, with a rescoring behind it.
    readonly_fields = ("scale", "relevant_from", "rule", "created_at", "rescore_queued_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(models.Query)
class QueryAdmin(NoDelete):
    list_display = ("text", "book", "revision", "created_at", "retired_at")
    list_filter = (("retired_at", admin.EmptyFieldListFilter), "created_at")
    list_select_related = ("book",)
    search_fields = ("text",)
    raw_id_fields = ("book",)
    readonly_fields = ("book", "text", "text_key", "revision", "created_at")
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


class CaseScorerInline(ReadOnlyInline):
    model = models.CaseScorer
    related = ("scorer", "case")
    fields = ("scorer", "position")


@admin.register(models.Case)
class CaseAdmin(NoDelete):
    list_display = ("name", "owner", "book", "created_at", "archived_at")
    list_filter = (("archived_at", admin.EmptyFieldListFilter), "teams")
    list_select_related = ("owner", "book")
    search_fields = ("name", "owner__email", "owner__name")
    autocomplete_fields = ("owner", "teams")
    readonly_fields = ("book", "created_at")
    inlines = (CaseScorerInline,)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(models.CaseScorer)
class CaseScorerAdmin(ReadOnly):
    list_display = ("case", "scorer", "position")
    list_select_related = ("case", "scorer")
    search_fields = ("case__name", "scorer__name")


@admin.register(models.CaseQuery)
class CaseQueryAdmin(NoDelete):
    list_display = ("query", "case", "position", "weight", "removed_at")
    list_filter = (("removed_at", admin.EmptyFieldListFilter),)
    list_select_related = ("query", "case")
    search_fields = ("query__text", "case__name")
    readonly_fields = ("case", "query")
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(models.Endpoint)
class EndpointAdmin(NoDelete):
    list_display = ("name", "engine", "url", "owner", "credentials_set", "archived_at")
    list_filter = ("engine", ("archived_at", admin.EmptyFieldListFilter))
    list_select_related = ("owner",)
    search_fields = ("name", "url", "owner__email")
    autocomplete_fields = ("owner", "teams")
    fieldsets = (
        (None, {"fields": ("name", "engine", "url", "options", "credentials_set", "headers_set")}),
        ("Pace", {"fields": ("parallel", "per_minute")}),
        ("Whose", {"fields": ("owner", "teams", "archived_at", "created_at")}),
    )
    # Address, engine and secrets belong together: they are changed on the endpoint's page, which asks for the secrets again.
    readonly_fields = ("engine", "url", "options", "credentials_set", "headers_set", "created_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Endpoint]:
        # Not even loaded: a secret whose key is gone would break the list.
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


@admin.register(models.Attempt)
class AttemptAdmin(ReadOnly):
    list_display = ("case", "number", "name", "endpoint", "depth", "created_by", "created_at")
    list_filter = ("endpoint__engine", "created_at")
    list_select_related = ("case", "endpoint", "created_by")
    search_fields = ("case__name", "name", "endpoint__name")
    raw_id_fields = ("case", "parent", "endpoint", "created_by")


@admin.register(models.Run)
class RunAdmin(ReadOnly):
    list_display = (
        "case",
        "number",
        "status",
        "done",
        "failed",
        "queries",
        "version",
        "created_by",
        "created_at",
        "pinned_at",
    )
    list_filter = ("status", "created_at", ("pinned_at", admin.EmptyFieldListFilter))
    list_select_related = ("case", "created_by")
    search_fields = ("case__name", "note", "reason")
    date_hierarchy = "created_at"


@admin.register(models.Ranking)
class RankingAdmin(ReadOnly):
    list_display = ("text", "run", "returned", "total", "took_ms", "error_kind", "asked_at")
    list_filter = ("error_kind",)
    list_select_related = ("run",)
    search_fields = ("text",)


@admin.register(models.Rating)
class RatingAdmin(ReadOnly):
    list_display = ("doc_id", "query", "rater", "verdict", "value", "changed_at")
    list_filter = ("verdict", "changed_at")
    list_select_related = ("query", "rater")
    search_fields = ("doc_id", "query__text", "rater__email")


@admin.register(models.RatingChange)
class RatingChangeAdmin(ReadOnly):
    list_display = ("at", "by", "rater", "query", "doc_id", "old_value", "new_value", "source")
    list_filter = ("source", "at")
    list_select_related = ("by", "rater", "query")
    search_fields = ("doc_id", "query__text", "by__email")


class ScorerVersionInline(ReadOnlyInline):
    model = models.ScorerVersion
    related = ("scorer",)
    fields = readonly_fields = ("number", "measure", "scale", "count_unscoreable_as_zero", "created_at")


@admin.register(models.Scorer)
class ScorerAdmin(NoDelete):
    list_display = ("name", "owner", "is_default", "created_at", "retired_at")
    list_filter = ("is_default", ("retired_at", admin.EmptyFieldListFilter))
    list_select_related = ("owner",)
    search_fields = ("name", "description")
    autocomplete_fields = ("owner",)
    readonly_fields = ("created_at",)
    inlines = (ScorerVersionInline,)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(models.ScorerVersion)
class ScorerVersionAdmin(ReadOnly):
    list_display = ("scorer", "number", "measure", "created_at")
    list_select_related = ("scorer",)
    search_fields = ("scorer__name", "measure")


@admin.register(models.QueryScore)
class QueryScoreAdmin(ReadOnly):
    list_display = ("query", "run", "version", "score", "low", "high", "unrated")
    list_select_related = ("query", "run", "version__scorer")
    search_fields = ("query__text",)


@admin.register(models.CaseScore)
class CaseScoreAdmin(ReadOnly):
    list_display = ("run", "version", "day", "score", "low", "high", "scored", "queries")
    list_filter = ("day",)
    list_select_related = ("run", "version__scorer")
    search_fields = ("run__case__name", "version__scorer__name")
