"""What the admins decided for the whole site."""

from typing import ClassVar

from django.db import models


class PolicyQuerySet(models.QuerySet["Policy"]):
    """The one row."""

    def current(self) -> "Policy":
        """What holds now; the defaults, until an admin has said something else."""
        return self.first() or Policy()


class Policy(models.Model):
    """One row for the site."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    own_scripts = models.BooleanField(
        default=True, help_text="Users who are no admins may write scorer scripts of their own."
    )

    objects: ClassVar = PolicyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "policy"
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="policy_one_row")]

    def __str__(self) -> str:
        return "Site policy"
