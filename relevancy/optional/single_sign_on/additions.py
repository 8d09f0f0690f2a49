"""What the app adds to the core: the provider on the sign-in page, the page of connected accounts, and what ends with them."""

from collections.abc import Iterator
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from relevancy import hooks
from relevancy.hooks import Link, Loss, Place, add_links, help_pages
from relevancy.models import User

from .models import ExternalAccount
from .openid_connect import is_configured

help_pages["account/external/"] = "single-sign-on"


@add_links[Place.SIGN_IN]
def sign_in_links(next_url: str) -> Iterator[Link]:
    """Yields the link to the provider."""
    if is_configured():
        query = f"?{urlencode({'next': next_url})}" if next_url else ""
        yield Link(f"Sign in with {settings.OIDC_NAME}", f"{reverse('openid_login')}{query}", "sign-in-provider")


@add_links[Place.ACCOUNT]
def account_links(user: User) -> Iterator[Link]:
    """Yields the link to the page of connected accounts."""
    if is_configured():
        yield Link("Single sign-on", reverse("account_external"), "external-accounts-link")


@hooks.access_revoked.add
def disconnect_all(user: User, is_claimed: bool) -> None:
    """Ends that accounts of the provider sign the user in."""
    ExternalAccount.objects.filter(user=user).delete()


@hooks.user_losses.add
def losses(user: User) -> Iterator[Loss]:
    """Yields what is lost with the account."""
    if names := ", ".join(str(external) for external in ExternalAccount.objects.filter(user=user)):
        yield Loss("deleted", "external-accounts", f"the connection with your account of the provider: {names}")


@hooks.user_deletion.add
def delete(user: User) -> None:
    """Deletes the connections."""
    ExternalAccount.objects.filter(user=user).delete()
