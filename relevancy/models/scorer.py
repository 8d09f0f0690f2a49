"""Scorers and their immutable versions.

See docs/decisions/0011.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Lower

from .team import Membership, Role, Team
from .text import NAME_TAKEN, CodeField, LineField, MultilineField, is_storable

if TYPE_CHECKING:
    from .case import Case
    from .user import User


class ScorerQuerySet(models.QuerySet["Scorer"]):
    """Scorers: global ones, those of users, and those shared with teams."""

    def visible_to(self, user: User) -> Self:
        """Global scorers, the user's own, those shared with the user's teams, and those made for a case that the user may view."""
        if user.is_superuser:
            return self
        shared = self.model.teams.through.objects.filter(team__memberships__user=user).values("scorer_id")
        case = cast("type[Case]", self.model._meta.get_field("only_for").related_model)
        visible_cases = case.objects.visible_to(user).values("pk")
        return self.filter(Q(owner=None) | Q(owner=user) | Q(pk__in=shared) | Q(only_for__in=visible_cases))

    def editable_by(self, user: User) -> Self:
        """The user's own scorers, and those shared with a team in which the user is an editor. Only admins may edit global ones."""
        if user.is_superuser:
            return self
        teams = Membership.objects.filter(user=user, role__gte=Role.EDITOR).values("team_id")
        shared = self.model.teams.through.objects.filter(team__in=teams).values("scorer_id")
        return self.filter(Q(owner=user) | Q(pk__in=shared, owner__isnull=False))

    def owned_by(self, user: User) -> Self:
        """Scorers that the user may share, retire and hand over."""
        return self if user.is_superuser else self.filter(owner=user)

    def live(self) -> Self:
        """Excludes retired scorers."""
        return self.filter(retired_at=None)

    def offered(self, user: User, case: Case | None = None) -> Self:
        """Scorers that a user may choose for a case; None: for a new case."""
        usable = Q(only_for=None) | Q(only_for=case) if case else Q(only_for=None)
        return self.visible_to(user).live().filter(usable)


class Scorer(models.Model):
    """A named way to score rankings. A scorer without an owner is global."""

    name = LineField(max_length=120, unique=True)
    description = MultilineField(blank=True, validators=[MaxLengthValidator(5_000)])
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
        help_text="The only case that may use it.",
    )
    is_default = models.BooleanField(default=False, help_text="The scorer a new case starts with.")
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar = ScorerQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = [
            models.UniqueConstraint(fields=("is_default",), condition=Q(is_default=True), name="scorer_one_default"),
            models.UniqueConstraint(Lower("name"), name="scorer_name_any_case"),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Rejects a name that differs from another one in case only."""
        same_name = Scorer.objects.filter(name__iexact=self.name).exclude(pk=self.pk)
        if is_storable(self.name) and same_name.exists():
            raise ValidationError({"name": ValidationError(NAME_TAKEN, code="unique")})


class ScorerVersionQuerySet(models.QuerySet["ScorerVersion"]):
    """Versions of scorers."""

    def used_by(self, case: Case | int) -> Self:
        """The versions that score a case, of the primary scorer first, with their scorers."""
        versions = self.filter(case_scorers__case=case).select_related("scorer")
        return versions.order_by("case_scorers__position", "case_scorers__id")

    def newer_than_used_by(self, case: Case | int) -> Self:
        """The newest versions of the scorers that a case uses in an older version, with their scorers."""
        later = self.model.objects.filter(scorer=OuterRef("scorer"), number__gt=OuterRef("number"))
        newer = self.filter(
            ~Exists(later),
            scorer__case_scorers__case=case,
            number__gt=F("scorer__case_scorers__version__number"),
        )
        return newer.select_related("scorer").order_by("scorer_id")


class ScorerVersion(models.Model):
    """An immutable definition of a scorer: a measure such as `nDCG@10`, or a JavaScript script.

    scale: the rating scale it was made for.
    output_range, cutoff: of scripts only; the range of their scores, and how many results they consider.
    """

    class OutputRange(models.TextChoices):
        HUNDRED = "100", "0–100"
        ONE = "1", "0–1"

    id = models.AutoField(primary_key=True)  # four bytes in each score
    scorer = models.ForeignKey(Scorer, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    measure = models.CharField(max_length=200, blank=True, help_text="nDCG(gain='linear')@10; empty for a script")
    script = CodeField(blank=True)
    output_range = models.CharField(max_length=3, choices=OutputRange, default=OutputRange.HUNDRED)
    cutoff = models.PositiveIntegerField(
        null=True, blank=True, help_text="Results that a script considers; empty: as many as are displayed."
    )
    scale = models.JSONField(help_text="The grades with labels that a new book starts with: [[0, 'Poor'], …]")
    count_unscoreable_as_zero = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    objects: ClassVar = ScorerVersionQuerySet.as_manager()

    class Meta:
        ordering = ("scorer", "-number")
        constraints = [
            models.UniqueConstraint(fields=("scorer", "number"), name="scorer_version_once"),
            models.CheckConstraint(
                condition=(Q(measure="") & ~Q(script="")) | (~Q(measure="") & Q(script="")),
                name="scorer_version_measure_or_script",
            ),
            models.CheckConstraint(
                condition=Q(output_range__in=["100", "1"]), name="scorer_version_output_range_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scorer} v{self.number}"

    @property
    def grades(self) -> tuple[float, ...]:
        """The values of the scale, ascending."""
        return tuple([float(grade) for grade, _ in self.scale])

    @property
    def lowest(self) -> float:
        return float(self.scale[0][0])

    @property
    def top(self) -> float:
        return float(self.scale[-1][0])


@dataclass(frozen=True)
class ScorerDefinition:
    """What a scorer computes, stored or not: a measure such as `nDCG@10`, or a script.

    scale: `[[grade, label], …]`, ascending.
    output_range: the range of a script's scores, "100" for 0–100 or "1" for 0–1.
    cutoff: the number of results a script considers; None for as many as are displayed.
    """

    measure: str = ""
    script: str = ""
    scale: Sequence[Sequence[Any]] = field(default_factory=lambda: [[grade, ""] for grade in range(1, 11)])
    output_range: str = "100"
    cutoff: int | None = None
    count_unscoreable_as_zero: bool = False

    @classmethod
    def of(cls, version: ScorerVersion) -> ScorerDefinition:
        """Returns the definition of a version."""
        return cls(**{name: getattr(version, name) for name in cls.__dataclass_fields__})

    @property
    def grades(self) -> tuple[float, ...]:
        """The values of the scale, ascending."""
        return tuple(float(grade) for grade, _ in self.scale)
