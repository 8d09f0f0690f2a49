"""Pages of teams: their members and roles, and what is shared with them."""

from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Count
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy import accounts, teams
from relevancy.models import Case, Endpoint, Invitation, Membership, Role, Team, User
from relevancy.views.account.forms import SignUpForm, form_status
from relevancy.views.account.sign_in import finish_sign_in, sign_in
from relevancy.views.account.sign_up import create_account
from relevancy.views.forms import errors_to, form_error
from relevancy.views.judge.work import find_first_work
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest, submitted
from relevancy.views.responses import conflict, redirect_with_message

from .forms import InvitationAction, InvitationForm, RoleForm, TeamForm

# What each role can do; each can do all that the one before can.
DESCRIBED_ROLES = [
    (Role.VIEWER.label, "sees cases, results and scores"),
    (Role.RATER.label, "also rates documents"),
    (Role.EDITOR.label, "also changes queries, attempts and endpoints, and runs searches"),
    (Role.OWNER.label, "also shares and archives cases and endpoints, and invites members and manages their roles"),
]


def _team_url(team: Team) -> str:
    return reverse("team", args=[team.pk])


@require_GET
def team_list(request: HtmxRequest) -> HttpResponse:
    """The teams of the user, or all of them for an admin."""
    visible = Team.objects.filter(pk__in=Team.objects.visible_to(request.user).values("pk"))
    visible = visible.with_role(request.user).annotate(
        people=Count("memberships", distinct=True), shared=Count("cases", distinct=True)
    )
    rows = [(team, Role(team.role).label if team.role else "") for team in visible]
    context = {"rows": rows, "form": TeamForm(), "invitations": Invitation.objects.waiting_for(request.user)}
    return render(request, "teams/list.html", context)


@require_http_methods(["GET", "POST"])
def team_new(request: HtmxRequest) -> HttpResponse:
    """Creates a team owned by the user."""
    form = TeamForm(request.POST or None)
    if form.is_valid():
        with errors_to(form):
            team = teams.create(name=form.cleaned_data["name"], by=request.user)
            return redirect_with_message(
                request, _team_url(team), f"Team “{team}” created. You are its owner; add its members."
            )
    return render(request, "teams/new.html", {"form": form}, status=422 if form.errors else 200)


@require_GET
def team(request: HtmxRequest, team_id: int) -> HttpResponse:
    """The members of a team and what is shared with it."""
    team: Team = get_or_403(Team.objects, request.user, team_id, needs=Role.VIEWER)
    return _render_team(request, team, InvitationForm())


def _render_team(request: HtmxRequest, team: Team, form: InvitationForm) -> HttpResponse:
    can_edit = Team.objects.owned_by(request.user).filter(pk=team.pk).exists()
    context = {
        "team": team,
        "invitations": team.invitations.listed() if can_edit else [],
        "site": request.build_absolute_uri("/").rstrip("/"),
        "members": team.memberships.select_related("user"),
        "cases": Case.objects.filter(teams=team).select_related("owner"),
        "endpoints": Endpoint.objects.filter(teams=team).defer("credentials", "headers"),
        "roles": Role.choices,
        "described_roles": DESCRIBED_ROLES,
        "can_edit": can_edit,
        "form": form,
    }
    return render(request, "teams/team.html", context, status=422 if form.errors else 200)


@require_POST
def team_invite(request: HtmxRequest, team_id: int) -> HttpResponse:
    """Invites by e-mail address or by a link. The response does not depend on whether the address has an account."""
    team: Team = get_or_403(Team.objects, request.user, team_id, needs=Role.OWNER)
    form = InvitationForm(request.POST)
    if form.is_valid():
        with errors_to(form):
            invitation = teams.invitations.invite(team=team, by=request.user, **form.cleaned_data)
            people = f"{invitation.max_uses} people" if invitation.max_uses > 1 else "one person"
            text = f"Invitation for {invitation.email or people} created. Copy its link and send it."
            return redirect_with_message(request, _team_url(team), text)
    return _render_team(request, team, form)


@require_POST
def invitation_withdraw(request: HtmxRequest, team_id: int, invitation_id: int) -> HttpResponse:
    """Makes an invitation invalid that was not accepted yet."""
    team: Team = get_or_403(Team.objects, request.user, team_id, needs=Role.OWNER)
    invitation = get_object_or_404(team.invitations.listed(), pk=invitation_id)
    teams.invitations.withdraw(invitation=invitation, by=request.user)
    return redirect_with_message(request, _team_url(team), "Invitation withdrawn. Its link is no longer valid.")


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def invitation(request: HtmxRequest, token: str) -> HttpResponse:
    """The page that the link of an invitation leads to: accept or decline, or for anonymous users sign in or create an
    account."""
    pending = _find_invitation(token)
    if not request.user.is_authenticated:
        return redirect_to_login(request.path) if request.method == "POST" else _render_sign_up(request, pending)
    reason = teams.invitations.why_not_answerable(invitation=pending, by=request.user)
    if request.method == "GET" or reason:
        context = {"invitation": pending, "reason": reason, "described_roles": DESCRIBED_ROLES}
        return render(request, "teams/invitation.html", context, status=403 if reason else 200)
    try:
        if submitted(request, InvitationAction) == InvitationAction.DECLINE:
            teams.invitations.decline(invitation=pending, by=request.user)
            return redirect_with_message(request, reverse("teams"), f"Invitation to {pending.team} declined.")
        member = teams.invitations.accept(invitation=pending, by=request.user)
    except ValidationError as error:
        return conflict(request, reverse("teams"), error)
    return _welcome(request, member)


def _welcome(request: HtmxRequest, member: Membership) -> HttpResponse:
    """Leads a new member to the team, a rater to what there is to judge."""
    is_rater = member.role == Role.RATER
    url = find_first_work(member.user, member.team) if is_rater else _team_url(member.team)
    return redirect_with_message(request, url, f"You joined {member.team} as {member.get_role_display()}.")


def _find_invitation(token: str) -> Invitation:
    pending = teams.invitations.find(token)
    if pending is None:
        raise Http404("This link is not complete. Copy all of it.")
    return pending


@login_not_required
@never_cache
@require_POST
def invitation_sign_up(request: HtmxRequest, token: str) -> HttpResponse:
    """Creates an account, signs in with it and accepts the invitation.

    An account that the address had already is only signed in to with its own password, and within the limits of signing in; else the
    sign-in page comes next, and from there the invitation again.
    """
    pending = _find_invitation(token)
    form = SignUpForm(request.POST)
    if not (settings.INVITED_SIGN_UP and settings.PASSWORD_SIGN_IN):
        raise PermissionDenied(_why_no_sign_up())
    if not form.is_valid() or not create_account(request, form, pending):
        return _render_sign_up(request, pending, form)
    url = reverse("invitation", args=[token])
    try:
        user = authenticate(request, username=form.cleaned_data["email"], password=form.cleaned_data["password"])
        if not isinstance(user, User):
            return redirect_to_login(url)
        if accounts.required_proof(user):
            return sign_in(request, user, url)
        member = teams.invitations.accept(invitation=pending, by=user)
    except ValidationError:
        return redirect_to_login(url)
    welcome = _welcome(request, member)
    return finish_sign_in(request, user, welcome["Location"])


def _render_sign_up(request: HtmxRequest, invitation: Invitation, form: SignUpForm | None = None) -> HttpResponse:
    reason = teams.invitations.why_not_valid(invitation)
    can_sign_up = settings.INVITED_SIGN_UP and settings.PASSWORD_SIGN_IN
    context = {
        "invitation": invitation,
        "reason": reason,
        "form": (form or SignUpForm(initial={"email": invitation.email})) if can_sign_up else None,
        "why_no_sign_up": _why_no_sign_up(),
        "sign_in_url": redirect_to_login(reverse("invitation", args=[invitation.token])).url,
        "sign_up_url": reverse("invitation_sign_up", args=[invitation.token]),
        "described_roles": DESCRIBED_ROLES,
    }
    status = 200 if form is None else form_status(form)
    return render(request, "teams/sign_up.html", context, status=403 if reason and status != 429 else status)


def _why_no_sign_up() -> str:
    if settings.PASSWORD_SIGN_IN:
        return "Accounts are created by an admin of this site. Ask one, then open the link again."
    return f"Sign in with {settings.OIDC_NAME}, which creates an account if this site lets your address have one."


def _get_member(team: Team, member_id: int) -> Membership:
    return get_object_or_404(team.memberships.select_related("user", "team"), pk=member_id)


@require_POST
def team_member_role(request: HtmxRequest, team_id: int, member_id: int) -> HttpResponse:
    """Changes the role of a member."""
    team: Team = get_or_403(Team.objects, request.user, team_id, needs=Role.OWNER)
    member, form = _get_member(team, member_id), RoleForm(request.POST)
    if not form.is_valid():
        return conflict(request, _team_url(team), form_error(form))
    try:
        teams.set_role(member=member, role=form.cleaned_data["role"], by=request.user)
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
        teams.remove_member(member=member, by=request.user)
    except ValidationError as error:
        return conflict(request, _team_url(team), error)
    if leaving:
        return redirect_with_message(request, reverse("teams"), f"You left {team}.")
    return redirect_with_message(request, _team_url(team), f"{member.user} removed from {team}; the ratings are kept.")
