"""Links with which people who forgot their password choose a new one: sent by e-mail, or made by an admin.

A link is signed. It is valid for a day (`settings.PASSWORD_RESET_TIMEOUT`), and until the password is changed or its user
signs in.
"""

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import EmailMessage
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from relevancy.models import User


def reset_path(user: User) -> str:
    """Returns the path with which a user chooses a password. Anyone who has it can sign in as this user."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("password_reset_confirm", args=[uid, default_token_generator.make_token(user)])


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
            f"With this link you choose a new password for {user.email}:\n\n{site_url}{reset_path(user)}\n\n"
            "It is valid for a day and works once. If you did not ask for it, do nothing: your password stays as it is.\n"
        ),
        to=[user.email],
    ).send()
    return True
