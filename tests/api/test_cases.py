"""Cases, their queries, scorers and teams: what scripts create and change as the pages do."""

import pytest

from relevancy import scorers
from relevancy.models import Activity, Book, Case, Role, Scorer, ScorerDefinition
from tests.factories import make_attempt, make_case, make_endpoint, make_team, make_user, query_of, run_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def case():
    return make_case(3, {"query 1": {"a": 3, "b": 1}})


@pytest.fixture
def client(api, case):
    return api(case.owner)


def refused_field(response):
    assert response.status_code == 422, response.content
    return response.json()["errors"][0]["field"]


def verbs_of(case):
    return list(Activity.objects.filter(case=case).order_by("-id").values_list("verb", flat=True))


def test_create_case_with_a_name(client, case):
    created = client.send("POST", "/cases", {"name": " Markets "})
    assert created.status_code == 201
    details = created.json()
    assert created.headers["Location"] == f"/api/v1/cases/{details['id']}"
    assert client.get(f"/cases/{details['id']}") == details
    assert (details["name"], details["role"], details["query_count"], details["newest_run"]) == (
        "Markets",
        "owner",
        0,
        None,
    )
    assert [scorer["name"] for scorer in details["scorers"]] == [scorers.default_scorer(case.owner).name]


def test_create_case_with_everything(client, case, django_capture_on_commit_callbacks):
    endpoint, team = make_endpoint(case.owner), make_team(**{case.owner.name: Role.EDITOR})
    scorer = Scorer.objects.exclude(pk=scorers.default_scorer().pk).filter(only_for=None, owner=None).first()
    new = {
        "name": "Markets",
        "scorer_id": scorer.pk,
        "scale": "0 Poor, 1 Good",
        "team_id": team.pk,
        "queries": ["star wars", " star wars ", "star trek"],
        "endpoint_id": endpoint.pk,
        "template": '{"q": "#$query##"}',
        "fields": "title:title id:id",
    }
    with django_capture_on_commit_callbacks(execute=True):
        details = client.send("POST", "/cases", new).json()
    created = Case.objects.get(pk=details["id"])
    assert [row["text"] for row in client.items(f"/cases/{created.pk}/queries")] == ["star wars", "star trek"]
    assert [row["id"] for row in details["scorers"]] == [scorer.pk]
    assert created.book.scale == [[0.0, "Poor"], [1.0, "Good"]]
    assert client.get(f"/cases/{created.pk}/teams") == [{"id": team.pk, "name": team.name}]
    assert client.get(f"/runs/{details['newest_run']['id']}")["status"] == "complete"


def test_create_case_on_a_book(client, case):
    details = client.send("POST", "/cases", {"name": "Markets", "book_id": case.book_id, "queries": ["more"]}).json()
    assert (details["book_id"], details["query_count"]) == (case.book_id, 4)


def test_cases_that_are_refused(client, api, case):
    stranger = make_case(1)
    own_team = make_team(**{case.owner.name: Role.EDITOR})
    viewed = make_team(**{case.owner.name: Role.VIEWER})
    endpoint, foreign = make_endpoint(case.owner), make_endpoint(stranger.owner)
    count = Case.objects.count()
    wrong = [
        ("name", {"name": " "}),
        ("name", {"name": "a\x00"}),
        ("scorer_id", {"scorer_id": 10**6}),
        ("scale", {"scale": "good"}),
        ("scale", {"scale": "0:3", "book_id": case.book_id}),
        ("book_id", {"book_id": stranger.book_id}),
        ("team_id", {"team_id": viewed.pk}),
        ("queries", {"queries": ["fine", "bad\x07"]}),
        ("queries", {"endpoint_id": endpoint.pk, "template": '{"q": 1}'}),
        ("endpoint_id", {"endpoint_id": foreign.pk, "queries": ["one"]}),
        ("template", {"endpoint_id": endpoint.pk, "template": "{", "queries": ["one"]}),
    ]
    for field, values in wrong:
        assert refused_field(client.send("POST", "/cases", {"name": "Markets", **values})) == field, values
    editor = make_user("editor")
    case.book.teams.add(make_team(editor=Role.EDITOR))  # who may edit the book and not share it
    body = {"name": "Markets", "book_id": case.book_id, "team_id": make_team(editor=Role.EDITOR).pk}
    assert refused_field(api(editor).send("POST", "/cases", body)) == "team_id"
    assert own_team.cases.count() == 0
    assert Case.objects.count() == count


def test_rename_archive_and_restore(client, api, case):
    path = f"/cases/{case.pk}"
    for _ in range(2):  # the second time changes nothing
        assert client.send("PATCH", path, {"name": " Markets "}).json()["name"] == "Markets"
        archived = client.send("PATCH", path, {"archived": True}).json()
        assert (
            archived["archived_at"] == client.send("PATCH", path, {"archived": True}).json()["archived_at"] is not None
        )
        assert client.send("PATCH", path, {"archived": False, "name": None}).json()["archived_at"] is None
    assert verbs_of(case)[:5] == ["case.restored", "case.archived", "case.restored", "case.archived", "case.renamed"]
    assert refused_field(client.send("PATCH", path, {"name": "\ud800"})) == "name"
    editor = make_user("editor")
    case.teams.add(make_team(editor=Role.EDITOR))
    refused = api(editor).send("PATCH", path, {"name": "Renamed", "archived": True})
    assert (refused.status_code, Case.objects.get(pk=case.pk).name) == (403, "Markets")


def test_copy_and_delete(client, case):
    make_attempt(case)
    copy = client.send("POST", f"/cases/{case.pk}/copies", {"name": "A copy"})
    assert (copy.status_code, copy.json()["ratings"], copy.json()["left_out"]) == (201, 2, [])
    path = copy.headers["Location"].removeprefix("/api/v1")
    copied = client.get(path)
    assert (copied["query_count"], len(client.items(f"{path}/attempts"))) == (3, 1)
    assert client.send("DELETE", f"/cases/{case.pk}").status_code == 204
    assert Book.objects.filter(pk=case.book_id).exists()
    assert client.send("DELETE", f"{path}?with_book=true").status_code == 204
    assert not Book.objects.filter(pk=copied["book_id"]).exists()
    assert client.send("DELETE", path).status_code == 404


def test_scorers_of_a_case(client, case):
    run = run_now(make_attempt(case))
    path = f"/cases/{case.pk}/scorers"
    (first,) = client.get(path)
    other = Scorer.objects.exclude(pk=first["id"]).filter(only_for=None).first()
    for _ in range(2):
        chosen = client.send("PUT", path, {"scorer_ids": [other.pk, first["id"], other.pk]}).json()
        assert [row["id"] for row in chosen] == [other.pk, first["id"]]
    assert verbs_of(case).count("scorer.added") == 1 + 1  # that of the new case, and this one
    assert client.get(path) == chosen
    scores = client.get(f"/runs/{run.pk}")["scores"]
    assert [(score["scorer_id"], score["is_being_rescored"]) for score in scores] == [
        (other.pk, False),
        (first["id"], False),
    ]
    definition = ScorerDefinition(measure="P@5")
    scorers.change(scorer=other, by=make_user("admin", superuser=True), definition=definition)
    assert client.send("PUT", path, {"scorer_ids": [other.pk]}).json()[0]["version"] == 1
    assert client.send("PUT", path, {"scorer_ids": [other.pk], "newest": True}).json()[0]["version"] == 2
    for wrong in ([], [10**6], [other.pk, 0]):
        assert client.send("PUT", path, {"scorer_ids": wrong}).status_code == 422
    assert [row["id"] for row in client.get(path)] == [other.pk]


def test_change_and_remove_a_query_of_a_case(client, case):
    first, second, third = (query_of(case, f"query {number}") for number in (1, 2, 3))
    path = f"/cases/{case.pk}/queries"
    before = client.get(f"{path}/{second.pk}")
    client.send("PATCH", f"/queries/{second.pk}", {"notes": "Kept", "tags": ["films"]})
    changes = {"text": " star wars ", "weight": 2.5, "options": {"lang": "en"}}
    changed = client.send("PATCH", f"{path}/{second.pk}", changes).json()
    assert changed == {**before, "text": "star wars", "weight": 2.5, "options": {"lang": "en"}, "tags": ["films"]}
    second.refresh_from_db()
    assert (second.notes, second.text) == ("Kept", "star wars")
    assert client.send("PATCH", f"{path}/{second.pk}", {}).json() == changed
    assert verbs_of(case).count("query.changed") == 3
    assert client.send("PATCH", f"{path}/{third.pk}", {"before": first.pk}).status_code == 200
    assert [row["query_id"] for row in client.items(path)] == [third.pk, first.pk, second.pk]
    assert client.send("PATCH", f"{path}/{third.pk}", {"after": second.pk}).status_code == 200
    for _ in range(2):
        assert client.send("DELETE", f"{path}/{first.pk}").status_code == 204
    assert [row["query_id"] for row in client.items(path)] == [second.pk, third.pk]
    assert client.send("GET", f"{path}/{first.pk}").status_code == 404
    assert client.send("PATCH", f"{path}/{first.pk}", {"weight": 2}).status_code == 404
    restored = client.send("POST", path, {"text": "query 1"}).json()["added"]
    assert [row["query_id"] for row in restored] == [first.pk]
    assert client.get(f"/queries/{first.pk}/grades")["grades"] == {"a": 3, "b": 1}


def test_changes_of_a_query_that_are_refused(client, api, case):
    first = query_of(case, "query 1")
    elsewhere = query_of(make_case(1, owner=case.owner), "query 1")
    path = f"/cases/{case.pk}/queries/{first.pk}"
    before = client.get(path)
    wrong = [
        ("text", {"text": "query 2", "weight": 2}),
        ("text", {"text": "bad\x07"}),
        ("weight", {"weight": -1}),
        ("options", {"options": {"a": "\x00"}}),
        ("before", {"weight": 2, "before": elsewhere.pk}),
        ("position", {"before": first.pk, "after": first.pk, "weight": 2}),
    ]
    for field, body in wrong:
        assert refused_field(client.send("PATCH", path, body)) == field, body
    assert client.send("GET", f"/cases/{case.pk}/queries/{elsewhere.pk}").status_code == 404
    editor = make_user("editor")
    case.teams.add(make_team(editor=Role.EDITOR))  # who is only a rater of the book
    assert api(editor).send("PATCH", path, {"weight": 2}).status_code == 403
    assert client.get(path) == before


def test_sharing(client, api, case):
    endpoint = make_attempt(case).endpoint
    team = make_team(**{case.owner.name: Role.EDITOR, "member": Role.VIEWER})
    member = make_user("second")
    for shared, path in ((case, f"/cases/{case.pk}/teams"), (endpoint, f"/endpoints/{endpoint.pk}/teams")):
        for _ in range(2):
            assert client.send("PUT", f"{path}/{team.pk}").status_code == 204
            assert client.get(path) == [{"id": team.pk, "name": team.name}]
        assert list(shared.teams.all()) == [team]
        viewed = make_team(**{case.owner.name: Role.VIEWER})
        assert client.send("PUT", f"{path}/{viewed.pk}").status_code == 403
        assert client.send("PUT", f"{path}/{make_team(second=Role.OWNER).pk}").status_code == 404
        assert api(member).send("PUT", f"{path}/{team.pk}").status_code == 404
        for _ in range(2):
            assert client.send("DELETE", f"{path}/{team.pk}").status_code == 204
        assert client.get(path) == []
    assert verbs_of(case).count("sharing.shared") == 1
    assert team not in case.book.teams.all()


def test_owners_by_a_team_stop_sharing_with_their_own_teams_only(client, api, case):
    ours, theirs = make_team(boss=Role.OWNER), make_team()
    case.teams.add(ours, theirs)
    case.book.teams.add(ours, theirs)
    boss = api(ours.members.get())
    path = f"/cases/{case.pk}/teams"
    assert boss.send("DELETE", f"{path}/{theirs.pk}").status_code == 403
    assert client.send("DELETE", f"{path}/{theirs.pk}").status_code == 204
    assert boss.send("DELETE", f"{path}/{ours.pk}").status_code == 204
