"""Groups of cases through the REST API."""

import pytest

from relevancy import cases, ratings
from relevancy.models import CaseScore, Role
from relevancy.optional.groups import groups
from relevancy.optional.groups.models import CaseGroup
from tests.factories import make_attempt, make_case, make_team, query_of, run_now, script_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def case():
    return make_case(3, {"query 1": {"a": 3}})


@pytest.fixture
def client(api, case):
    return api(case.owner)


def test_group_has_the_figures_of_its_page(client, case):
    attempt = make_attempt(case)
    before = run_now(attempt)
    script_of(attempt).default = ("b", "a", "c")
    after = run_now(attempt)
    group = groups.create(name="Markets", by=case.owner)
    path = f"/groups/{group.pk}"
    assert (client.get(path)["mean"], client.get(path)["reason"]) == (None, "The group has no cases.")
    groups.add_case(group=group, case=case)
    assert client.get(path)["comparison"]["status"] == "computing"
    while (group_data := client.get(path))["comparison"]["status"] == "computing":
        assert group_data["comparison"]["together"] is None
    path_of_runs = f"/runs/{after.pk}/compare/{before.pk}"
    client.send("GET", path_of_runs)
    (pair,) = client.get(path_of_runs)["pairs"]
    (of_case,) = group_data["comparison"]["cases"]
    assert (of_case["run_id"], of_case["baseline_id"]) == (after.pk, before.pk)
    for figures in (of_case["figures"], group_data["comparison"]["together"]):
        assert (figures["difference"], figures["p"]) == (pair["difference"], pair["p_randomisation"])
        assert figures["interval"] == pytest.approx(pair["interval"])
    assert group_data["mean"] == group_data["cases"][0]["score"] == CaseScore.objects.get(run=after).score
    assert [point["run_id"] for point in client.get(f"{path}/history")] == [before.pk, after.pk]
    assert [item["id"] for item in client.items("/groups")] == [group.pk]


def test_group_is_made_filled_changed_and_deleted(client, case):
    team = make_team(**{case.owner.name: Role.OWNER})
    made = client.send("POST", "/groups", {"name": " Markets ", "weighting": "queries", "team_ids": [team.pk]})
    assert made.status_code == 201
    group = made.json()
    assert (group["name"], group["weighting"], group["role"]) == ("Markets", "queries", "owner")
    path = f"/groups/{group['id']}"
    stored = CaseGroup.objects.get()
    assert list(stored.teams.all()) == [team]
    assert client.send("PATCH", path, {"weighting": "cases"}).json() == {**group, "weighting": "cases"}
    assert list(stored.teams.all()) == [team]
    assert client.send("PATCH", path, {"name": "Shops", "team_ids": []}).json()["name"] == "Shops"
    assert not stored.teams.exists()
    for method, ids in (("PUT", [case.pk]), ("PUT", [case.pk]), ("DELETE", []), ("DELETE", [])):
        assert client.send(method, f"{path}/cases/{case.pk}").status_code == 204
        assert [row["id"] for row in client.get(path)["cases"]] == ids
    assert client.send("DELETE", path).status_code == 204
    assert client.send("GET", path).status_code == 404


def test_changes_of_a_group_that_are_refused(client, api, case):
    group = groups.create(name="Markets", by=case.owner)
    path = f"/groups/{group.pk}"
    foreign = make_team(somebody=Role.OWNER)
    wrong = {"name": [" ", "a\x00", "x" * 192], "weighting": ["documents", ""], "team_ids": [[foreign.pk], [0]]}
    for field, values in wrong.items():
        for value in values:
            for method, address, body in (("PATCH", path, {}), ("POST", "/groups", {"name": "Another"})):
                refused = client.send(method, address, {**body, field: value})
                assert refused.status_code == 422
                assert refused.json()["errors"][0]["field"].split(".")[0] == field
    hidden = make_case(1)
    assert client.send("PUT", f"{path}/cases/{hidden.pk}").status_code == 404
    cases.archive(case=case, by=case.owner)
    assert client.send("PUT", f"{path}/cases/{case.pk}").status_code == 422
    team = make_team(editor=Role.EDITOR)
    group.teams.add(team)
    editor = api(team.memberships.get().user)
    assert editor.send("PATCH", path, {"name": "Shops"}).status_code == 200
    assert editor.send("PATCH", path, {"team_ids": [team.pk]}).status_code == 403  # only owners share
    assert (CaseGroup.objects.get().name, group.cases.count()) == ("Shops", 0)


def test_scores_are_no_change_of_a_group(client, case):
    attempt = make_attempt(case)
    run_now(attempt)
    group = groups.create(name="Markets", by=case.owner)
    groups.add_case(group=group, case=case)
    path = f"/groups/{group.pk}"
    etag = client.send("GET", path).headers["ETag"]
    ratings.rate(query=query_of(case, "query 1"), doc_id="b", value=1, by=case.owner)
    run_now(attempt)
    assert client.send("GET", path, **{"If-None-Match": etag}).status_code == 200
    assert client.send("PATCH", path, {"name": "One"}, **{"If-Match": etag}).status_code == 200
