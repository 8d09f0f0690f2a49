"""Invitations: nobody joins a team without accepting, and inviting does not reveal who has an account."""

import re
from datetime import timedelta

import pytest
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone

from relevancy import hooks, teams
from relevancy.models import Invitation, Role, Team, User
from relevancy.models.sign_in import RequiredProof, SignInCounter
from tests.views.workbench.example_cases import make_workbench_case

ROLES = ("viewer", "rater", "editor", "owner", "stranger", "admin")


@pytest.fixture
def newcomer(people):
    return User.objects.create_user("new@example.org", name="New")


def invite(client, team, email="new@example.org", role=Role.RATER):
    return client.post(f"/teams/{team.pk}/invitations/", {"email": email, "role": int(role)})


def link(invitation):
    return reverse("invitation", args=[invitation.token])


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
    assert response.headers["Location"] == "/judge/"
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


def sign_up(client, invitation, email="new@example.org", **data):
    body = {"email": email, "name": "New", "password": "correct horse battery", **data}
    return client.post(f"{link(invitation)}sign-up/", body)


def test_link_offers_anonymous_users_to_sign_in_or_to_create_an_account(client, open_invitation):
    response = client.get(link(open_invitation))
    page = response.content.decode()
    assert response.status_code == 200
    assert f'href="/login/?next={link(open_invitation)}" id="sign-in"'.replace(":", "%3A") in page
    assert f'action="{link(open_invitation)}sign-up/"' in page
    assert client.post(link(open_invitation), {"do": "accept"}).headers["Location"].startswith("/login/?next=/inv")


def test_sign_up_signs_in_and_joins(client, team, open_invitation):
    """G21: one form leads from the link of an invitation into the team."""
    response = sign_up(client, open_invitation, "NEW@example.org")
    assert response.headers["Location"] == f"/teams/{team.pk}/"
    user = User.objects.get(email="new@example.org")
    assert (user.name, user.has_confirmed_email, user.can_create_endpoints) == ("New", False, False)
    assert team.memberships.get(user=user).role == Role.EDITOR
    assert "You joined Search as editor." in client.get(response.headers["Location"]).content.decode()


def test_rater_comes_to_the_first_book_with_work(client, people, team, script):
    case = make_workbench_case(people, team, 2, {})
    case.book.teams.add(team)
    invitation = teams.invitations.invite(team=team, role=Role.RATER, by=people["owner"], email="new@example.org")
    assert 'value="new@example.org"' in client.get(link(invitation)).content.decode()
    response = sign_up(client, invitation)
    assert response.headers["Location"] == f"/books/{case.book_id}/judge/"
    assert client.get(response.headers["Location"]).status_code == 200


def test_sign_up_with_the_address_of_an_account_needs_its_password(client, people, team, open_invitation):
    """Says no more than signing in with the chosen password would, and is limited as that is."""
    stranger = people["stranger"]
    stranger.set_password("another password")
    stranger.save()
    response = sign_up(client, open_invitation, stranger.email)
    assert response.headers["Location"].startswith("/login/?next=/inv")
    page = client.get(response.headers["Location"]).content.decode()
    assert f'value="{stranger.email}"' in page
    assert 'id="sign-in-note"' in page
    stranger.refresh_from_db()
    assert stranger.check_password("another password")
    assert stranger.name != "New"
    assert not team.memberships.filter(user=stranger).exists()
    assert SignInCounter.objects.exists()
    assert sign_up(client, open_invitation, stranger.email, password="another password").status_code == 302
    assert team.memberships.filter(user=stranger).exists()


def test_sign_up_goes_past_no_second_factor(client, people, team, open_invitation, monkeypatch):
    stranger = people["stranger"]
    stranger.set_password("another password")
    stranger.save()
    asked = []
    proof = hooks.Proof(lambda request, user, url: asked.append(url) or HttpResponse(), None, None)
    monkeypatch.setitem(hooks.proofs, "test", proof)
    RequiredProof.objects.create(user=stranger, app="test")
    sign_up(client, open_invitation, stranger.email, password="another password")
    assert asked == [link(open_invitation)]
    assert not team.memberships.filter(user=stranger).exists()
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"email": "no address"}, "email"),
        ({"email": "0123456789@raters.invalid"}, "email"),
        ({"password": "short"}, "password"),
        ({"password": "x" * 1025}, "password"),
        ({"name": ""}, "name"),
        ({"name": "bad\x01name"}, "name"),
    ],
)
def test_sign_up_errors_appear_at_their_field(client, open_invitation, data, field):
    before = User.objects.count()
    response = sign_up(client, open_invitation, **data)
    assert response.status_code == 422
    assert list(response.context["form"].errors) == [field]
    assert User.objects.count() == before


def test_sign_up_with_an_invitation_for_another_address_is_refused(client, invitation):
    before = User.objects.count()
    response = sign_up(client, invitation, "other@example.org")
    assert list(response.context["form"].errors) == ["email"]
    assert "new@example.org" not in response.content.decode()
    assert User.objects.count() == before


def test_sign_up_is_limited_by_the_uses_of_the_link(client, people, open_invitation):
    """Also if nobody joins, because the addresses have accounts."""
    addresses = [User.objects.create_user(f"new{number}@example.org", name="New").email for number in range(7)]
    assert [sign_up(client, open_invitation, email).status_code for email in addresses] == [302] * 6 + [422]
    assert not User.objects.filter(email__startswith="new", memberships__isnull=False).exists()


def test_an_account_that_joins_uses_the_link_up(client, open_invitation):
    assert sign_up(client, open_invitation).status_code == 302
    client.logout()
    assert sign_up(client, open_invitation, "other@example.org").status_code == 403
    assert not User.objects.filter(email="other@example.org").exists()


def test_sign_up_is_limited_by_address(client, open_invitation, monkeypatch):
    monkeypatch.setattr("relevancy.accounts.limits.REQUESTS_PER_ADDRESS", 1)
    assert sign_up(client, open_invitation).status_code == 302
    response = sign_up(client, open_invitation, "other@example.org")
    assert response.status_code == 429
    assert not User.objects.filter(email="other@example.org").exists()


def test_sign_up_can_be_switched_off(client, open_invitation, settings):
    settings.INVITED_SIGN_UP = False
    assert 'id="sign-up"' not in client.get(link(open_invitation)).content.decode()
    assert sign_up(client, open_invitation).status_code == 403
    assert not User.objects.filter(email="new@example.org").exists()


def test_sign_up_needs_a_valid_link(client, open_invitation):
    teams.invitations.withdraw(invitation=open_invitation)
    assert client.get(link(open_invitation)).status_code == 403
    assert sign_up(client, open_invitation).status_code == 403
    assert not User.objects.filter(email="new@example.org").exists()


def test_an_unconfirmed_address_gets_no_invitations_of_others(client, newcomer, invitation):
    """Nobody has shown that the address is theirs: anyone who has the link of the invitation can still accept it."""
    User.objects.filter(pk=newcomer.pk).update(has_confirmed_email=False)
    client.force_login(newcomer)
    assert link(invitation) not in client.get("/teams/").content.decode()
    assert client.post(link(invitation), {"do": "accept"}).status_code == 302


def test_link_for_several_people(sign_in, client, people, team, newcomer):
    form = {"email": "", "role": 2, "uses": "2", "days": "1"}
    assert sign_in("owner").post(f"/teams/{team.pk}/invitations/", form).status_code == 302
    shared = Invitation.objects.get()
    assert shared.expires_at - timezone.now() < timedelta(days=1, seconds=1)
    assert sign_in("viewer").post(link(shared), {"do": "accept"}).status_code == 302  # becomes a rater: a use
    assert sign_in("owner").post(link(shared), {"do": "accept"}).status_code == 302  # keeps the higher role: no use
    assert 'data-uses="1"' in sign_in("owner").get(f"/teams/{team.pk}/").content.decode()
    client.force_login(newcomer)
    assert client.post(link(shared), {"do": "accept"}).status_code == 302
    assert sign_in("stranger").post(link(shared), {"do": "accept"}).status_code == 403
    shared.refresh_from_db()
    assert (shared.uses, shared.accepted_by) == (2, newcomer)


@pytest.mark.parametrize(
    "data", [{"uses": "0"}, {"uses": "101"}, {"days": "3"}, {"uses": "2", "email": "new@example.org"}]
)
def test_invite_refuses_other_limits(sign_in, team, data):
    form = {"email": "", "role": 2, "uses": "1", "days": "7", **data}
    response = sign_in("owner").post(f"/teams/{team.pk}/invitations/", form)
    assert response.status_code == 422
    assert list(response.context["form"].errors) == [min(data, key=("uses", "days", "email").index)]


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
    good = open_invitation.token
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
    assert [item.role for item in Invitation.objects.pending()] == [Role.VIEWER]


def test_withdraw_reaches_only_the_own_team(sign_in, people, team, invitation):
    other = Team.objects.get(name="Others")
    assert sign_in("stranger").post(f"/teams/{other.pk}/invitations/{invitation.pk}/withdraw/").status_code == 404
    assert Invitation.objects.pending().count() == 1


def test_invite_is_limited(people, team, monkeypatch):
    monkeypatch.setattr(teams.invitations, "MAX_PENDING", 1)
    teams.invitations.invite(team=team, role=Role.RATER, by=people["owner"])
    with pytest.raises(Exception, match="Withdraw some of them"):
        teams.invitations.invite(team=team, role=Role.RATER, by=people["owner"])
