"""Teams and who is in them."""

from typing import Any

from django.db import transaction

from relevancy.models import Membership, Role, Team, User

from .errors import Refused


def create(*, name: str, by: Any) -> Team:
    """A new team, owned by who makes it."""
    name = " ".join(name.split())
    if not 0 < len(name) <= 120:
        raise Refused("A team needs a name of 1 to 120 characters.", field="name")
    if Team.objects.filter(name__iexact=name).exists():
        raise Refused(f"There is a team called {name} already.", field="name")
    with transaction.atomic():
        team = Team.objects.create(name=name)
        Membership.objects.create(team=team, user=by, role=Role.OWNER)
    return team


def add_member(*, team: Team, email: str, role: int) -> Membership:
    """Somebody who has an account, by e-mail address; who is in the team already gets the role."""
    user = User.objects.filter(email__iexact=email.strip(), kind=User.Kind.PERSON, is_active=True).first()
    if user is None:
        raise Refused(
            f"Nobody with the address {email.strip()!r} has an account here. An admin can make one.", field="email"
        )
    member = team.memberships.filter(user=user).first()
    if member:
        return set_role(member=member, role=role)
    return Membership.objects.create(team=team, user=user, role=role)


def set_role(*, member: Membership, role: int) -> Membership:
    """Another role; a team keeps at least one owner."""
    if member.role == Role.OWNER and role != Role.OWNER:
        _keep_an_owner(member)
    member.role = role
    member.save(update_fields=["role"])
    return member


def remove_member(*, member: Membership) -> None:
    """Out of the team; a team keeps at least one owner."""
    if member.role == Role.OWNER:
        _keep_an_owner(member)
    member.delete()


def _keep_an_owner(member: Membership) -> None:
    if not member.team.memberships.filter(role=Role.OWNER).exclude(pk=member.pk).exists():
        raise Refused(
            f"{member.user} is the only owner of {member.team}. Make somebody else an owner first.", field="role"
        )
