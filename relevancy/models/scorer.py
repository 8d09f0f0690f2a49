"""What turns grades into scores: a name, and versions that never change."""

from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from .team import Membership, Role, Team


class ScorerQuerySet(models.QuerySet["Scorer"]):
    """Scorers: communal ones, people's own, and those shared with teams."""

    def visible_to(self, user: Any) -> Self:
        """Communal ones, the user's own, those shared with the user's teams, and those made for one case he sees."""
        if user.is_superuser:
            return self
        shared = self.model.teams.through.objects.filter(team__memberships__user=user).values("scorer_id")
        case: Any = self.model._meta.get_field("only_for").related_model
        seen = case.objects.visible_to(user).values("pk")
        return self.filter(Q(owner=None) | Q(owner=user) | Q(pk__in=shared) | Q(only_for__in=seen))

    def editable_by(self, user: Any) -> Self:
        """The user's own, and those shared with a team where he may edit; communal ones are the admins'."""
        if user.is_superuser:
            return self
        teams = Membership.objects.filter(user=user, role__gte=Role.EDITOR).values("team_id")
        shared = self.model.teams.through.objects.filter(team__in=teams).values("scorer_id")
        return self.filter(Q(owner=user) | Q(pk__in=shared, owner__isnull=False))

    def owned_by(self, user: Any) -> Self:
        """Those the user may share, retire and give away."""
        return self if user.is_superuser else self.filter(owner=user)

    def live(self) -> Self:
        """Without the retired ones."""
        return self.filter(retired_at=None)

    def offered(self, user: Any, case: Any = None) -> Self:
        """What a user may choose, for a case or for a new one (None)."""
        here = Q(only_for=None) | Q(only_for=case) if case else Q(only_for=None)
        return self.visible_to(user).live().filter(here)


class Scorer(models.Model):
    """A named way to score; communal when nobody owns it."""

    name = models.CharField(max_length=120, unique=True)
    description = models.TextField(blank=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="scorers"
    )
    teams = models.ManyToManyField(Team, blank=True, related_name="scorers")
    only_for = models.ForeignKey(
        "Case",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="own_scorers",
        help_text="The one case it was made for; it is offered nowhere else.",
    )
    is_default = models.BooleanField(default=False, help_text="The scorer a new case starts with.")
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar = ScorerQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = [
            models.UniqueConstraint(fields=("is_default",), condition=Q(is_default=True), name="scorer_one_default")
        ]

    def __str__(self) -> str:
        return self.name


class ScorerVersion(models.Model):
    """One immutable definition of a scorer, and the scale it was made for: either a built-in measure in the field's notation or a
    JavaScript script, which says itself what its numbers mean (`gives`) and how many results it looks at (`depth`)."""

    class Gives(models.TextChoices):
        HUNDRED = "100", "0–100"
        ONE = "1", "0–1"

    scorer = models.ForeignKey(Scorer, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    measure = models.CharField(max_length=200, blank=True, help_text="nDCG(gain='linear')@10; empty for a script")
    script = models.TextField(blank=True)
    gives = models.CharField(max_length=3, choices=Gives, default=Gives.HUNDRED)
    depth = models.PositiveIntegerField(
        null=True, blank=True, help_text="Results a script looks at; empty: as many as are shown."
    )
    scale = models.JSONField(help_text="The grades with labels a new book takes over: [[0, 'Poor'], …]")
    count_unscoreable_as_zero = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        ordering = ("scorer", "-number")
        constraints = [
            models.UniqueConstraint(fields=("scorer", "number"), name="scorer_version_once"),
            models.CheckConstraint(
                condition=(Q(measure="") & ~Q(script="")) | (~Q(measure="") & Q(script="")),
                name="scorer_version_measure_or_script",
            ),
            models.CheckConstraint(condition=Q(gives__in=["100", "1"]), name="scorer_version_gives_known"),
        ]

    def __str__(self) -> str:
        return f"{self.scorer} v{self.number}"

    @property
    def lowest(self) -> float:
        return float(self.scale[0][0])

    @property
    def top(self) -> float:
        return float(self.scale[-1][0])
