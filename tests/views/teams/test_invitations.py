"""Invitations: nobody joins a team without accepting, and inviting does not reveal who has an account."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from relevancy import teams
from relevancy.models import Invitation, Role, Team, User

ROLES = ("viewer", "rater", "editor", "owner", "stranger", "admin")


@pytest.fixture
def newcomer(people):
    return User.objects.create_user("new@example.org", name="New")


def invite(client, team, email="new@example.org", role=Role.RATER):
    return client.post(f"/teams/{team.pk}/invitations/", {"email": email, "role": int(role)})


def link(invitation):
    return reverse("invitation", args=[teams.invitations.token(invitation)])


def withdraw_url(invitation):
    return f"/teams/{invitation.team_id}/invitations/{invitation.pk}/withdraw/"


@pytest.fixture
def invitation(people, team):
    return teams.invitations.invite(team=team, role=Role.RATER, by=people["owner"], email="new@example.org")


@pytest.fixture
def open_invitation(people, team):
    return teams.invitations.invite(team=team, role=Role.EDITOR, by=people["owner"])


@pytest.mark.parametrize("who", ROLES)
def test_invite_and_withdraw_are_for_owners(sign_in, team, invitation, who):
    status = {"owner": 302, "admin": 302, "stranger": 404}.get(who, 403)
    client = sign_in(who)
    assert invite(client, team, "other@example.org").status_code == status
    assert client.post(withdraw_url(invitation)).status_code == status
    assert Invitation.objects.pending().filter(pk=invitation.pk).exists() == (status != 302)
    assert client.get(withdraw_url(invitation)).status_code == 405


def test_invite_is_the_same_whether_or_not_the_account_exists(sign_in, team, newcomer):
    client = sign_in("owner")
    pages = []
    for email in ("new@example.org", "nobody@example.org"):
        Invitation.objects.all().delete()
        response = client.post(f"/teams/{team.pk}/invitations/", {"email": email, "role": 2}, follow=True)
        page = re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"|CSRFToken": "[^"]*"', "", response.content.decode())
        pages.append(re.sub(r"/invitations/\d[^\"]*", "/invitations/", page.replace(email, "ADDRESS")))
    assert pages[0] == pages[1]
    assert not team.memberships.filter(user=newcomer).exists()


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"email": "no address", "role": 2}, "email"),
        ({"email": "VIEWER@example.org", "role": 2}, "email"),
        ({"email": "new@example.org", "role": 9}, "role"),
        ({"email": "", "role": 4}, "role"),
    ],
)
def test_invite_errors_appear_at_their_field(sign_in, team, data, field):
    response = sign_in("owner").post(f"/teams/{team.pk}/invitations/", data)
    assert response.status_code == 422
    assert list(response.context["form"].errors) == [field]
    assert Invitation.objects.count() == 0


def test_invitation_appears_for_its_address_only(sign_in, client, team, newcomer):
    invite(sign_in("owner"), team, "NEW@Example.org", Role.EDITOR)
    shown = link(Invitation.objects.get())
    client.force_login(newcomer)
    for page in ("/", "/teams/"):
        assert shown in client.get(page).content.decode()
        assert shown not in sign_in("stranger").get(page).content.decode()
        client.force_login(newcomer)


def test_accept(client, team, newcomer, invitation):
    client.force_login(newcomer)
    page = client.get(link(invitation)).content.decode()
    assert "Join Search?" in page
    assert not team.memberships.filter(user=newcomer).exists()
    response = client.post(link(invitation), {"do": "accept"})
    assert response.headers["Location"] == f"/teams/{team.pk}/"
    assert team.memberships.get(user=newcomer).role == Role.RATER
    assert client.post(link(invitation), {"do": "accept"}).status_code == 403
    assert 'id="invitations"' not in client.get("/").content.decode()


def test_decline(sign_in, client, team, newcomer, invitation):
    client.force_login(newcomer)
    client.post(link(invitation), {"do": "decline"})
    assert client.post(link(invitation), {"do": "accept"}).status_code == 403
    assert not team.memberships.filter(user=newcomer).exists()
    client = sign_in("owner")
    assert "declined" in client.get(f"/teams/{team.pk}/").content.decode()
    client.post(withdraw_url(invitation))
    assert "new@example.org" not in client.get(f"/teams/{team.pk}/").content.decode()


def test_link_of_an_address_is_for_no_other_account(sign_in, team, newcomer, invitation):
    client = sign_in("stranger")
    for response in (client.get(link(invitation)), client.post(link(invitation), {"do": "accept"})):
        assert response.status_code == 403
        assert "new@example.org" not in response.content.decode()
    assert team.memberships.count() == 4
    assert Invitation.objects.pending().count() == 1


def test_link_without_an_address_is_used_once(sign_in, client, people, team, newcomer, open_invitation):
    assert sign_in("stranger").post(link(open_invitation), {"do": "accept"}).status_code == 302
    assert team.memberships.get(user=people["stranger"]).role == Role.EDITOR
    client.force_login(newcomer)
    assert client.post(link(open_invitation), {"do": "accept"}).status_code == 403
    assert not team.memberships.filter(user=newcomer).exists()


def test_link_leads_to_the_sign_in_page_and_back(client, open_invitation):
    response = client.get(link(open_invitation))
    assert response.status_code == 302
    assert response.headers["Location"].startswith("/login/?next=/invitations/")


@pytest.mark.parametrize("end", ["expired", "withdrawn", "by a former owner", "by a deactivated account"])
def test_link_that_is_no_longer_valid(sign_in, people, team, open_invitation, end):
    if end == "expired":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif end == "withdrawn":
        teams.invitations.withdraw(invitation=open_invitation)
    elif end == "by a former owner":
        team.memberships.filter(user=people["owner"]).update(role=Role.EDITOR)
    else:
        User.objects.filter(pk=people["owner"].pk).update(is_active=False)
    client = sign_in("stranger")
    assert client.get(link(open_invitation)).status_code == 403
    assert client.post(link(open_invitation), {"do": "accept"}).status_code == 403
    assert team.memberships.count() == 4


def test_link_that_was_made_up(sign_in, open_invitation):
    client = sign_in("stranger")
    good = teams.invitations.token(open_invitation)
    for token in (good[:-1], f"{open_invitation.pk + 1}{good[good.index(':') :]}", str(open_invitation.pk), "x:y"):
        assert client.post(reverse("invitation", args=[token]), {"do": "accept"}).status_code == 404


def test_accept_keeps_the_higher_role_of_a_member(sign_in, people, team, open_invitation):
    client = sign_in("owner")
    assert client.post(link(open_invitation), {"do": "accept"}).status_code == 302
    assert team.memberships.get(user=people["owner"]).role == Role.OWNER
    again = teams.invitations.invite(team=team, role=Role.EDITOR, by=people["owner"])
    sign_in("viewer").post(link(again), {"do": "accept"})
    assert team.memberships.get(user=people["viewer"]).role == Role.EDITOR


def test_invite_again_replaces_the_pending_invitation(people, team, invitation):
    teams.invitations.invite(team=team, role=Role.VIEWER, by=people["owner"], email="new@example.org")
    assert [each.role for each in Invitation.objects.pending()] == [Role.VIEWER]


def test_withdraw_reaches_only_the_own_team(sign_in, people, team, invitation):
    other = Team.objects.get(name="Others")
    assert sign_in("stranger").post(f"/teams/{other.pk}/invitations/{invitation.pk}/withdraw/").status_code == 404
    assert Invitation.objects.pending().count() == 1


def test_invite_is_limited(people, team, monkeypatch):
    monkeypatch.setattr(teams.invitations, "MAX_PENDING", 1)
    teams.invitations.invite(team=team, role=Role.RATER, by=people["owner"])
    with pytest.raises(Exception, match="Withdraw some of them"):
        teams.invitations.invite(team=team, role=Role.RATER, by=people["owner"])
