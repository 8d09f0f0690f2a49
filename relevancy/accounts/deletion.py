"""Deleting an account: the person is forgotten, and what the person did stays under “Former user 17”."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Model, Q, QuerySet
from django.utils import timezone

from relevancy import activity, hooks
from relevancy.models import (
    Activity,
    Attempt,
    Case,
    Endpoint,
    Invitation,
    Membership,
    Role,
    Scorer,
    Team,
    User,
    UserSession,
)

from .raters import DOMAIN


@dataclass(frozen=True)
class AccountContents:
    """What belongs to an account, by what happens to it when the account is deleted.

    ratings, runs: how many the person gave or made in all; they stay.
    cases, endpoints, scorers: those that nobody else can see. They are archived, for admins to restore.
    used_endpoints: not shared, but cases that others see have attempts on them. They stay as they are.
    teams: those without another member; they are deleted.
    losses: of optional apps.
    """

    ratings: int
    runs: int
    cases: list[Case]
    endpoints: list[Endpoint]
    used_endpoints: list[Endpoint]
    scorers: list[Scorer]
    teams: list[Team]
    losses: list[hooks.Loss]

    @property
    def losses_by_outcome(self) -> dict[str, list[hooks.Loss]]:
        """The losses of optional apps: "deleted", "archived" and "stopped" ones."""
        outcomes: dict[str, list[hooks.Loss]] = {}
        for loss in self.losses:
            outcomes.setdefault(loss.outcome, []).append(loss)
        return outcomes

    @property
    def archived(self) -> list[tuple[str, Sequence[Model]]]:
        """What is archived: (kind, objects), without the kinds of which there is none."""
        kinds: tuple[tuple[str, Sequence[Model]], ...] = (
            ("cases", self.cases),
            ("endpoints", self.endpoints),
            ("scorers", self.scorers),
        )
        return [(kind, objects) for kind, objects in kinds if objects]


def unshared[M: Model](user: User, rows: QuerySet[M]) -> list[M]:
    """Returns the user's own rows, of a model with `owner` and `teams`, that nobody else can see."""
    through = rows.model._meta.get_field("teams").remote_field.through  # type: ignore[union-attr]
    name = rows.model._meta.model_name
    seen = through.objects.filter(team__in=_teams_of_others(user)).values(f"{name}_id")
    return list(rows.filter(owner=user).exclude(pk__in=seen))


def _teams_of_others(user: User) -> QuerySet[Team]:
    others = Membership.objects.exclude(user=user).filter(user__is_active=True)
    return Team.objects.filter(pk__in=others.values("team"))


def contents(user: User) -> AccountContents:
    """Returns what deleting the account does. Nine SQL statements, and those of optional apps."""
    cases = unshared(user, Case.objects.live())
    endpoints = unshared(user, Endpoint.objects.live())
    attempts = Attempt.objects.filter(endpoint__in=endpoints).exclude(case__in=cases)
    used = set(attempts.values_list("endpoint_id", flat=True))
    return AccountContents(
        ratings=user.ratings.count(),
        runs=user.runs.count(),
        cases=cases,
        endpoints=[endpoint for endpoint in endpoints if endpoint.pk not in used],
        used_endpoints=[endpoint for endpoint in endpoints if endpoint.pk in used],
        scorers=unshared(user, Scorer.objects.live()),
        teams=list(Team.objects.filter(memberships__user=user).exclude(pk__in=_teams_of_others(user))),
        losses=[loss for losses in hooks.user_losses(user) for loss in losses],
    )


def why_not(user: User) -> str:
    """Returns why the account cannot be deleted now, or an empty string: teams and the site need an owner."""
    owners = Membership.objects.filter(role=Role.OWNER, user__is_active=True).exclude(user=user)
    members = Membership.objects.filter(user__is_active=True).exclude(user=user)
    left_alone = (
        Team.objects.filter(memberships__user=user, memberships__role=Role.OWNER, pk__in=members.values("team"))
        .exclude(pk__in=owners.values("team"))
        .order_by("name")
    )
    if names := ", ".join(team.name for team in left_alone):
        return f"You are the only owner of {names}. Make another member an owner first."
    if user.is_superuser and not User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk).exists():
        return "You are the only admin of this site. Make another user an admin first."
    return ""


def delete(*, user: User) -> None:
    """Deletes an account: name, address, password, sessions, tokens, memberships, and what optional apps know of the person.

    Ratings, runs and everything that is shared stay, under a name that says nothing. What nobody else can see is archived, and its
    stored passwords and keys are erased. Raises `ValidationError` with the reason of `why_not`.
    """
    with transaction.atomic():
        # The same lock as for roles, so that two owners of a team cannot leave at once.
        list(Team.objects.filter(memberships__user=user).order_by("pk").select_for_update())
        if reason := why_not(user):
            raise ValidationError(reason)
        hooks.user_deletion(user)
        _archive(contents(user))
        Invitation.objects.filter(Q(created_by=user) | Q(email=user.email.lower())).filter(accepted_at=None).delete()
        for team in Team.objects.filter(memberships__user=user):
            activity.record(Activity.Verb.MEMBER_LEFT, team=team, by=user, person=user)
        Membership.objects.filter(user=user).delete()
        UserSession.objects.filter(user=user).delete()
        user.api_tokens.all().delete()
        _forget(user)


def _archive(content: AccountContents) -> None:
    now = timezone.now()
    Case.objects.filter(pk__in=[case.pk for case in content.cases]).update(archived_at=now)
    Scorer.objects.filter(pk__in=[scorer.pk for scorer in content.scorers]).update(retired_at=now)
    for endpoint in content.endpoints:
        endpoint.archived_at, endpoint.credentials, endpoint.headers = now, {}, {}
        endpoint.save(update_fields=["archived_at", "credentials", "headers"])
    for team in content.teams:
        team.delete()


def _forget(user: User) -> None:
    invited = Activity.objects.filter(subject=user.email, verb__startswith="member.")
    invited.update(subject=f"Former user {user.pk}")
    user.name, user.email = f"Former user {user.pk}", f"former-{user.pk}@{DOMAIN}"
    user.is_active = user.is_staff = user.is_superuser = user.can_create_endpoints = False
    user.default_scorer = None
    user.set_unusable_password()
    user.save()
    user.groups.clear()
    user.user_permissions.clear()
