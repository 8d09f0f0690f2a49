"""Sharing with teams: the part that the pages of cases, endpoints and scorers have in common.

A user who has the role owner can share with teams in which the user is an editor. The owner of the row and admins can stop
sharing with any team; owners of a team, who have the role by that team, can stop sharing with it.
"""

from collections.abc import Callable, Mapping

from django import forms
from django.http import HttpResponse

from relevancy.models import Case, Endpoint, Scorer, Team, User
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_with_message


class ShareForm(forms.Form):
    """A team to share a row with, or to stop sharing it with if `do` says so. `teams/_sharing.html` shows it.

    teams: those that the row is shared with. removable: those that the user can stop sharing it with.
    other_teams: those that the user can share it with. Teams that it is shared with already are not listed, but accepted.
    """

    SHARE, STOP = "share", "unshare"

    team = forms.ModelChoiceField(Team.objects.none(), label="Share with the team", empty_label=None)
    do = forms.ChoiceField(choices=[(SHARE, "Share"), (STOP, "Stop sharing")], widget=forms.HiddenInput)

    def __init__(
        self,
        row: Case | Endpoint | Scorer,
        user: User,
        data: Mapping[str, str] | None = None,
        *,
        can_share: bool = True,
    ) -> None:
        """can_share: false if the user can change nothing."""
        super().__init__(data, auto_id="share-%s")
        self.row = row
        self.teams = list(row.teams.order_by("name"))
        shareable = Team.objects.shareable_by(user)
        removable = Team.objects.filter(pk__in=[team.pk for team in self.teams])
        removable = removable.removable_by(user, owner_id=row.owner_id)
        self.removable = list(removable) if can_share else []
        self.other_teams = [team for team in shareable.order_by("name") if team not in self.teams]
        team: forms.ModelChoiceField[Team] = self.fields["team"]  # type: ignore[assignment]
        team.queryset = removable if data and data.get("do") == self.STOP else shareable
        team.choices = [(other.pk, str(other)) for other in self.other_teams]

    def save(
        self,
        request: HtmxRequest,
        url: str,
        *,
        share: Callable[..., None],
        unshare: Callable[..., None],
        kept: str = "",
    ) -> HttpResponse:
        """Does what the valid form says, and leads to the address. Raises `ValidationError`.

        share, unshare: take `team` and `by`. kept: a sentence on what stays when sharing stops.
        """
        team = self.cleaned_data["team"]
        if self.cleaned_data["do"] == self.STOP:
            unshare(team=team, by=request.user)
            return redirect_with_message(request, url, f"{self.row} is no longer shared with {team}. {kept}".rstrip())
        share(team=team, by=request.user)
        return redirect_with_message(request, url, f"{self.row} is now shared with {team}.")
