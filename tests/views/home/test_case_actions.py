"""Tests of the actions on a whole case: share, rename, duplicate, archive, restore, delete."""

import pytest

from relevancy import cases, ratings, teams
from relevancy.models import Attempt, Book, Case, Endpoint, Membership, Rating, Role, Run, Team
from tests.markup import compact
from tests.views.factories import make_case, make_run

NAMES = ("viewer", "rater", "editor", "owner", "stranger")


@pytest.fixture
def case(people, team):
    return make_case(people["admin"], team=team)


def at(case, action):
    return f"/cases/{case.pk}/{action}/"


@pytest.mark.parametrize("who", NAMES)
def test_access(sign_in, case, team, who):
    client = sign_in(who)
    low = 404 if who == "stranger" else 403
    editor = {"editor": 200, "owner": 200}.get(who, low)
    owner = 200 if who == "owner" else low
    assert client.get(at(case, "rename")).status_code == editor
    assert client.get(at(case, "share")).status_code == owner
    assert client.post(at(case, "rename"), {"name": "Films"}).status_code == {200: 302}.get(editor, editor)
    for action in ("share", "unshare"):
        response = client.post(at(case, "share"), {"team": team.pk, "do": action})
        assert response.status_code == {200: 302}.get(owner, owner)
        cases.share(case=case, team=team)
    listed = client.get("/").content.decode()
    assert (at(case, "rename") in listed) == (editor == 200)
    for action in ("archive", "restore"):
        assert client.post(at(case, action)).status_code == (302 if who == "owner" else low)
        assert client.get(at(case, action)).status_code == 405
    assert Case.objects.get().name == ("Films" if editor == 200 else "Movies")


def test_share_and_unshare(sign_in, people, team):
    private = make_case(people["owner"], "Mine")
    client = sign_in("owner")
    client.post(at(private, "share"), {"team": team.pk, "do": "share"})
    assert Case.objects.visible_to(people["viewer"]).filter(pk=private.pk).exists()
    assert list(private.book.teams.all()) == [team]
    client.post(at(private, "share"), {"team": team.pk, "do": "unshare"})
    assert not Case.objects.visible_to(people["viewer"]).filter(pk=private.pk).exists()
    assert list(private.book.teams.all()) == []


def test_share_only_with_teams_the_user_can_edit(sign_in, people, team):
    mine = make_case(people["rater"], "Mine")
    response = sign_in("rater").post(at(mine, "share"), {"team": team.pk, "do": "share"})
    assert response.status_code == 422
    assert list(response.context["form"].errors) == ["team"]
    other = Team.objects.get(name="Others")
    shared = make_case(people["owner"], "Its owner's")
    assert sign_in("owner").post(at(shared, "share"), {"team": other.pk}).status_code == 422
    assert list(Case.teams.through.objects.all()) == []


def test_share_needs_the_book(sign_in, people, team):
    """An owner of a case who can only rate its book cannot share that book."""
    case = make_case(people["admin"])
    case.teams.add(team)
    second = teams.create(name="Second", by=people["owner"])
    client = sign_in("owner")
    assert "Sharing this case would also share its book" in client.get(at(case, "share")).content.decode()
    assert client.post(at(case, "share"), {"team": second.pk, "do": "share"}).status_code == 403
    assert list(case.teams.all()) == [team]


def test_unshare_by_the_owner_after_leaving_the_team(sign_in, people, team):
    mine = make_case(people["editor"], "Mine", team=team)
    Membership.objects.filter(user=people["editor"]).delete()
    client = sign_in("editor")
    assert 'value="unshare"' in client.get(at(mine, "share")).content.decode()
    client.post(at(mine, "share"), {"team": team.pk, "do": "unshare"})
    assert list(mine.teams.all()) == []


def test_unshare_of_a_team_owner_reaches_only_the_own_team(sign_in, people, team, case):
    """Who is an owner by one team cannot take the case from another team."""
    other = Team.objects.get(name="Others")
    other.memberships.create(user=people["owner"], role=Role.EDITOR)
    cases.share(case=case, team=other)
    client = sign_in("owner")
    assert client.get(at(case, "share")).content.decode().count('value="unshare"') == 1
    assert client.post(at(case, "share"), {"team": other.pk, "do": "unshare"}).status_code == 422
    assert client.post(at(case, "share"), {"team": team.pk, "do": "unshare"}).status_code == 302
    assert list(case.teams.all()) == [other]


def test_share_page_and_dialog(sign_in, case):
    client = sign_in("owner")
    page = client.get(at(case, "share")).content.decode()
    assert "<html" in page
    for words in (
        "Rater",
        "also rates documents",
        "is shared with the case",
        "never their credentials",
        "Stop sharing",
    ):
        assert words in page
    dialog = client.get(at(case, "share"), headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in dialog
    assert "data-dialog-auto" in dialog


@pytest.mark.parametrize("name", ["", "   ", "x" * 192])
def test_rename_refuses(sign_in, case, name):
    response = sign_in("editor").post(at(case, "rename"), {"name": name})
    assert response.status_code == 422
    assert "name" in response.context["form"].errors
    assert Case.objects.get().name == "Movies"


def test_rename(sign_in, case):
    response = sign_in("editor").post(at(case, "rename"), {"name": "  <b>Films</b> 🎬 "}, follow=True)
    assert Case.objects.get().name == "<b>Films</b> 🎬"
    assert "<b>Films</b>" not in response.content.decode()
    assert Case.objects.get().book.name == "Movies"


def test_archive_and_undo(sign_in, case):
    client = sign_in("owner")
    page = client.post(at(case, "archive"), follow=True).content.decode()
    assert f'action="{at(case, "restore")}"' in page
    assert Case.objects.get().archived_at is not None
    answer = client.post(at(case, "restore"), headers={"HX-Request": "true"})
    assert answer.headers["HX-Redirect"] == "/"
    assert Case.objects.get().archived_at is None


def test_owner_of_the_row_keeps_all_rights(sign_in, people, team):
    mine = make_case(people["viewer"], "Mine")
    assert sign_in("viewer").post(at(mine, "archive")).status_code == 302
    Membership.objects.filter(user=people["viewer"]).update(role=Role.RATER)
    assert sign_in("viewer").get(at(mine, "share")).status_code == 200


@pytest.mark.parametrize("who", NAMES)
def test_duplicate_and_delete_in_the_menu_follow_the_role(sign_in, case, who):
    page = sign_in(who).get("/").content.decode()
    assert (at(case, "duplicate") in page) == (who in {"editor", "owner"})
    assert (at(case, "delete") in page) == (who == "owner")


def test_duplicate_page_offers_the_same_book_only_to_editors_of_the_book(sign_in, people, team):
    case = make_case(people["admin"], team=team)
    assert 'value="share"' in sign_in("editor").get(at(case, "duplicate")).content.decode()
    case.book.teams.clear()
    client = sign_in("editor")
    assert 'value="share"' not in client.get(at(case, "duplicate")).content.decode()
    refused = client.post(at(case, "duplicate"), {"name": "Copy", "ratings": "share"})
    assert (refused.status_code, list(refused.context["form"].errors)) == (422, ["ratings"])
    assert Case.objects.count() == 1


def test_duplicate_leads_to_the_copy_and_says_what_was_left_out(sign_in, people, team):
    case = make_case(people["admin"], team=team)
    ratings.rate(query=case.book.queries.first(), doc_id="1", value=case.book.top, by=people["rater"])
    client = sign_in("editor")
    data = {"name": "Trial", "ratings": "copy", "with_attempts": "on"}
    answer = client.post(at(case, "duplicate"), data, follow=True)
    copy = Case.objects.get(name="Trial")
    assert answer.redirect_chain[0][0] == f"/cases/{copy.pk}/"
    assert "attempt 1" in answer.content.decode()
    assert (copy.owner, Rating.objects.filter(query__book=copy.book).count()) == (people["editor"], 1)
    Endpoint.objects.update(owner=people["editor"])
    client.post(at(case, "duplicate"), {**data, "name": "With attempts"})
    assert Attempt.objects.filter(case__name="With attempts").count() == 1


@pytest.mark.parametrize(
    "data", [{"name": "", "ratings": "copy"}, {"name": "x", "ratings": "all"}, {"name": "x" * 192}]
)
def test_duplicate_refuses(sign_in, case, data):
    assert sign_in("owner").post(at(case, "duplicate"), data).status_code == 422
    assert Case.objects.count() == 1


def test_delete_asks_and_names_what_is_lost(sign_in, case):
    make_run(case)
    page = compact(sign_in("owner").get(at(case, "delete")).content.decode())
    assert "1 run with" in page
    assert 'name="with_book"' in page
    assert Case.objects.count() == 1


def test_delete(sign_in, case):
    make_run(case)
    answer = sign_in("owner").post(at(case, "delete"), follow=True)
    assert answer.redirect_chain == [("/", 302)]
    assert (Case.objects.count(), Run.objects.count(), Book.objects.count()) == (0, 0, 1)


def test_delete_with_the_book(sign_in, case):
    sign_in("owner").post(at(case, "delete"), {"with_book": "on"})
    assert (Case.objects.count(), Book.objects.count()) == (0, 0)


def test_delete_waits_for_the_run(sign_in, case):
    make_run(case, None, status="running")
    answer = sign_in("owner").post(at(case, "delete"))
    assert answer.status_code == 422
    assert "Run 1" in answer.content.decode()
    assert Case.objects.count() == 1
