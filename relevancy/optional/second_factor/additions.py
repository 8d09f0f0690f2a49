"""What the app adds to the core: the code between the password and the session, a page of the account, and what ends with it."""

from collections.abc import Iterator

from django.urls import reverse

from relevancy import hooks
from relevancy.hooks import Link, Loss, Place, add_links, help_pages
from relevancy.models import User

from . import second_factor
from .forms import CodeForm
from .pages import ask_for_code

hooks.proofs[second_factor.APP] = hooks.Proof(
    ask=ask_for_code, field=CodeForm.base_fields["code"], check=second_factor.check
)
help_pages["account/second-factor/"] = "second-factor"


@add_links[Place.ACCOUNT]
def account_links(user: User) -> Iterator[Link]:
    """Yields the link to the page that turns it on and off."""
    yield Link("Second factor", reverse("account_second_factor"), "second-factor-link")


@hooks.access_revoked.add
def forget(user: User, is_claimed: bool) -> None:
    """Removes the second factor that another person may have set up. Otherwise it ends with a code, or by an admin."""
    if is_claimed:
        second_factor.remove(user=user)


@hooks.user_losses.add
def losses(user: User) -> Iterator[Loss]:
    """Yields what is lost with the account."""
    if second_factor.is_on(user):
        yield Loss("deleted", "second-factor", "your second factor and its recovery codes")


@hooks.user_deletion.add
def delete(user: User) -> None:
    """Deletes what belongs to the account."""
    second_factor.remove(user=user)
