"""Who may see, rate and edit what, by the role in a team and by what is shared with it."""

import pytest

from relevancy import cases
from relevancy.models import Attempt, Book, Case, Endpoint, Membership, Role, Team, User

pytestmark = pytest.mark.django_db
ROLES = {"viewer": Role.VIEWER, "rater": Role.RATER, "editor": Role.EDITOR, "owner": Role.OWNER}


@pytest.fixture
def people():
    """The owner of the objects, a member of the team in each role, a stranger in another team, and an admin."""
    made = {name: User.objects.create_user(f"{name}@example.org") for name in ("maker", *ROLES, "stranger")}
    made["admin"] = User.objects.create_superuser("admin@example.org")
    team, other = Team.objects.create(name="Search"), Team.objects.create(name="Others")
    for name, role in ROLES.items():
        Membership.objects.create(team=team, user=made[name], role=role)
    Membership.objects.create(team=other, user=made["stranger"], role=Role.OWNER)
    return made


@pytest.fixture
def case(people):
    result = cases.create(name="Movies", owner=people["maker"])
    endpoint = Endpoint.objects.create(name="films", engine="embedded", url="films", owner=people["maker"])
    Attempt.objects.create(case=result, number=1, endpoint=endpoint, template="{}", created_by=people["maker"])
    return result


def role_on(queryset, user):
    return queryset.with_role(user).values_list("role", flat=True).get()


def who(people, queryset_of):
    return {name for name, user in people.items() if queryset_of(user).exists()}


def test_visible_to_private_case(people, case):
    assert who(people, Case.objects.visible_to) == {"maker", "admin"}
    assert who(people, Book.objects.visible_to) == {"maker", "admin"}
    assert who(people, Endpoint.objects.visible_to) == {"maker", "admin"}


def test_shared_case_roles(people, case):
    cases.share(case=case, team=Team.objects.get(name="Search"))
    assert who(people, Case.objects.visible_to) == {"maker", "admin", "viewer", "rater", "editor", "owner"}
    assert who(people, Case.objects.rateable_by) == {"maker", "admin", "rater", "editor", "owner"}
    assert who(people, Case.objects.editable_by) == {"maker", "admin", "editor", "owner"}
    assert who(people, Case.objects.owned_by) == {"maker", "admin", "owner"}


def test_shared_case_brings_its_book(people, case):
    cases.share(case=case, team=Team.objects.get(name="Search"))
    assert who(people, Book.objects.visible_to) == {"maker", "admin", "viewer", "rater", "editor", "owner"}
    assert who(people, Book.objects.rateable_by) == {"maker", "admin", "rater", "editor", "owner"}
    assert who(people, Book.objects.editable_by) == {"maker", "admin", "editor", "owner"}


def test_book_by_the_case_alone_is_rated_but_not_changed(people, case):
    case.teams.add(Team.objects.get(name="Search"))
    assert who(people, Book.objects.visible_to) == {"maker", "admin", "viewer", "rater", "editor", "owner"}
    assert who(people, Book.objects.rateable_by) == {"maker", "admin", "rater", "editor", "owner"}
    assert who(people, Book.objects.editable_by) == {"maker", "admin"}


def test_endpoint_by_the_case_alone_is_seen_but_not_changed(people, case):
    cases.share(case=case, team=Team.objects.get(name="Search"))
    assert who(people, Endpoint.objects.visible_to) == {"maker", "admin", "viewer", "rater", "editor", "owner"}
    assert who(people, Endpoint.objects.editable_by) == {"maker", "admin"}


def test_endpoint_shared_itself(people, case):
    Endpoint.objects.get().teams.add(Team.objects.get(name="Search"))
    assert who(people, Endpoint.objects.editable_by) == {"maker", "admin", "editor", "owner"}
    assert who(people, Case.objects.visible_to) == {"maker", "admin"}


def test_with_role_takes_the_highest_of_two_teams(people, case):
    second = Team.objects.create(name="Second")
    Membership.objects.create(team=second, user=people["viewer"], role=Role.EDITOR)
    for team in Team.objects.filter(name__in=["Search", "Second"]):
        cases.share(case=case, team=team)
    assert role_on(Case.objects, people["viewer"]) == Role.EDITOR
    assert Case.objects.visible_to(people["viewer"]).count() == 1


def test_with_role_of_each(people, case):
    cases.share(case=case, team=Team.objects.get(name="Search"))
    for queryset in (Case.objects, Book.objects):
        assert {name: role_on(queryset, user) for name, user in people.items()} == {
            "maker": Role.OWNER, "admin": Role.OWNER, "stranger": 0, **ROLES
        }  # fmt: skip


def test_with_role_keeps_apart_what_is_shared_and_what_is_not(people, case):
    hidden = cases.create(name="Hidden", owner=people["maker"])
    cases.share(case=case, team=Team.objects.get(name="Search"))
    for name in ROLES:
        assert list(Case.objects.visible_to(people[name])) == [case]
        assert hidden.book not in Book.objects.visible_to(people[name])


def test_unshare_takes_book_and_endpoint_back(people, case):
    team = Team.objects.get(name="Search")
    cases.share(case=case, team=team)
    cases.unshare(case=case, team=team)
    for model in (Case, Book, Endpoint):
        assert who(people, model.objects.visible_to) == {"maker", "admin"}


def test_unshare_leaves_a_book_that_another_shared_case_uses(people, case):
    team = Team.objects.get(name="Search")
    second = cases.create(name="Second", owner=people["maker"], book=case.book)
    cases.share(case=case, team=team)
    cases.share(case=second, team=team)
    cases.unshare(case=case, team=team)
    assert "viewer" in who(people, Book.objects.visible_to)
    assert list(Case.objects.visible_to(people["viewer"])) == [second]


def test_visible_to_is_one_statement(people, case, django_assert_num_queries):
    cases.share(case=case, team=Team.objects.get(name="Search"))
    for model in (Case, Book, Endpoint):
        with django_assert_num_queries(1):
            assert len(model.objects.visible_to(people["editor"])) == 1


def test_update_through_an_access_queryset(people, case):
    cases.share(case=case, team=Team.objects.get(name="Search"))
    assert Case.objects.editable_by(people["editor"]).filter(pk=case.pk).update(name="Films") == 1
    assert Case.objects.editable_by(people["rater"]).filter(pk=case.pk).update(name="No") == 0


def test_team_querysets(people):
    assert who(people, Team.objects.visible_to) == set(ROLES) | {"stranger", "admin"}
    assert who(people, Team.objects.shareable_by) == {"editor", "owner", "stranger", "admin"}
    assert who(people, Team.objects.owned_by) == {"owner", "stranger", "admin"}


# --- who may send requests to an endpoint ---


def test_usable_by_needs_editor_on_the_endpoint_itself(people, case):
    cases.share(case=case, team=Team.objects.get(name="Search"))
    assert who(people, Endpoint.objects.usable_by) == {"maker", "admin"}
    Endpoint.objects.get().teams.add(Team.objects.get(name="Search"))
    assert who(people, Endpoint.objects.usable_by) == {"maker", "admin", "editor", "owner"}


def test_usable_in_a_case_is_for_its_editors(people, case):
    cases.share(case=case, team=Team.objects.get(name="Search"))
    assert who(people, lambda user: Endpoint.objects.usable_in(case, user)) == {"maker", "admin", "editor", "owner"}


def test_usable_in_another_case_needs_editor_on_the_endpoint(people, case):
    cases.share(case=case, team=Team.objects.get(name="Search"))
    other = cases.create(name="Mine", owner=people["editor"])
    assert not Endpoint.objects.usable_in(other, people["editor"]).exists()
    Endpoint.objects.get().teams.add(Team.objects.get(name="Search"))
    assert Endpoint.objects.usable_in(other, people["editor"]).exists()


def test_usable_in_a_case_whose_owner_cannot_pass_the_endpoint_on(people, case):
    """An editor of an endpoint uses it, but does not share it, neither by sharing a case."""
    endpoint = Endpoint.objects.get()
    endpoint.teams.add(Team.objects.get(name="Search"))
    mine = cases.create(name="Mine", owner=people["editor"])
    Attempt.objects.create(case=mine, number=1, endpoint=endpoint, template="{}", created_by=people["editor"])
    cases.share(case=mine, team=Team.objects.get(name="Others"))
    assert Case.objects.editable_by(people["stranger"]).filter(pk=mine.pk).exists()
    assert Endpoint.objects.usable_in(mine, people["editor"]).exists()
    assert not Endpoint.objects.usable_in(mine, people["stranger"]).exists()


def test_usable_ends_with_the_membership(people, case):
    endpoint = Endpoint.objects.get()
    endpoint.teams.add(Team.objects.get(name="Search"))
    mine = cases.create(name="Mine", owner=people["editor"])
    Attempt.objects.create(case=mine, number=1, endpoint=endpoint, template="{}", created_by=people["editor"])
    Membership.objects.get(user=people["editor"]).delete()
    assert not Endpoint.objects.usable_by(people["editor"]).exists()
    assert not Endpoint.objects.usable_in(mine, people["editor"]).exists()
    assert Endpoint.objects.visible_to(people["editor"]).exists()


def test_usable_by_excludes_deactivated_accounts(people, case):
    people["maker"].is_active = False
    assert not Endpoint.objects.usable_by(people["maker"]).exists()
    assert not Endpoint.objects.usable_in(case, people["maker"]).exists()


def test_usable_in_is_one_statement(people, case, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert Endpoint.objects.usable_in(case, people["maker"]).exists()


def test_an_admin_who_owns_a_case_passes_on_no_endpoint_of_others(people, case):
    case.attempts.update(
        endpoint=Endpoint.objects.create(name="private", engine="embedded", url="p", owner=people["stranger"])
    )
    case.owner = people["admin"]
    case.save()
    cases.share(case=case, team=Team.objects.get(name="Search"), by=people["admin"])
    assert not Endpoint.objects.usable_in(case, people["editor"]).exists()
    assert Endpoint.objects.usable_in(case, people["admin"]).exists()
