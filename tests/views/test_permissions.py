"""Tests of access: 404 for what a user cannot see, 403 for what the user sees but may not do."""

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from relevancy import scorers
from relevancy.models import Case, Endpoint, Role, Scorer, ScorerDefinition, Team, User
from relevancy.views.permissions import get_or_403, require_admin
from tests.views.factories import make_case, make_endpoint

LOWEST_ROLE = {Role.VIEWER: "viewer", Role.RATER: "rater", Role.EDITOR: "editor", Role.OWNER: "owner"}


@pytest.fixture
def case(people, team):
    return make_case(people["admin"], team=team)


@pytest.mark.parametrize("needs", Role)
@pytest.mark.parametrize("name", ["viewer", "rater", "editor", "owner", "admin"])
def test_get_or_403_on_a_shared_case(people, case, needs, name):
    names = [*LOWEST_ROLE.values(), "admin"]
    if names.index(name) >= names.index(LOWEST_ROLE[needs]):
        assert get_or_403(Case.objects, people[name], case.pk, needs=needs) == case
    else:
        with pytest.raises(PermissionDenied):
            get_or_403(Case.objects, people[name], case.pk, needs=needs)


@pytest.mark.parametrize("needs", Role)
def test_get_or_403_hides_what_the_user_cannot_see(people, case, needs):
    with pytest.raises(Http404):
        get_or_403(Case.objects, people["stranger"], case.pk, needs=needs)
    with pytest.raises(Http404):
        get_or_403(Case.objects, people["owner"], case.pk + 1, needs=needs)


def test_get_or_403_needs_editor_by_default(people, case):
    with pytest.raises(PermissionDenied):
        get_or_403(Case.objects, people["rater"], case.pk)
    assert get_or_403(Case.objects, people["editor"], case.pk).role == Role.EDITOR


def test_get_or_403_costs_one_query_if_granted(people, case, django_assert_num_queries):
    with django_assert_num_queries(1):
        result = get_or_403(Case.objects.select_related("book", "owner"), people["editor"], case.pk)
        assert (result.book.name, result.owner.name) == ("Movies", "Admin")


def test_get_or_403_message_names_the_role_and_who_gives_it(people, case, team):
    with pytest.raises(PermissionDenied, match=r"role editor on “Movies”.*Admin"):
        get_or_403(Case.objects, people["rater"], case.pk)
    with pytest.raises(PermissionDenied, match=r"role owner in the team “Search”.*owner of the team"):
        get_or_403(Team.objects, people["editor"], team.pk, needs=Role.OWNER)


def test_get_or_403_message_of_a_scorer(people, team):
    shipped = Scorer.objects.filter(owner=None).first()
    with pytest.raises(PermissionDenied, match=r"only an admin can change it\. Duplicate it\.$"):
        get_or_403(Scorer.objects, people["owner"], shipped.pk, hint="Duplicate it.")
    copy = scorers.clone(scorer=shipped, by=people["editor"])
    scorers.share(scorer=copy, team=team)
    with pytest.raises(PermissionDenied, match=r"Only the owner of .* Editor, can do this"):
        get_or_403(Scorer.objects, people["owner"], copy.pk, needs=Role.OWNER)


def test_get_or_403_leaves_deferred_columns_alone(people, case):
    endpoint = Endpoint.objects.get()
    result = get_or_403(Endpoint.objects.defer("credentials"), people["viewer"], endpoint.pk, needs=Role.VIEWER)
    assert result.get_deferred_fields() == {"credentials"}


def test_require_admin(people):
    require_admin(people["admin"])
    with pytest.raises(PermissionDenied, match="admin"):
        require_admin(people["owner"])


@pytest.mark.parametrize("whose", ["owner", "stranger"])
@pytest.mark.parametrize("kind", ["team", "scorer", "endpoint"])
def test_a_name_that_is_taken_does_not_say_whose_it_is(sign_in, people, kind, whose):
    User.objects.filter(pk=people["stranger"].pk).update(can_create_endpoints=True)
    name, owner = "Secret Plan", people[whose]
    address, data = {
        "team": ("/teams/new/", {}),
        "scorer": ("/scorers/new/", {"kind": "measure", "scale": "0:3", "measure": "P", "cutoff": "5", "do": "save"}),
        "endpoint": (
            "/endpoints/new/",
            {"engine": "solr", "url": "http://127.0.0.1:1/solr/films", "parallel": "8", "per_minute": "0"},
        ),
    }[kind]
    if kind == "team":
        Team.objects.create(name=name).memberships.create(user=owner, role=Role.OWNER)
    elif kind == "scorer":
        scorers.create(name=name, definition=ScorerDefinition(measure="P@5"), by=owner)
    else:
        make_endpoint(owner, name)
    same_name = name.upper() if kind in ("team", "scorer") else name
    response = sign_in("stranger").post(address, {**data, "name": same_name})
    assert response.status_code == 422
    assert dict(response.context["form"].errors) == {"name": ["This name cannot be used. Choose another one."]}
