"""Endpoints: the search engines of cases.

See docs/decisions/0034.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, ClassVar, Self, cast

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models

from .access import SharedModel, SharedQuerySet
from .secret import EncryptedJSONField
from .team import Role, Team
from .text import LineField

if TYPE_CHECKING:
    from .attempt import Attempt
    from .case import Case
    from .user import User


class EndpointQuerySet(SharedQuerySet["Endpoint"]):
    """Endpoints. Users who may view a case may view the endpoints of its attempts, but not send requests to them."""

    @property
    def _case_model(self) -> type[Case]:
        attempt = cast("type[Attempt]", self.model._meta.get_field("attempts").related_model)
        return cast("type[Case]", attempt._meta.get_field("case").related_model)

    def _role_in_teams(self, user: User, path: str = "") -> models.Expression:
        own = super()._role_in_teams(user, path)
        visible = self._case_model.objects.visible_to(user).filter(attempts__endpoint=models.OuterRef(f"{path}pk"))
        return models.functions.Greatest(
            own,
            models.Case(
                models.When(models.Exists(visible), then=models.Value(int(Role.VIEWER))),
                default=models.Value(0),
                output_field=models.IntegerField(),
            ),
        )

    def usable_by(self, user: User) -> Self:
        """Endpoints that the user may send requests to, and use in any of the cases that the user edits.

        These are the endpoints on which the user has at least the role editor. A deactivated user may use none.
        """
        return self.editable_by(user) if user.is_active else self.none()

    def usable_in(self, case: Case, user: User) -> Self:
        """Endpoints that the user may search in one case, which the user has to be an editor of.

        Besides those of `usable_by`, these are the endpoints of the case's attempts that the owner of the case is also an
        owner of, by membership even if it is an admin: who shares a case lets its editors run its attempts, but cannot pass
        on the endpoints of others.
        """
        if not user.is_active:
            return self.none()
        is_editor = models.Exists(self._case_model.objects.editable_by(user).filter(pk=case.pk))
        own = self.model.objects.usable_by(user).values("pk")
        owner = copy(case.owner)
        owner.is_superuser = False
        used_by_case = self.model.objects.owned_by(owner).filter(attempts__case=case).values("pk")
        return self.filter(is_editor, models.Q(pk__in=own) | models.Q(pk__in=used_by_case))

    def live(self) -> Self:
        """Excludes archived endpoints."""
        return self.filter(archived_at=None)


class Endpoint(SharedModel):
    """A search engine with its address and options. `credentials` and `headers` are encrypted and never displayed.

    `version`: what the engine said when it was last asked; empty if it has not been asked at its present address.
    `allowed_handlers`, `allowed_indexes`: names separated by blanks. Only administrators set them, on the admin site.
    """

    name = LineField(max_length=120, unique=True)
    engine = models.CharField(max_length=30)
    url = LineField("address", max_length=500)
    options = models.JSONField(default=dict, blank=True)
    credentials = EncryptedJSONField(default=dict, blank=True, editable=False)
    headers = EncryptedJSONField(default=dict, blank=True, editable=False)
    parallel = models.PositiveSmallIntegerField(
        "parallel requests",
        default=8,
        validators=[MinValueValidator(1), MaxValueValidator(64)],
        help_text="Of the runs of all workers together.",
    )
    per_minute = models.PositiveIntegerField(
        "requests per minute", default=0, validators=[MaxValueValidator(1_000_000)], help_text="0: no limit"
    )
    allowed_handlers = LineField(
        max_length=500,
        blank=True,
        validators=[RegexValidator(r"^[\w.+/-]+( [\w.+/-]+)*\Z", "Write names of handlers, separated by blanks.")],
        help_text="Solr: request handlers besides select and query that the address may end in, such as browse.",
    )
    allowed_indexes = LineField(
        max_length=500,
        blank=True,
        validators=[RegexValidator(r"^[\w.+-]+( [\w.+-]+)*\Z", "Write names of indexes, separated by blanks.")],
        help_text="Other cores, collections or indexes that queries may read: fromIndex, terms lookups and so on.",
    )
    next_request_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="When the next request may be sent, of any process, if they are limited per minute.",
    )
    version = LineField(max_length=200, blank=True, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="endpoints")
    teams = models.ManyToManyField(Team, blank=True, related_name="endpoints")
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar = EndpointQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = [
            models.CheckConstraint(
                condition=models.Q(parallel__gte=1, parallel__lte=64), name="endpoint_parallel_1_to_64"
            )
        ]

    def __str__(self) -> str:
        return self.name
