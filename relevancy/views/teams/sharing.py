"""Sharing with teams: the part that the pages of cases, endpoints and scorers have in common.

A user who has the role owner can share with teams in which the user is an editor. The owner of the row and admins can stop
sharing with any team; owners of a team, who have the role by that team, can stop sharing with it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django import forms
from django.db.models import QuerySet
from django.http import HttpResponse

from relevancy.models import Case, Endpoint, Scorer, Team, User
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import redirect_with_message


class ShareForm(forms.Form):
    """A team to share with, or to stop sharing with if `do` says so."""

    SHARE, STOP = "share", "unshare"

    team = forms.ModelChoiceField(Team.objects.none(), label="Share with the team", empty_label=None)
    do = forms.ChoiceField(choices=[(SHARE, "Share"), (STOP, "Stop sharing")], widget=forms.HiddenInput)

    def __init__(
        self,
        shareable: QuerySet[Team],
        removable: QuerySet[Team],
        shared: Sequence[Team],
        data: Mapping[str, str] | None = None,
    ) -> None:
        """shareable, removable: the teams that may be shared with, and those that sharing may be stopped with.

        Teams that it is shared with already are not listed, but accepted.
        """
        super().__init__(data, auto_id="share-%s")
        team: forms.ModelChoiceField[Team] = self.fields["team"]  # type: ignore[assignment]
        team.queryset = removable if data and data.get("do") == self.STOP else shareable
        self.other_teams = [team for team in shareable.order_by("name") if team not in shared]
        team.choices = [(other.pk, str(other)) for other in self.other_teams]

    @property
    def stops(self) -> bool:
        """Whether the valid form stops sharing."""
        return bool(self.cleaned_data["do"] == self.STOP)


@dataclass(frozen=True)
class SharedTeam:
    """A team that something is shared with. can_stop: whether the user can stop sharing with it."""

    team: Team
    can_stop: bool


@dataclass(frozen=True)
class Sharing:
    """What `teams/_sharing.html` shows.

    url: address that its forms post to.
    not_shared: what it says if there is no team.
    """

    url: str
    teams: Sequence[SharedTeam]
    form: ShareForm
    not_shared: str


def sharing(
    shared: Case | Endpoint | Scorer,
    user: User,
    *,
    url: str,
    not_shared: str,
    data: Mapping[str, str] | None,
    can_share: bool = True,
) -> Sharing:
    """Returns the teams that something is shared with, and the form, bound to `data` if given, to change that."""
    teams = list(shared.teams.order_by("name"))
    removable = Team.objects.filter(pk__in=[team.pk for team in teams]).removable_by(user, owner_id=shared.owner_id)
    form = ShareForm(Team.objects.shareable_by(user), removable, teams, data)
    can_stop = set(removable.values_list("pk", flat=True)) if can_share else set()
    return Sharing(
        url=url,
        teams=[SharedTeam(team, team.pk in can_stop) for team in teams],
        form=form,
        not_shared=not_shared,
    )


def change_sharing(
    request: HtmxRequest,
    shared: Sharing,
    row: Case | Endpoint | Scorer,
    *,
    share: Callable[..., None],
    unshare: Callable[..., None],
    kept: str = "",
) -> HttpResponse:
    """Does what the valid form of `shared` says, and leads back to its page. Raises `ValidationError`.

    share, unshare: take `team` and `by`. kept: a sentence on what stays when sharing stops.
    """
    team = shared.form.cleaned_data["team"]
    if shared.form.stops:
        unshare(team=team, by=request.user)
        return redirect_with_message(request, shared.url, f"{row} is no longer shared with {team}. {kept}".rstrip())
    share(team=team, by=request.user)
    return redirect_with_message(request, shared.url, f"{row} is now shared with {team}.")
