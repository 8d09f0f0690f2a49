"""Teams: who is in them, by which role, and what is shared with them."""

from django.core.exceptions import PermissionDenied
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy import cases
from relevancy.models import Case, Endpoint, Membership, Role, Team

from .answers import refused, said
from .forms import MemberForm, RoleForm, TeamForm, refuse

MAY = {
    Role.VIEWER: "sees cases, results and scores",
    Role.RATER: "and rates documents",
    Role.EDITOR: "and changes queries, attempts, endpoints, and runs them",
    Role.OWNER: "and shares, archives, and chooses the members",
}


def owned_team(request: HttpRequest, team_id: int) -> Team:
    """404 for a team the user is not in, 403 for one whose members he may not change."""
    team: Team = get_object_or_404(Team.objects.visible_to(request.user), pk=team_id)
    if not Team.objects.editable_by(request.user).filter(pk=team_id).exists():
        raise PermissionDenied(f"Only owners of {team} change its members.")
    return team


def _here(team: Team) -> str:
    return reverse("team", args=[team.pk])


@require_GET
def teams(request: HttpRequest) -> HttpResponse:
    mine = dict(request.user.memberships.values_list("team_id", "role"))  # type: ignore[union-attr]
    found = Team.objects.filter(pk__in=Team.objects.visible_to(request.user).values("pk")).annotate(
        people=Count("memberships", distinct=True), shared=Count("cases", distinct=True)
    )
    rows = [(team, Role(mine[team.pk]).label if team.pk in mine else "") for team in found]
    return render(request, "team/list.html", {"rows": rows, "form": TeamForm()})


@require_http_methods(["GET", "POST"])
def team_new(request: HttpRequest) -> HttpResponse:
    form = TeamForm(request.POST or None)
    if form.is_valid():
        try:
            team = cases.teams.create(name=form.cleaned_data["name"], by=request.user)
        except cases.Refused as reason:
            refuse(form, reason)
        else:
            return said(request, _here(team), f"{team} is made, and you own it. Add its members.")
    return render(request, "team/new.html", {"form": form}, status=422 if form.errors else 200)


@require_GET
def team(request: HttpRequest, team_id: int) -> HttpResponse:
    found: Team = get_object_or_404(Team.objects.visible_to(request.user), pk=team_id)
    return _team_page(request, found, MemberForm())


def _team_page(request: HttpRequest, found: Team, form: MemberForm) -> HttpResponse:
    context = {
        "team": found,
        "members": found.memberships.select_related("user"),
        "cases": Case.objects.filter(teams=found).select_related("owner"),
        "endpoints": Endpoint.objects.filter(teams=found).defer("credentials", "headers"),
        "roles": Role.choices,
        "may": [(role.label, words) for role, words in MAY.items()],
        "may_edit": Team.objects.editable_by(request.user).filter(pk=found.pk).exists(),
        "form": form,
    }
    return render(request, "team/team.html", context, status=422 if form.errors else 200)


@require_POST
def team_member_add(request: HttpRequest, team_id: int) -> HttpResponse:
    found = owned_team(request, team_id)
    form = MemberForm(request.POST)
    if form.is_valid():
        try:
            member = cases.teams.add_member(
                team=found, email=form.cleaned_data["email"], role=form.cleaned_data["role"]
            )
        except cases.Refused as reason:
            refuse(form, reason)
        else:
            return said(request, _here(found), f"{member.user} is {member.get_role_display()} in {found}.")
    return _team_page(request, found, form)


def _member(found: Team, member_id: int) -> Membership:
    return get_object_or_404(found.memberships.select_related("user", "team"), pk=member_id)


@require_POST
def team_member_role(request: HttpRequest, team_id: int, member_id: int) -> HttpResponse:
    found = owned_team(request, team_id)
    member, form = _member(found, member_id), RoleForm(request.POST)
    if not form.is_valid():
        return refused(request, _here(found), f"{request.POST.get('role', '')!r} is no role.")
    try:
        cases.teams.set_role(member=member, role=form.cleaned_data["role"])
    except cases.Refused as reason:
        return refused(request, _here(found), reason)
    return said(request, _here(found), f"{member.user} is {member.get_role_display()} now.")


@require_http_methods(["GET", "POST"])
def team_member_remove(request: HttpRequest, team_id: int, member_id: int) -> HttpResponse:
    """An owner removes anybody, everybody removes himself; asked before, for the way back may be closed."""
    found: Team = get_object_or_404(Team.objects.visible_to(request.user), pk=team_id)
    member = _member(found, member_id)
    leaving = member.user_id == request.user.pk
    if not leaving:
        owned_team(request, team_id)
    if request.method == "GET":
        return render(request, "team/remove.html", {"team": found, "member": member, "leaving": leaving})
    try:
        cases.teams.remove_member(member=member)
    except cases.Refused as reason:
        return refused(request, _here(found), reason)
    if leaving:
        return said(request, reverse("teams"), f"You left {found}.")
    return said(request, _here(found), f"{member.user} is no longer in {found}; the ratings stay.")
