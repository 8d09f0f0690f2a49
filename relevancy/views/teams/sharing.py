"""Sharing with teams: the part that the pages of cases and of scorers have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django import forms

from relevancy.models import Case, Scorer, Team, User


class ShareForm(forms.Form):
    """A team to share with or to stop sharing with. Teams that it is shared with already are not listed, but accepted."""

    SHARE, STOP = "share", "unshare"

    team = forms.ModelChoiceField(Team.objects.none(), label="Share with the team", empty_label=None)
    do = forms.ChoiceField(choices=[(SHARE, "Share"), (STOP, "Stop sharing")], widget=forms.HiddenInput)

    def __init__(self, user: User, shared: Sequence[Team], data: Mapping[str, str] | None = None) -> None:
        super().__init__(data, auto_id="share-%s")
        team: forms.ModelChoiceField[Team] = self.fields["team"]  # type: ignore[assignment]
        team.queryset = Team.objects.shareable_by(user).order_by("name")
        self.own_teams: list[Team] = list(team.queryset)
        self.other_teams = [own for own in self.own_teams if own not in shared]
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
    shared: Case | Scorer,
    user: User,
    *,
    url: str,
    not_shared: str,
    data: Mapping[str, str] | None,
    can_share: bool = True,
) -> Sharing:
    """Returns the teams that something is shared with, and the form, bound to `data` if given, to change that."""
    teams = list(shared.teams.order_by("name"))
    form = ShareForm(user, teams, data)
    return Sharing(
        url=url,
        teams=[SharedTeam(team, can_share and team in form.own_teams) for team in teams],
        form=form,
        not_shared=not_shared,
    )
