"""Teams and their members."""

import pytest

from relevancy.models import Membership, Role, Team, User
from tests.views.factories import make_case
from tests.views.workbench.example_cases import elements, tree, words

EVERYBODY = ("viewer", "rater", "editor", "owner", "stranger")


@pytest.fixture
def newcomer(people):
    return User.objects.create_user("new@example.org", name="New")


def at(team, action=""):
    return f"/teams/{team.pk}/{action}"


@pytest.mark.parametrize("who", EVERYBODY)
def test_team_access(sign_in, team, newcomer, who):
    client = sign_in(who)
    member = team.memberships.get(user__email="viewer@example.org")
    sees = 404 if who == "stranger" else 200
    changes = {"stranger": 404, "owner": 302}.get(who, 403)
    assert client.get(at(team)).status_code == sees
    assert ("Search" in client.get("/teams/").content.decode()) == (sees == 200)
    assert client.post(at(team, "invitations/"), {"email": "new@example.org", "role": 2}).status_code == changes
    assert client.post(at(team, f"members/{member.pk}/role/"), {"role": 3}).status_code == changes
    expected = 302 if who == "viewer" else changes  # everybody may leave
    assert client.get(at(team, f"members/{member.pk}/remove/")).status_code == {302: 200}.get(expected, expected)
    assert team.memberships.filter(pk=member.pk).exists()
    assert client.post(at(team, f"members/{member.pk}/remove/")).status_code == expected


def test_team_new(sign_in, people):
    client = sign_in("viewer")
    response = client.post("/teams/new/", {"name": "  Shop   search "})
    made = Team.objects.get(name="Shop search")
    assert response.headers["Location"] == at(made)
    assert made.memberships.get().role == Role.OWNER
    again = client.post("/teams/new/", {"name": "shop SEARCH"})
    assert again.status_code == 422
    assert "cannot be used" in str(again.context["form"].errors["name"])
    assert client.post("/teams/new/", {"name": " "}).status_code == 422


def test_a_person_has_one_pair_of_initials(sign_in, people, team):
    Membership.objects.exclude(user=people["owner"]).delete()
    User.objects.filter(pk=people["owner"].pk).update(name="ayşe <de la> O'Neill")
    page = tree(sign_in("owner").get(at(team)))
    shown = [part for part in elements(page, **{"aria-hidden": "true"}) if words(part) == "AO"]
    assert len(shown) == len(elements(page, cls="avatar")) == 2


def test_last_owner_stays(sign_in, people, team):
    client = sign_in("owner")
    member = team.memberships.get(user=people["owner"])
    for action, data in (("role/", {"role": 2}), ("remove/", {})):
        page = client.post(at(team, f"members/{member.pk}/{action}"), data, follow=True).content.decode()
        assert "is the only owner" in page
    member.refresh_from_db()
    assert member.role == Role.OWNER
    team.memberships.filter(user=people["editor"]).update(role=Role.OWNER)
    client.post(at(team, f"members/{member.pk}/remove/"))
    assert not team.memberships.filter(user=people["owner"]).exists()


def test_member_of_another_team_is_not_reached(sign_in, people, team):
    foreign = Membership.objects.get(user=people["stranger"])
    assert sign_in("owner").post(at(team, f"members/{foreign.pk}/remove/")).status_code == 404
    assert Membership.objects.filter(pk=foreign.pk).exists()


def test_role_nonsense_changes_nothing(sign_in, people, team):
    member = team.memberships.get(user=people["viewer"])
    sign_in("owner").post(at(team, f"members/{member.pk}/role/"), {"role": "king"})
    member.refresh_from_db()
    assert member.role == Role.VIEWER


def test_team_shows_what_is_shared(sign_in, people, team):
    make_case(people["admin"], "Shared one", team=team)
    make_case(people["admin"], "Private one")
    page = sign_in("viewer").get(at(team)).content.decode()
    assert "Shared one" in page
    assert "Private one" not in page
    assert "Invite a member" not in page
    assert "Invite a member" in sign_in("owner").get(at(team)).content.decode()


def test_teams_of_an_admin_and_of_a_user_without_teams(sign_in, people):
    assert "Search" in sign_in("admin").get("/teams/").content.decode()
    Membership.objects.filter(user=people["viewer"]).delete()
    assert "You are not in a team yet" in sign_in("viewer").get("/teams/").content.decode()
