"""What groups add to the core: to the home page, to logs of teams, and to deleting accounts and cases."""

import pytest
from django.urls import reverse

from relevancy import accounts, activity, hooks
from relevancy.models import Case, Role
from relevancy.optional.groups import groups
from relevancy.optional.groups.models import CaseGroup
from tests.factories import make_case, make_team, make_user
from tests.views.workbench.example_cases import attributes, by_id, elements, tree, words

pytestmark = pytest.mark.django_db


def test_sharing_and_deleting_are_in_the_log_of_the_team() -> None:
    team = make_team("Search", Ann=Role.OWNER)
    ann = team.memberships.get().user
    group = groups.create(name="Shops", by=ann, teams=[team])
    groups.set_teams(group=group, teams=[], by=ann)
    groups.set_teams(group=group, teams=[team], by=ann)
    groups.delete(group=group, by=ann)
    rows = team.activities.filter(verb__startswith="group.")
    assert [(row.by, activity.describe(row)) for row in rows] == [
        (ann, "Deleted the group of cases “Shops”; its cases are kept"),
        (ann, "Shared the group of cases “Shops” with the team"),
        (ann, "Stopped sharing the group of cases “Shops” with the team"),
        (ann, "Shared the group of cases “Shops” with the team"),
    ]
    assert hooks.team_activity_kinds["group"] == "Groups of cases"


def test_the_home_page_leads_to_groups_which_belong_to_cases(client) -> None:
    client.force_login(make_user())
    assert attributes(by_id(client.get("/"), "groups-link"))["href"] == reverse("groups")
    current = elements(tree(client.get(reverse("groups"))), **{"aria-current": "page"})
    assert {words(link) for link in current} == {"Cases"}


def test_deleting_a_case_names_the_groups_that_lose_it(client) -> None:
    """Not those of others."""
    case = make_case(1)
    for name, owner in (("All shops", case.owner), ("Secret", make_user("Stranger"))):
        CaseGroup.objects.create(name=name, owner=owner).cases.add(case)
    client.force_login(case.owner)
    page = " ".join(client.get(reverse("case_delete", args=[case.pk])).content.decode().split())
    assert "its place in the group All shops, with what it adds to the mean" in page
    assert "Secret" not in page


def test_groups_that_nobody_else_sees_are_deleted() -> None:
    ann = make_user("Ann Example")
    team = make_team(bob=Role.EDITOR)
    case = make_case(["a query"], owner=make_user("Bob B"))
    own, shared = (CaseGroup.objects.create(name=name, owner=ann) for name in ("Mine", "Ours"))
    own.cases.add(case)
    shared.teams.add(team)
    (loss,) = accounts.deletion.contents(ann).losses_by_outcome["deleted"]
    assert loss.text == f"group of cases that nobody else can see: {own}"
    accounts.deletion.delete(user=ann)
    assert list(CaseGroup.objects.all()) == [shared]
    assert Case.objects.live().filter(pk=case.pk).exists()
