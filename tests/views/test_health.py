"""Tests of the health checks."""

import shutil
import subprocess
import time

import pytest
from django.db import InterfaceError, OperationalError, connection

from tests.live.servers import free_port


def test_healthz_needs_neither_sign_in_nor_database(client):
    for send in (client.get, client.head):
        assert send("/healthz").status_code == 200
    assert client.get("/healthz").json() == {"status": "up"}


def test_readyz_queries_the_database(client, db):
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


@pytest.mark.parametrize("position", ["/healthz", "/readyz"])
def test_only_asked_never_told(client, db, position):
    assert client.post(position).status_code == 405


@pytest.fixture
def redis_url(tmp_path):
    """The URL of a Redis server of this test's own."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    port = free_port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        yield f"redis://127.0.0.1:{port}/0"
        process.terminate()


def test_readyz_with_celery_pings_the_broker(client, db, settings, redis_url):
    settings.CELERY_BROKER_URL = redis_url
    for _ in range(50):
        response = client.get("/readyz")
        if response.status_code == 200:
            break
        time.sleep(0.1)
    assert response.json() == {"status": "ready"}


@pytest.mark.parametrize("url", ["redis://127.0.0.1:{port}/0", "", "http://127.0.0.1:{port}/"])
def test_readyz_with_celery_and_no_broker(client, db, settings, url):
    """It said "ready" although no task could be queued."""
    settings.CELERY_BROKER_URL = url.format(port=free_port())
    start = time.monotonic()
    response = client.get("/readyz")
    assert (response.status_code, response.json()) == (503, {"status": "no broker"})
    assert time.monotonic() - start < 5
