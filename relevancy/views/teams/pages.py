"""Pages of teams: their members and roles, and what is shared with them."""

from django.core.exceptions import ValidationError
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy import teams
from relevancy.models import Case, Endpoint, Membership, Role, Team
from relevancy.views.forms import add_errors
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, redirect_with_message

from .forms import MemberForm, RoleForm, TeamForm

# What each role can do; each can do all that the one before can.
ROLE_DESCRIPTIONS = {
    Role.VIEWER: "sees cases, results and scores",
    Role.RATER: "also rates documents",
    Role.EDITOR: "also changes queries, attempts and endpoints, runs searches, and shares cases",
    Role.OWNER: "also archives cases and manages the members of the team",
}


def described_roles() -> list[tuple[str, str]]:
    """Returns each role's name and what it can do, from the lowest."""
    return [(role.label, description) for role, description in ROLE_DESCRIPTIONS.items()]


def _team_url(team: Team) -> str:
    return reverse("team", args=[team.pk])


@require_GET
def team_list(request: HtmxRequest) -> HttpResponse:
    """The teams of the user, or all of them for an admin."""
    roles = dict(request.user.memberships.values_list("team_id", "role"))
    visible = Team.objects.filter(pk__in=Team.objects.visible_to(request.user).values("pk")).annotate(
        people=Count("memberships", distinct=True), shared=Count("cases", distinct=True)
    )
    rows = [(team, Role(roles[team.pk]).label if team.pk in roles else "") for team in visible]
    return render(request, "teams/list.html", {"rows": rows, "form": TeamForm()})


@require_http_methods(["GET", "POST"])
def team_new(request: HtmxRequest) -> HttpResponse:
    """Creates a team owned by the user."""
    form = TeamForm(request.POST or None)
    if form.is_valid():
        try:
            team = teams.create(name=form.cleaned_data["name"], by=request.user)
        except ValidationError as error:
            add_errors(form, error)
        else:
            return redirect_with_message(
                request, _team_url(team), f"Team “{team}” created. You are its owner; add its members."
            )
    return render(request, "teams/new.html", {"form": form}, status=422 if form.errors else 200)


@require_GET
def team(request: HtmxRequest, team_id: int) -> HttpResponse:
    """The members of a team and what is shared with it."""
    team: Team = get_or_403(Team.objects, request.user, team_id, needs=Role.VIEWER)
    return _render_team(request, team, MemberForm())


def _render_team(request: HtmxRequest, team: Team, form: MemberForm) -> HttpResponse:
    context = {
        "team": team,
        "members": team.memberships.select_related("user"),
        "cases": Case.objects.filter(teams=team).select_related("owner"),
        "endpoints": Endpoint.objects.filter(teams=team).defer("credentials", "headers"),
        "roles": Role.choices,
        "described_roles": described_roles(),
        "can_edit": Team.objects.owned_by(request.user).filter(pk=team.pk).exists(),
        "form": form,
    }
    return render(request, "teams/team.html", context, status=422 if form.errors else 200)


@require_POST
def team_member_add(request: HtmxRequest, team_id: int) -> HttpResponse:
    """Adds a user to the team by e-mail address."""
    team: Team = get_or_403(Team.objects, request.user, team_id, needs=Role.OWNER)
    form = MemberForm(request.POST)
    if form.is_valid():
        try:
            member = teams.add_member(team=team, email=form.cleaned_data["email"], role=form.cleaned_data["role"])
        except ValidationError as error:
            add_errors(form, error)
        else:
            return redirect_with_message(
                request, _team_url(team), f"{member.user} added to {team} as {member.get_role_display()}."
            )
    return _render_team(request, team, form)


def _get_member(team: Team, member_id: int) -> Membership:
    return get_object_or_404(team.memberships.select_related("user", "team"), pk=member_id)


@require_POST
def team_member_role(request: HtmxRequest, team_id: int, member_id: int) -> HttpResponse:
    """Changes the role of a member."""
    team: Team = get_or_403(Team.objects, request.user, team_id, needs=Role.OWNER)
    member, form = _get_member(team, member_id), RoleForm(request.POST)
    if not form.is_valid():
        return conflict(
            request, _team_url(team), f"{request.POST.get('role', '')!r} is not a role. Choose one from the list."
        )
    try:
        teams.set_role(member=member, role=form.cleaned_data["role"])
    except ValidationError as error:
        return conflict(request, _team_url(team), error)
    return redirect_with_message(
        request, _team_url(team), f"{member.user} now has the role {member.get_role_display()}."
    )


@require_http_methods(["GET", "POST"])
def team_member_remove(request: HtmxRequest, team_id: int, member_id: int) -> HttpResponse:
    """Owners can remove any member; members can leave. Asks for confirmation, because it may not be reversible."""
    team: Team = get_or_403(Team.objects, request.user, team_id, needs=Role.VIEWER)
    member = _get_member(team, member_id)
    leaving = member.user_id == request.user.pk
    if not leaving:
        get_or_403(Team.objects, request.user, team_id, needs=Role.OWNER)
    if request.method == "GET":
        return render(request, "teams/remove.html", {"team": team, "member": member, "leaving": leaving})
    try:
        teams.remove_member(member=member)
    except ValidationError as error:
        return conflict(request, _team_url(team), error)
    if leaving:
        return redirect_with_message(request, reverse("teams"), f"You left {team}.")
    return redirect_with_message(request, _team_url(team), f"{member.user} removed from {team}; the ratings are kept.")
