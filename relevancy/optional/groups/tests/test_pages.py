"""Pages of groups of cases."""

import pytest
from django.urls import reverse

from relevancy import comparison
from relevancy.models import Role
from relevancy.optional.groups import groups, stored_groups
from relevancy.optional.groups.models import CaseGroup, StoredGroupComparison
from tests.comparison.conftest import run_with
from tests.factories import make_case, make_team, make_user
from tests.views.workbench.example_cases import HTMX, by_id, elements, words

pytestmark = pytest.mark.django_db


def undo_url(response):
    *_, message = response.wsgi_request._messages
    return message.extra_tags.removeprefix("undo:").split()[0]


@pytest.fixture
def owner(client):
    owner = make_user("Olga")
    client.force_login(owner)
    return owner


@pytest.fixture
def market(owner, script):
    case = make_case(2, {"query 1": {"a": 3}, "query 2": {"a": 3}}, owner=owner, measures=("P@1",))
    run_with(case, {"query 1": "a", "query 2": "x"})
    run_with(case, {"query 1": "a", "query 2": "a"})
    return case


def test_a_group_is_made_filled_changed_and_deleted(client, owner, market):
    made = client.post(reverse("group_new"), {"name": "Markets", "weighting": "cases"})
    group = CaseGroup.objects.get()
    assert made["Location"] == reverse("group", args=[group.pk])
    assert "Markets" in words(by_id(client.get(reverse("groups")), "groups"))
    client.post(reverse("group_case_add", args=[group.pk]), {"case": market.pk})
    page = client.get(reverse("group", args=[group.pk]))
    assert "100 .0" in words(by_id(page, "group-mean")) or "100.0" in words(by_id(page, "group-mean")).replace(" ", "")
    assert market.name in words(by_id(page, "group-cases"))
    undo = undo_url(client.post(reverse("group_case_remove", args=[group.pk, market.pk])))
    assert not group.cases.exists()
    client.post(undo)
    assert group.cases.get() == market
    client.post(reverse("group_edit", args=[group.pk]), {"name": "Regions", "weighting": "queries"})
    group.refresh_from_db()
    assert (group.name, group.weighting) == ("Regions", "queries")
    assert client.post(reverse("group_edit", args=[group.pk]), {"name": "", "weighting": "x"}).status_code == 422
    assert client.get(reverse("group_delete", args=[group.pk])).status_code == 200
    client.post(reverse("group_delete", args=[group.pk]))
    assert not CaseGroup.objects.exists()


def test_a_group_is_made_of_several_cases_at_once_and_listed_with_its_mean(
    client, owner, market, django_assert_max_num_queries
):
    other = make_case(1, {"query 1": {"a": 3}}, owner=owner)
    foreign = make_case(1)
    data = {"name": "Markets", "weighting": "cases", "cases": [market.pk, other.pk]}
    assert client.post(reverse("group_new"), {**data, "cases": [foreign.pk]}).status_code == 422
    client.post(reverse("group_new"), data)
    assert set(CaseGroup.objects.get().cases.all()) == {market, other}
    with django_assert_max_num_queries(20):
        listed = words(by_id(client.get(reverse("groups")), "groups"))
    assert "100.0" in listed.replace(" .", ".")
    assert "1 of 2" in listed


def test_the_page_polls_until_the_figures_are_computed(client, owner, market, settings):
    settings.TASKS = {"default": {"BACKEND": "django.tasks.backends.dummy.DummyBackend"}}
    group = groups.create(name="Markets", by=owner)
    groups.add_case(group=group, case=market)
    url = reverse("group", args=[group.pk])
    assert elements(by_id(client.get(url), "group-comparison"), **{"aria-busy": "true"})
    view = groups.read_group(group=CaseGroup.objects.visible_to(owner).get(), by=owner)
    for stored in groups.compare_group(group=group, view=view).to_compute:
        comparison.stored.compute(stored.pk)
    waiting = client.get(url, headers=HTMX)
    assert elements(by_id(waiting, "group-comparison"), **{"aria-busy": "true"})
    assert words(by_id(waiting, "compared-cases")).endswith("+50.0 −100.0 to +100.0 1.000 … …")
    stored_groups.compute(StoredGroupComparison.objects.get().pk)
    part = client.get(url, headers=HTMX)
    assert not elements(by_id(part, "group-comparison"), **{"aria-busy": "true"})
    assert "+50.0" in words(by_id(part, "compared-cases"))
    assert "+50.0 points" in words(by_id(part, "group-verdict"))


def test_who_may_not_know_is_not_told_about_other_cases(client, owner, market):
    team = make_team("Search", Vera=Role.VIEWER, Edith=Role.EDITOR)
    group = groups.create(name="Markets", by=owner, teams=[team])
    groups.add_case(group=group, case=market)
    pages = {}
    for member in team.memberships.select_related("user"):
        client.force_login(member.user)
        pages[member.user.name] = client.get(reverse("group", args=[group.pk])).content.decode()
        assert client.post(reverse("group_case_remove", args=[group.pk, market.pk])).status_code in (403, 404)
    assert not any(market.name in page for page in pages.values())
    assert ["hidden-cases" in pages[name] for name in ("Vera", "Edith")] == [False, True]


def test_statements_do_not_grow_with_the_cases_without_runs(client, owner, django_assert_max_num_queries):
    group = groups.create(name="Markets", by=owner)
    for _ in range(6):
        groups.add_case(group=group, case=make_case(1, owner=owner, measures=("P@1",)))
    with django_assert_max_num_queries(30):
        client.get(reverse("group", args=[group.pk]))
