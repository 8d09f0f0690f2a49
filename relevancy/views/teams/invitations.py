"""Invitations as the pages show them: with their links."""

from dataclasses import dataclass

from django.urls import reverse

from relevancy import teams
from relevancy.models import Invitation
from relevancy.views.requests import HtmxRequest


@dataclass(frozen=True)
class InvitationLink:
    """An invitation with the address that accepts or declines it."""

    invitation: Invitation
    request: HtmxRequest

    @property
    def path(self) -> str:
        return reverse("invitation", args=[teams.invitations.token(self.invitation)])

    @property
    def url(self) -> str:
        """The link to be sent to the invited person."""
        return self.request.build_absolute_uri(self.path)


def invitations_to(request: HtmxRequest) -> list[InvitationLink]:
    """Returns the pending invitations for the user's e-mail address. One SQL statement."""
    pending = Invitation.objects.pending().addressed_to(request.user).select_related("team", "created_by")
    return [InvitationLink(invitation, request) for invitation in pending]
