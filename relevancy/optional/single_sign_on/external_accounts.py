"""Who signs in with the site's OpenID Connect provider: an account that is connected, one with the same address, or a new one."""

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from relevancy.accounts.raters import DOMAIN
from relevancy.models import Invitation, User
from relevancy.models.text import normalize_line, validate_line
from relevancy.models.user import validate_ascii

from .models import ExternalAccount
from .openid_connect import Identity


def find_or_create_user(identity: Identity) -> User:
    """Returns the user whom an identity signs in, and remembers it for this user from then on.

    In this order: the user it is connected with; the user with its e-mail address; a new user. The last two only if the provider has
    verified the address, and the second only if the address is also known here to be the user's: otherwise anyone who signs up here
    with another person's address would share that person's account.

    Raises `ValidationError` with what to do.
    """
    with transaction.atomic():
        external = (
            ExternalAccount.objects.select_related("user")
            .filter(issuer=identity.issuer, subject=identity.subject)
            .first()
        )
        if external is None:
            user = _user_of_address(identity) or _create_user(identity)
            external = ExternalAccount(user=user, issuer=identity.issuer, subject=identity.subject)
        if not external.user.is_active:
            raise ValidationError("This account is switched off. Ask an admin of this site.")
        external.email, external.last_used_at = identity.email[:254], timezone.now()
        external.save()
    return external.user


def connect(*, user: User, identity: Identity) -> None:
    """Lets an identity sign in as the user. Raises `ValidationError` if it signs in as another one."""
    external, is_new = ExternalAccount.objects.get_or_create(
        issuer=identity.issuer, subject=identity.subject, defaults={"user": user, "email": identity.email[:254]}
    )
    if not is_new and external.user_id != user.pk:
        raise ValidationError(f"{external} already signs in as another user of this site.")


def disconnect(*, user: User, pk: int) -> None:
    """Ends that an account of the provider signs in as the user. Raises `ValidationError` if nothing else would be left to sign in
    with.
    """
    if user.external_accounts.count() < 2:
        if not settings.PASSWORD_SIGN_IN:
            raise ValidationError("It is the only way to sign in here, so you could not sign in any more.")
        if not user.has_usable_password():
            raise ValidationError(
                "You have no password here, so you could not sign in any more. Choose a password first."
            )
    user.external_accounts.filter(pk=pk).delete()


def _user_of_address(identity: Identity) -> User | None:
    validate_ascii(identity.email)
    user = User.objects.find(identity.email)
    if user is None or user.kind != User.Kind.PERSON:
        return None
    if not (identity.is_email_verified and user.has_confirmed_email):
        way = "Sign in with your password, and connect the accounts on your account page."
        if not settings.PASSWORD_SIGN_IN:
            way = "Ask an admin of this site to confirm it."
        raise ValidationError(
            f"There is an account with the address {user.email} here, but the address is not verified. {way}"
        )
    return user


def _create_user(identity: Identity) -> User:
    email = identity.email.strip().lower()
    try:
        validate_email(email)
    except ValidationError:
        raise ValidationError("The provider did not tell your e-mail address, so no account was created.") from None
    if not identity.is_email_verified or email.endswith(f"@{DOMAIN}"):
        raise ValidationError(f"The provider has not verified the address {email}, so no account was created.")
    is_open = "*" in settings.OIDC_DOMAINS or email.rpartition("@")[2] in settings.OIDC_DOMAINS
    if not (is_open or Invitation.objects.pending().filter(email=email).exists()):
        raise ValidationError(
            f"There is no account for {email} here. Ask an owner of a team or an admin to invite you."
        )
    user = User(email=email, name=_clean_name(identity.name))
    user.set_unusable_password()
    user.full_clean()
    user.save()
    return user


def _clean_name(name: str) -> str:
    name = normalize_line(name)[:120]
    try:
        validate_line(name)
    except ValidationError:
        return ""
    return name
