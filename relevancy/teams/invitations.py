"""Invitations: made and withdrawn by owners of a team, accepted or declined by the invited person.

The link of an invitation is signed, not stored: reading the database is not enough to accept one.
"""

from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.signing import BadSignature
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from relevancy import activity
from relevancy.models import Activity, Invitation, Membership, Role, Team, User
from relevancy.models.invitation import LIFETIME, SIGNER
from relevancy.models.saving import clean_and_save
from relevancy.models.user import normalize_address

from .teams import record_joined

MAX_PENDING = 200  # per team
MAX_DAYS = 90
SPARE_SIGN_UPS = 5  # accounts that can be requested with a link beyond its uses, for those who mistype their address
NOT_PENDING = (
    "This invitation is no longer valid: it was answered, withdrawn or has expired. Ask the team for a new one."
)
NOT_ADDRESSED = "This invitation is for another e-mail address. Sign in with the account that has it."


def invite(*, team: Team, role: int, by: User, email: str = "", uses: int = 1, days: int = LIFETIME.days) -> Invitation:
    """Creates an invitation for an e-mail address or, without one, for anyone who has its link, which `uses` people can use.

    It expires in `days`, at most 90.
    It is the same whether or not the address has an account, and replaces a pending one for the same address.
    Raises `ValidationError` naming the field.
    """
    try:
        email = normalize_address(email)
    except ValidationError as error:
        raise ValidationError({"email": error.messages}) from None
    if not email and role == Role.OWNER:
        message = (
            "A link can be passed on, so it cannot make an owner. Enter an e-mail address, or choose another role."
        )
        raise ValidationError({"role": message})
    if email and team.memberships.filter(user__email=email).exists():
        raise ValidationError({"email": f"{email} is already a member of {team}."})
    if email and uses != 1:
        raise ValidationError({"uses": "An invitation for an e-mail address is for one person. Enter 1."})
    if not 1 <= days <= MAX_DAYS:
        raise ValidationError({"days": f"An invitation cannot be valid for {days} days. Choose 1 to {MAX_DAYS}."})
    expires_at = timezone.now() + timedelta(days=days)
    invitation = Invitation(team=team, email=email, role=role, created_by=by, max_uses=uses, expires_at=expires_at)
    with transaction.atomic():
        Team.objects.select_for_update().get(pk=team.pk)
        pending = Invitation.objects.pending().filter(team=team)
        if email:
            pending.filter(email=email).update(withdrawn_at=timezone.now())
        if pending.count() >= MAX_PENDING:
            message = (
                f"{team} has {MAX_PENDING} pending invitations, the most that are allowed. Withdraw some of them first."
            )
            raise ValidationError({"email": message})
        clean_and_save(invitation)
        _record(Activity.Verb.MEMBER_INVITED, invitation, by, role=Role(role).label)
    return invitation


def withdraw(*, invitation: Invitation, by: User | None = None) -> None:
    """Makes an invitation invalid that was not accepted yet."""
    with transaction.atomic():
        if Invitation.objects.filter(pk=invitation.pk, accepted_at=None).update(withdrawn_at=timezone.now()):
            _record(Activity.Verb.INVITATION_WITHDRAWN, invitation, by)


def _record(verb: Activity.Verb, invitation: Invitation, by: User | None, **details: Any) -> None:
    people = "one person" if invitation.max_uses == 1 else f"{invitation.max_uses} people"
    subject = invitation.email or f"{people} with a link"
    activity.record(verb, team=invitation.team_id, by=by, subject=subject, object_id=invitation.pk, **details)


def find(link_token: str) -> Invitation | None:
    """Returns the invitation of a link, in whatever state; None if the link was not made here."""
    try:
        pk = int(SIGNER.unsign(link_token))
    except (BadSignature, ValueError):
        return None
    return Invitation.objects.select_related("team", "created_by").filter(pk=pk).first()


def why_not_answerable(*, invitation: Invitation, by: User) -> str:
    """Returns why a user can neither accept nor decline an invitation; an empty string if the user can."""
    if invitation.email and invitation.email != by.email.lower():
        return NOT_ADDRESSED
    return why_not_valid(invitation)


def why_not_valid(invitation: Invitation) -> str:
    """Returns why an invitation cannot be accepted; an empty string if it can be accepted."""
    # It is the word of an owner: it is worth no more than the owner's role.
    is_still_owner = Team.objects.owned_by(invitation.created_by).filter(pk=invitation.team_id).exists()
    if not invitation.is_pending or not is_still_owner or not invitation.created_by.is_active:
        return NOT_PENDING
    return ""


def accept(*, invitation: Invitation, by: User) -> Membership:
    """Makes the user a member of the team; a member keeps a higher role, and uses up nothing by following a link.

    Raises `ValidationError`.
    """
    with transaction.atomic():
        Team.objects.select_for_update().get(pk=invitation.team_id)
        invitation.refresh_from_db()
        _check(invitation, by)
        membership, is_new = Membership.objects.get_or_create(
            team=invitation.team, user=by, defaults={"role": invitation.role}
        )
        is_raised = not is_new and membership.role < invitation.role
        if is_raised:
            membership.role = invitation.role
            membership.save(update_fields=["role"])
        if is_new or is_raised:
            record_joined(membership, by=by)
        if is_new or is_raised or invitation.email:
            invitation.uses += 1
        if invitation.uses >= invitation.max_uses:
            invitation.accepted_by, invitation.accepted_at = by, timezone.now()
        invitation.save(update_fields=["uses", "accepted_by", "accepted_at"])
    return membership


def count_sign_up(*, invitation: Invitation, email: str) -> None:
    """Counts an account that is requested with the link of an invitation, whether or not it is created.

    Raises `ValidationError` if the invitation is for another address or no longer valid, or if too many were requested.
    """
    if invitation.email and invitation.email != email.strip().lower():
        raise ValidationError({"email": "This invitation is for another e-mail address."})
    if reason := why_not_valid(invitation):
        raise ValidationError(reason)
    counted = Invitation.objects.filter(pk=invitation.pk, sign_ups__lt=F("max_uses") + SPARE_SIGN_UPS)
    if not counted.update(sign_ups=F("sign_ups") + 1):
        raise ValidationError("Too many accounts were requested with this link. Ask the team for a new one.")


def decline(*, invitation: Invitation, by: User) -> None:
    """Declines an invitation, which becomes invalid. One for anyone with the link stays valid for others. Raises
    `ValidationError`."""
    with transaction.atomic():
        Team.objects.select_for_update().get(pk=invitation.team_id)
        invitation.refresh_from_db()
        _check(invitation, by)
        if invitation.email:
            invitation.declined_at = timezone.now()
            invitation.save(update_fields=["declined_at"])
            _record(Activity.Verb.INVITATION_DECLINED, invitation, by)


def _check(invitation: Invitation, by: User) -> None:
    if reason := why_not_answerable(invitation=invitation, by=by):
        raise ValidationError(reason)
