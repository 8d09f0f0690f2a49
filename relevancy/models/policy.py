"""Settings of the whole site, which admins can change."""

from typing import ClassVar

from django.db import models

from .user import User


class PolicyQuerySet(models.QuerySet["Policy"]):
    """The only row."""

    def current(self) -> "Policy":
        """Returns the current policy; the defaults if no admin has changed it."""
        return self.first() or Policy()

    def may_write_scripts(self, user: User) -> bool:
        """Returns whether the user may create or change a script. One SQL statement, none for an admin."""
        return user.is_superuser or self.current().allow_user_scripts


class Policy(models.Model):
    """The settings of the site that admins change on its pages; a single row."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    allow_user_scripts = models.BooleanField(
        default=True, help_text="Users who are not admins may write scorer scripts."
    )

    objects: ClassVar = PolicyQuerySet.as_manager()

    class Meta:
        verbose_name = verbose_name_plural = "site settings"
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="policy_one_row")]

    def __str__(self) -> str:
        return "Site settings"
