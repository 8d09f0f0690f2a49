"""Whether the site is up, for machines."""

import pytest
from django.db import InterfaceError, OperationalError, connection


def test_healthz_needs_neither_sign_in_nor_database(client):
    for send in (client.get, client.head):
        assert send("/healthz").status_code == 200
    assert client.get("/healthz").json() == {"status": "up"}


def test_readyz_asks_the_database(client, db):
    assert client.get("/readyz").json() == {"status": "ready"}
    assert client.head("/readyz").status_code == 200


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_readyz_without_a_database(client, db, monkeypatch, error):
    def down():
        raise error("secret-host:5432 refused the connection")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", down)
        response = client.get("/readyz")
    assert (response.status_code, response.json()) == (503, {"status": "no database"})


@pytest.mark.parametrize("place", ["/healthz", "/readyz"])
def test_only_asked_never_told(client, db, place):
    assert client.post(place).status_code == 405
