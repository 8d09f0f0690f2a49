"""Links with which people who forgot their password choose a new one: sent by e-mail, or made by an admin.

A link is signed. It is valid for a day (`settings.PASSWORD_RESET_TIMEOUT`), and until the password is changed or its user
signs in. Only a link that was sent shows whose the address is, so the two are told apart.
"""

from django.conf import settings
from django.contrib.auth.tokens import PasswordResetTokenGenerator, default_token_generator
from django.core.mail import EmailMessage
from django.db import transaction
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from relevancy import hooks
from relevancy.models import User

from . import api_tokens, sessions


class MessageTokenGenerator(PasswordResetTokenGenerator):
    """Tokens of links that were sent to the user's address; those of an admin's links are not valid for it."""

    key_salt = "relevancy.accounts.passwords.MessageTokenGenerator"


message_token_generator = MessageTokenGenerator()


def reset_path(user: User) -> str:
    """Returns the path with which a user chooses a password. Anyone who has it can sign in as this user."""
    return _path("password_reset_confirm", user, default_token_generator)


def _path(page: str, user: User, generator: PasswordResetTokenGenerator) -> str:
    return reverse(page, args=[urlsafe_base64_encode(force_bytes(user.pk)), generator.make_token(user)])


def send_reset_link(*, email: str, site_url: str) -> bool:
    """Sends the link to the account with this address. Returns whether there is one, which must not be disclosed.

    site_url: what the path of the link is added to, without a slash at its end.
    """
    user = User.objects.find(email)
    if user is None or user.kind != User.Kind.PERSON or not user.is_active or not settings.MAIL_HOST:
        return False
    EmailMessage(
        subject="Choose a new password for Relevancy",
        body=(
            f"With this link you choose a new password for {user.email}:\n\n"
            f"{site_url}{_path('password_message_confirm', user, message_token_generator)}\n\n"
            "It is valid for a day and works once. If you did not ask for it, do nothing: your password stays as it is.\n"
        ),
        to=[user.email],
    ).send()
    return True


def password_was_set(*, user: User, by_message: bool = False, revoke: bool = False, keep: str | None = None) -> None:
    """Ends what a new password ends: the sessions but the one with the key `keep`; with `revoke` also the user's API tokens, and what
    optional apps sign the user in with.

    by_message: with a link that was sent, which confirms the address. An account whose address was not confirmed may have been made
    by another person, so then all of this is gone, and what has to be shown besides the password.
    """
    with transaction.atomic():
        is_claimed = by_message and not user.has_confirmed_email
        if is_claimed:
            User.objects.filter(pk=user.pk).update(has_confirmed_email=True)
        if revoke or is_claimed:
            api_tokens.revoke_all(user=user)
            hooks.access_revoked(user, is_claimed)
        sessions.end_all(user=user, keep=keep)
