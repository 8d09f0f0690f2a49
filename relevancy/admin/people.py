"""Users, teams, memberships."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Model, QuerySet
from django.http import HttpRequest

from relevancy import accounts, activity, models, teams
from relevancy.admin_site import Section

from .base import IdSelectMixin, ReadOnlyAdmin, ReadOnlyInline


class NewUserForm(AdminUserCreationForm):
    """Creates a user by email address. A user without a password cannot sign in."""

    class Meta:
        model = models.User
        fields = ("email", "name", "kind")

    def clean_email(self) -> str:
        email: str = models.user.normalize_address(self.cleaned_data["email"])
        if models.User.objects.find(email):
            raise forms.ValidationError(f"{email} already has an account.")
        return email


PEOPLE = ("user__email", "user__name")
PERMISSION_FIELDS = ("can_create_endpoints", "is_staff", "is_superuser", "groups", "user_permissions")


@admin.register(models.User)
class PersonAdmin(UserAdmin):
    section = Section.USERS
    add_form = NewUserForm
    list_display = (
        "email",
        "name",
        "kind",
        "is_active",
        "can_create_endpoints",
        "is_staff",
        "is_superuser",
        "last_login",
    )
    list_filter = ("kind", "is_active", "can_create_endpoints", "is_staff", "is_superuser")
    search_fields = ("email", "name")
    ordering = ("email",)
    readonly_fields = ("last_login", "date_joined")
    fieldsets = (
        (None, {"fields": ("email", "password", "name", "kind", "has_confirmed_email")}),
        ("Profile", {"fields": ("default_scorer", "theme", "single_keys")}),
        ("Permissions", {"fields": ("is_active", *PERMISSION_FIELDS)}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"fields": ("email", "name", "kind", "usable_password", "password1", "password2")}),)

    actions: Sequence[Any] = ("make_password_links",)

    @admin.action(description="Make links to choose a new password", permissions=["change"])
    def make_password_links(self, request: HttpRequest, users: QuerySet[models.User]) -> None:
        """For admins only: anyone who has the link can sign in as the user."""
        if not request.user.is_superuser:
            raise PermissionDenied("Only an admin of this site can make links for passwords.")
        if not settings.PASSWORD_SIGN_IN:
            raise PermissionDenied(f"Passwords are switched off on this site. Users sign in with {settings.OIDC_NAME}.")
        for user in users.filter(kind=models.User.Kind.PERSON, is_active=True):
            link = request.build_absolute_uri(accounts.passwords.reset_path(user))
            self.message_user(request, f"Send this link to {user.email}; it is valid for a day and works once: {link}")

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # Staff who may change users must not give themselves or others more permissions.
        fields = super().get_readonly_fields(request, obj)
        return fields if request.user.is_superuser else (*fields, *PERMISSION_FIELDS)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # Anyone who sets the password or the e-mail address of an admin can sign in as one.
        is_admin = obj is not None and obj.is_superuser
        return super().has_change_permission(request, obj) and (request.user.is_superuser or not is_admin)


class MembershipInline(ReadOnlyInline):
    model = models.Membership
    related = ("user", "team")
    fields = ("user", "role")


@admin.register(models.Team)
class TeamAdmin(IdSelectMixin, admin.ModelAdmin):
    section = Section.USERS
    list_display = ("name", "people", "can_create_endpoints", "created_at")
    list_filter = ("can_create_endpoints",)
    search_fields = ("name",)
    readonly_fields = ("created_at",)
    inlines = (MembershipInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Team]:
        return super().get_queryset(request).annotate(people=Count("memberships"))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        return fields if request.user.is_superuser else (*fields, "can_create_endpoints")

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if "can_create_endpoints" in form.changed_data:
            verbs = models.Activity.Verb
            verb = verbs.TEAM_ALLOWED if obj.can_create_endpoints else verbs.TEAM_DISALLOWED
            activity.record(verb, team=obj, by=request.user, subject=obj, object_id=obj.pk)

    @admin.display(ordering="people")
    def people(self, team: Any) -> int:
        return int(team.people)


@admin.register(models.Membership)
class MembershipAdmin(IdSelectMixin, admin.ModelAdmin):
    section = Section.USERS
    list_display = ("user", "team", "role")
    list_filter = ("role", "team")
    list_select_related = ("user", "team")
    search_fields = (*PEOPLE, "team__name")
    autocomplete_fields = ("user", "team")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("user", "team") if obj else ()

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        """Adds what was done to the log of the team, as on its page."""
        super().save_model(request, obj, form, change)
        if not change:
            teams.record_joined(obj, by=request.user)
        elif "role" in form.changed_data:
            teams.record_role(obj, former=int(form.initial["role"]), by=request.user)

    def delete_model(self, request: Any, obj: Any) -> None:
        super().delete_model(request, obj)
        teams.record_removed(obj, by=request.user)

    def delete_queryset(self, request: Any, queryset: Any) -> None:
        for member in queryset.select_related("user", "team"):
            self.delete_model(request, member)


@admin.register(models.SignInCounter)
class SignInCounterAdmin(ReadOnlyAdmin):
    """Deleting a counter, or all of them, lifts a lock."""

    section = Section.USERS
    list_display = ("key", "failures", "expires_at")

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(request.user.is_superuser)


@admin.register(models.UserSession)
class UserSessionAdmin(ReadOnlyAdmin):
    """Without links and actions, which would show the keys: anyone who has a key can use the session."""

    section = Section.USERS
    list_display = fields = ("user", "expire_date")
    list_select_related = ("user",)
    search_fields = PEOPLE
    list_display_links = None
    actions = None


@admin.register(models.ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    """Tokens are created and revoked by their users; deactivating a user stops all of them."""

    section = Section.USERS
    list_display = fields = (
        *("name", "user", "prefix", "scope", "created_at", "expires_at", "last_used_at", "revoked_at"),
    )
    list_filter = ("scope", "created_at")
    list_select_related = ("user",)
    search_fields = ("name", "prefix", *PEOPLE)
    actions = ("revoke_tokens",)

    @admin.action(description="Revoke the selected tokens", permissions=["view"])
    def revoke_tokens(self, request: HttpRequest, tokens: QuerySet[models.ApiToken]) -> None:
        """For admins only."""
        if not request.user.is_superuser:
            raise PermissionDenied("Only an admin of this site can revoke the tokens of others.")
        for token in tokens:
            accounts.api_tokens.revoke(token=token)
        self.message_user(request, f"{len(tokens)} revoked.")
