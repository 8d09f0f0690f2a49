"""Deleting an account: what is forgotten, what stays, and when it is refused."""

import pytest
from django.core.exceptions import ValidationError

from relevancy import accounts, cases, ratings
from relevancy.models import (
    Case,
    Invitation,
    Membership,
    Rating,
    Role,
    Team,
    User,
    UserSession,
)
from tests.factories import make_attempt, make_case, make_endpoint, make_team, make_user, run_now

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann() -> User:
    return make_user("Ann Example")


def test_nothing_that_names_the_person_stays(ann: User, client, script) -> None:
    team = make_team(bob=Role.OWNER)
    Membership.objects.create(team=team, user=ann, role=Role.RATER)
    accounts.api_tokens.create(user=ann, name="job", scope="read", days=None)
    Invitation.objects.create(team=team, email=ann.email, created_by=User.objects.get(name="bob"))
    client.force_login(ann)
    accounts.deletion.delete(user=ann)
    former = User.objects.get(pk=ann.pk)
    assert str(former) == f"Former user {ann.pk}"
    assert former.email == f"former-{ann.pk}@raters.invalid"
    assert not (former.is_active or former.has_usable_password() or former.api_tokens.exists())
    for model in (Membership, UserSession):
        assert not model.objects.filter(user=former).exists()
    assert not Invitation.objects.exists()
    assert client.get("/account/").status_code == 302
    again = make_user("Ann Example")  # the address is free
    assert again.pk != ann.pk


def test_ratings_runs_and_what_is_shared_stay(ann: User, script) -> None:
    team = make_team(bob=Role.OWNER)
    case = make_case(["a query"], owner=ann)
    cases.share(case=case, team=team)
    endpoint = make_endpoint(owner=ann, credentials={"password": "secret"})
    run = run_now(make_attempt(case, endpoint=endpoint))
    assert accounts.deletion.contents(ann).used_endpoints == [endpoint]
    query = case.book.queries.get()
    ratings.rate(query=query, doc_id="a", value=3, by=ann)
    before = cases_score(case)
    accounts.deletion.delete(user=ann)
    assert Rating.objects.get(query=query).rater_id == ann.pk
    assert cases_score(case) == before
    run.refresh_from_db()
    endpoint.refresh_from_db()
    assert run.created_by_id == ann.pk
    assert (endpoint.archived_at, endpoint.credentials) == (None, {"password": "secret"})
    bob = User.objects.get(name="bob")
    assert Case.objects.live().owned_by(bob).filter(pk=case.pk).exists()


def cases_score(case: Case) -> list[float | None]:
    return list(case.runs.values_list("case_scores__score", flat=True))


def test_what_nobody_else_sees_is_archived_without_its_passwords(ann: User) -> None:
    alone = make_team()
    Membership.objects.create(team=alone, user=ann, role=Role.OWNER)
    case = make_case(["a query"], owner=ann)
    cases.share(case=case, team=alone)
    endpoint = make_endpoint(owner=ann, credentials={"password": "secret"})
    contents = accounts.deletion.contents(ann)
    assert [kind for kind, _ in contents.archived] == ["cases", "endpoints"]
    assert contents.teams == [alone]
    accounts.deletion.delete(user=ann)
    case.refresh_from_db()
    endpoint.refresh_from_db()
    assert case.archived_at is not None
    assert endpoint.archived_at is not None
    assert endpoint.credentials == {}
    assert not Team.objects.filter(pk=alone.pk).exists()
    assert Case.objects.visible_to(make_user("root", superuser=True)).filter(pk=case.pk).exists()


def test_the_only_owner_of_a_team_with_members_stays(ann: User) -> None:
    team = make_team("Search", bob=Role.EDITOR)
    own = Membership.objects.create(team=team, user=ann, role=Role.OWNER)
    with pytest.raises(ValidationError, match="only owner of Search"):
        accounts.deletion.delete(user=ann)
    assert User.objects.get(pk=ann.pk).name == "Ann Example"
    team.memberships.exclude(pk=own.pk).update(role=Role.OWNER)
    accounts.deletion.delete(user=ann)
    assert not team.memberships.filter(user=ann).exists()


def test_the_only_admin_stays() -> None:
    root = make_user("root", superuser=True)
    with pytest.raises(ValidationError, match="only admin"):
        accounts.deletion.delete(user=root)
    make_user("second", superuser=True)
    accounts.deletion.delete(user=root)
    assert not User.objects.get(pk=root.pk).is_superuser
