"""Who may see, rate and edit: one way for everything that has an owner and is shared with teams."""

from typing import Any, Self

from django.db import models
from django.db.models import Case as When_
from django.db.models import IntegerField, OuterRef, Subquery, Value, When
from django.db.models.functions import Coalesce, Greatest

from .team import Membership, Role


class SharedQuerySet(models.QuerySet[Any]):
    """Rows with an `owner` and `teams`. `role` is the highest a user has on the row, 0 for none."""

    def with_role(self, user: Any) -> Self:
        """Annotate `role`: owner for the row's owner and for admins, else the highest role in a team it is shared with."""
        if user.is_superuser:
            return self.annotate(role=Value(int(Role.OWNER), output_field=IntegerField()))
        return self.annotate(
            role=Greatest(
                When_(When(owner=user, then=Value(int(Role.OWNER))), default=Value(0), output_field=IntegerField()),
                self._shared_role(user),
            )
        )

    def _shared_role(self, user: Any) -> Any:
        through = self.model.teams.through
        row = f"{self.model._meta.model_name}_id"
        best = (
            Membership.objects.filter(
                user=user, team__in=through.objects.filter(**{row: OuterRef(OuterRef("pk"))}).values("team_id")
            )
            .order_by("-role")
            .values("role")[:1]
        )
        return Coalesce(Subquery(best, output_field=IntegerField()), 0)

    def visible_to(self, user: Any) -> Self:
        """Rows the user may look at."""
        return self.with_role(user).filter(role__gte=Role.VIEWER)

    def rateable_by(self, user: Any) -> Self:
        """Rows whose documents the user may rate."""
        return self.with_role(user).filter(role__gte=Role.RATER)

    def editable_by(self, user: Any) -> Self:
        """Rows the user may change."""
        return self.with_role(user).filter(role__gte=Role.EDITOR)

    def owned_by(self, user: Any) -> Self:
        """Rows the user may share, archive or hand over."""
        return self.with_role(user).filter(role__gte=Role.OWNER)
