"""Teams and their members. A team always has an owner."""

from django.core.exceptions import ValidationError
from django.db import transaction

from relevancy import activity
from relevancy.models import Activity, Membership, Role, Team, User
from relevancy.models.saving import clean_and_save


def create(*, name: str, by: User) -> Team:
    """Creates a team that `by` owns. Raises `ValidationError` for a name that is empty, too long or taken."""
    team = Team(name=name)
    with transaction.atomic():
        clean_and_save(team)
        Membership.objects.create(team=team, user=by, role=Role.OWNER)
        activity.record(Activity.Verb.TEAM_CREATED, team=team, by=by, subject=team, object_id=team.pk)
    return team


def add_member(*, team: Team, email: str, role: int, by: User | None = None) -> Membership:
    """Adds the user with this e-mail address to the team; a user who is a member already gets the role.

    For commands on the server: on the pages, users join a team only by accepting an invitation.
    Raises `ValidationError` if there is no active user with this address.
    """
    email = email.strip()
    user = User.objects.find(email)
    if user is None or user.kind != User.Kind.PERSON or not user.is_active:
        raise ValidationError({"email": f"There is no account with the address {email!r}. An admin can create one."})
    with transaction.atomic():
        Team.objects.select_for_update().get(pk=team.pk)
        member = team.memberships.filter(user=user).first()
        if member is None:
            member = Membership.objects.create(team=team, user=user, role=role)
            record_joined(member, by=by)
            return member
        return set_role(member=member, role=role, by=by)


def record_joined(member: Membership, *, by: User | None) -> None:
    """Adds to the log that a user is a member now, or has a higher role."""
    activity.record(
        Activity.Verb.MEMBER_JOINED, team=member.team_id, by=by, person=member.user, role=Role(member.role).label
    )


def set_role(*, member: Membership, role: int, by: User | None = None) -> Membership:
    """Gives a member another role. Raises `ValidationError` for the only owner, who stays owner."""
    with transaction.atomic():
        _lock(member)
        if member.role == Role.OWNER and role != Role.OWNER:
            _check_other_owner(member)
        former, member.role = member.role, role
        member.save(update_fields=["role"])
        if role != former:
            record_role(member, former=former, by=by)
    return member


def record_role(member: Membership, *, former: int, by: User | None) -> None:
    """Adds to the log that a member has another role than the former one."""
    activity.record(
        Activity.Verb.MEMBER_ROLE,
        team=member.team_id,
        by=by,
        person=member.user,
        former=Role(former).label,
        role=Role(member.role).label,
    )


def remove_member(*, member: Membership, by: User | None = None) -> None:
    """Removes a member from the team. Raises `ValidationError` for the only owner."""
    with transaction.atomic():
        _lock(member)
        if member.role == Role.OWNER:
            _check_other_owner(member)
        member.delete()
        record_removed(member, by=by)


def record_removed(member: Membership, *, by: User | None) -> None:
    """Adds to the log that a user is no longer a member."""
    verb = Activity.Verb.MEMBER_LEFT if by == member.user else Activity.Verb.MEMBER_REMOVED
    activity.record(verb, team=member.team_id, by=by, person=member.user)


def _lock(member: Membership) -> None:
    """Locks the team and reads the member's role again: two owners who leave at once must not both see the other one."""
    Team.objects.select_for_update().get(pk=member.team_id)
    try:
        member.refresh_from_db(fields=["role"])
    except Membership.DoesNotExist:
        raise ValidationError(f"{member.user} is no longer in {member.team}.") from None


def _check_other_owner(member: Membership) -> None:
    if not member.team.memberships.filter(role=Role.OWNER).exclude(pk=member.pk).exists():
        raise ValidationError(
            {"role": f"{member.user} is the only owner of {member.team}. Make another member an owner first."}
        )
