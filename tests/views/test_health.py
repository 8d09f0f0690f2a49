"""Tests of the health checks."""

import os
import shutil
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from django.db import InterfaceError, OperationalError

from relevancy.views import health
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

    monkeypatch.setattr(health, "connection", SimpleNamespace(cursor=down))
    response = client.get("/readyz")
    assert (response.status_code, response.json()) == (503, {"status": "no database"})


def test_readyz_without_postgresql_says_so_within_a_second():
    """It took 5 s, as long as a page waits for a connection."""
    lines = [
        "import time, django",
        "django.setup()",
        "from django.test import Client",
        "import relevancy.urls",  # every page, which the first request of a process imports
        "start = time.monotonic()",
        "response = Client().get('/readyz', headers={'host': 'localhost'})",
        "print(response.status_code, time.monotonic() - start)",
    ]
    url = f"postgres://relevancy:secret@127.0.0.1:{free_port()}/relevancy"
    environment = {"DJANGO_SETTINGS_MODULE": "relevancy.settings", "RELEVANCY_DEMO": "1", "RELEVANCY_DATABASE_URL": url}
    done = subprocess.run(
        [sys.executable, "-c", "; ".join(lines)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    status, seconds = done.stdout.split()
    assert status == "503"
    assert float(seconds) < 2  # 0.8 s


def test_commands_with_celery_warn_of_nothing():
    environment = {"RELEVANCY_DEMO": "1", "RELEVANCY_TASKS": "celery", "RELEVANCY_BROKER_URL": "redis://127.0.0.1:1/0"}
    done = subprocess.run(
        [sys.executable, "-m", "relevancy", "check"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "WARNINGS" not in done.stdout + done.stderr


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
