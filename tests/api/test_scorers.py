"""Scorers and endpoints: created and changed with the rights and checks of the pages."""

import pytest
from django.db import connection

from relevancy import scorers
from relevancy.models import Endpoint, Role, Scorer, ScorerDefinition, ScorerVersion
from tests.factories import make_endpoint, make_team, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
SCRIPT = "docs[0] ? docs[0].rating * 10 : null"


@pytest.fixture
def owner():
    return make_user("ann")


@pytest.fixture
def client(api, owner):
    return api(owner)


def refused_field(response):
    assert response.status_code == 422, response.content
    return response.json()["errors"][0]["field"]


def test_scorer_and_its_versions(client, owner):
    created = client.send("POST", "/scorers", {"name": " Of the shop ", "measure": "nDCG@5", "scale": "0 Poor, 1 Good"})
    assert created.status_code == 201
    path = created.headers["Location"].removeprefix("/api/v1")
    scorer = client.get(path)
    assert scorer == created.json()
    assert (scorer["name"], scorer["measure"], scorer["version"], scorer["owner"]) == (
        "Of the shop",
        "nDCG@5",
        1,
        "ann",
    )
    assert scorer["scale"] == [[0, "Poor"], [1, "Good"]]
    definition = {"measure": "P@3", "scale": "0:1"}
    for _ in range(2):  # the second time adds none
        changed = client.send("POST", f"{path}/versions", definition).json()
        assert (changed["measure"], changed["version"]) == ("P@3", 2)
    described = client.send("PATCH", path, {"name": "Precision", "description": "Three"}).json()
    assert described == {**changed, "name": "Precision", "description": "Three"}
    for _ in range(2):
        retired = client.send("PATCH", path, {"retired": True}).json()
        assert retired["retired_at"] == client.get(path)["retired_at"] is not None
    assert scorer["id"] not in {row["id"] for row in client.items("/scorers", limit=50)}
    assert client.send("PATCH", path, {"retired": False}).json() == described
    assert ScorerVersion.objects.filter(scorer=scorer["id"]).count() == 2


def test_scorers_that_are_refused(client, api, owner):
    mine = scorers.create(name="Mine", definition=ScorerDefinition(measure="P@3"), by=owner)
    wrong = [
        ("measure", {"name": "Another"}),
        ("measure", {"name": "Another", "measure": "nDCG@5", "script": SCRIPT}),
        ("measure", {"name": "Another", "measure": "nothing"}),
        ("script", {"name": "Another", "script": "docs["}),
        ("scale", {"name": "Another", "measure": "P@3", "scale": "0, 2"}),
        ("name", {"name": "MINE", "measure": "P@3"}),
        ("name", {"name": "a\x00", "measure": "P@3"}),
    ]
    count = Scorer.objects.count()
    for field, body in wrong:
        assert refused_field(client.send("POST", "/scorers", body)) == field, body
    scorers.set_user_scripts_allowed(allowed=False, by=make_user("admin", superuser=True))
    assert refused_field(client.send("POST", "/scorers", {"name": "Another", "script": SCRIPT})) == "script"
    assert refused_field(client.send("POST", f"/scorers/{mine.pk}/versions", {"script": SCRIPT})) == "script"
    assert Scorer.objects.count() == count
    shared_scale = Scorer.objects.filter(owner=None).first()
    assert client.send("PATCH", f"/scorers/{shared_scale.pk}", {"name": "Mine now"}).status_code == 403
    editor = make_user("editor")
    scorers.share(scorer=mine, team=make_team(editor=Role.EDITOR, ann=Role.OWNER))
    assert api(editor).send("PATCH", f"/scorers/{mine.pk}", {"description": "Of us"}).status_code == 200
    assert api(editor).send("PATCH", f"/scorers/{mine.pk}", {"retired": True}).status_code == 403


def test_endpoint(client, owner):
    engine = make_endpoint(owner).engine
    new = {
        "name": " shop ",
        "engine": engine,
        "url": "http://127.0.0.1:9/new",
        "credentials": {"username": "ann", "password": "hunter2"},
        "headers": {"X-Shop": "secret-de"},
        "per_minute": 60,
    }
    created = client.send("POST", "/endpoints", new)
    assert created.status_code == 201, created.content
    path = created.headers["Location"].removeprefix("/api/v1")
    endpoint = client.get(path)
    assert endpoint == created.json()
    assert (endpoint["name"], endpoint["url"], endpoint["per_minute"]) == ("shop", new["url"], 60)
    assert b"hunter2" not in created.content
    assert b"secret-de" not in created.content
    stored = Endpoint.objects.get(pk=endpoint["id"])
    assert (stored.credentials, stored.headers) == (new["credentials"], new["headers"])
    changed = client.send("PATCH", path, {"name": "store", "parallel": 2}).json()
    assert changed == {**endpoint, "name": "store", "parallel": 2}
    stored.refresh_from_db()
    assert stored.credentials == new["credentials"]
    # Secrets are never sent to another address.
    assert refused_field(client.send("PATCH", path, {"url": "http://127.0.0.1:9/other"})) == "url"
    assert client.send("PATCH", path, {"clear": True}).status_code == 200
    assert Endpoint.objects.get(pk=stored.pk).credentials == {}
    assert client.send("PATCH", path, {"url": "http://127.0.0.1:9/other"}).json()["url"] == "http://127.0.0.1:9/other"
    for _ in range(2):
        assert client.send("PATCH", path, {"archived": True}).json()["archived_at"]
    assert endpoint["id"] not in {row["id"] for row in client.items("/endpoints")}
    assert client.send("PATCH", path, {"archived": False}).json()["archived_at"] is None


def test_endpoint_options_of_every_engine(client, owner):
    engine = make_endpoint(owner).engine
    options = {"connect_timeout": 2, "read_timeout": 5.5, "query_options": {"lang": ["en"]}}
    new = {"name": "shop", "engine": engine, "url": "http://127.0.0.1:9/new", "options": options}
    created = client.send("POST", "/endpoints", new)
    assert (created.status_code, created.json()["options"]) == (201, options)
    path = f"/endpoints/{created.json()['id']}"
    for wrong in ({"read_timeout": "soon"}, {"connect_timeout": 0}, {"query_options": "lang"}):
        assert refused_field(client.send("PATCH", path, {"options": wrong})) == "options", wrong
    assert client.send("PATCH", path, {"options": {}}).json()["options"] == {}


def test_endpoint_with_another_engine(client, api, owner):
    endpoint = make_endpoint(owner, engine="solr", url="http://127.0.0.1:9/solr/films")
    path, changes = f"/endpoints/{endpoint.pk}", {"engine": "elasticsearch", "url": "http://127.0.0.1:9/films"}
    editor = make_user("editor", can_create_endpoints=False)
    endpoint.teams.add(make_team(editor=Role.EDITOR))
    assert refused_field(api(editor).send("PATCH", path, changes)) == "url"
    changed = client.send("PATCH", path, changes).json()
    assert {name: changed[name] for name in changes} == changes


def test_endpoints_that_are_refused(client, api, owner):
    endpoint = make_endpoint(owner)
    new = {"name": "shop", "engine": "solr", "url": "http://127.0.0.1:9/solr/products"}
    wrong = [
        ("name", {"name": endpoint.name}),
        ("engine", {"engine": "altavista"}),
        ("url", {"url": "http://169.254.169.254/latest"}),
        ("url", {"url": "ftp://example.com"}),
        ("username", {"credentials": {"password": "x"}}),
        ("bearer", {"credentials": {"api_key": "x", "bearer": "y"}}),
        ("headers.X-Shop", {"headers": {"X-Shop": "a\r\nb: c"}}),
        ("headers.X Shop.[key]", {"headers": {"X Shop": "a"}}),
        ("parallel", {"parallel": 65}),
    ]
    count = Endpoint.objects.count()
    for field, values in wrong:
        assert refused_field(client.send("POST", "/endpoints", {**new, **values})) == field, values
    stranger = make_user("stranger", can_create_endpoints=False)
    assert api(stranger).send("POST", "/endpoints", new).status_code == 403
    assert Endpoint.objects.count() == count
    endpoint.teams.add(make_team(stranger=Role.EDITOR))
    path = f"/endpoints/{endpoint.pk}"
    assert refused_field(api(stranger).send("PATCH", path, {"url": "http://127.0.0.1:9/x"})) == "url"
    viewer = make_user("viewer")
    endpoint.teams.add(make_team(viewer=Role.VIEWER))
    shown = api(viewer).get(path)
    assert (shown["url"], shown["options"], shown["role"]) == (None, None, "viewer")


def test_secrets_that_cannot_be_decrypted_do_not_break_the_api(client, owner):
    endpoint = make_endpoint(owner)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {Endpoint._meta.db_table} SET credentials = 'gAAAAAB-not-a-token' WHERE id = %s", [endpoint.pk]
        )
    path = f"/endpoints/{endpoint.pk}"
    assert client.get(path)["name"] == endpoint.name
    refused = client.send("PATCH", path, {"name": "renamed"})
    assert (refused.status_code, "cannot be decrypted" in refused.json()["detail"]) == (409, True)
