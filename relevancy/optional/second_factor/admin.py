"""The second factor in the administration."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest

from relevancy.admin.people import PersonAdmin
from relevancy.admin.read_only import register_read_only
from relevancy.admin_site import Section
from relevancy.models import User
from relevancy.wording import counted

from . import second_factor
from .models import Authenticator, RecoveryCode

register_read_only(Authenticator, "user", section=Section.USERS)
register_read_only(RecoveryCode, "user used_at", section=Section.USERS)


@admin.action(description="Remove the second factor", permissions=["change"])
def remove_second_factors(users_admin: Any, request: HttpRequest, users: QuerySet[User]) -> None:
    """For admins only, when a user has lost both the app and the recovery codes."""
    if not request.user.is_superuser:
        raise PermissionDenied("Only an admin of this site can remove the second factor of others.")
    for user in users:
        second_factor.remove(user=user)
    users_admin.message_user(
        request,
        f"{counted(len(users), 'user signs', 'users sign')} in with the password alone.",
    )


PersonAdmin.actions = (*PersonAdmin.actions, remove_second_factors)
