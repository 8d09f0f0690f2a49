"""Runs that a request waits for."""

import threading
import time
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import connection
from django.utils import timezone

from relevancy import runs, scores
from relevancy.api import runs as operations
from relevancy.models import Run, ScorerVersion
from relevancy.slow_requests import Busy, slow_request
from tests.factories import make_attempt, make_case, make_user

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def started(api, script, monkeypatch):
    """Makes clients that start a run which no worker searches."""
    monkeypatch.setattr("relevancy.tasks.send", lambda task, pk, **_: None)
    case = make_case(["a", "b", "c"], {"a": {"1": 3}}, owner=make_user("ann"))
    make_attempt(case)
    client = api(case.owner)
    return lambda parameters="": client.send("POST", f"/cases/{case.pk}/attempts/1/runs{parameters}")


def test_a_run_is_not_waited_for(started):
    response = started()
    assert (response.status_code, response.json()["status"]) == (202, "waiting")
    assert response.json()["heartbeat_at"] is None


def test_progress_of_an_active_run(started, api):
    run = Run.objects.select_related("case__owner").get(pk=started().json()["id"])
    runs.continue_run(run.pk, limit=2)
    Run.objects.update(started_at=timezone.now() - timedelta(seconds=4))
    details = api(run.case.owner).send("GET", f"/runs/{run.pk}").json()
    assert (details["status"], details["done"], details["queries"]) == ("running", 2, 3)
    assert details["per_second"] == pytest.approx(0.5, rel=0.5)
    assert details["seconds_left"] == pytest.approx(1 / details["per_second"], rel=0.1)
    assert details["heartbeat_at"] is not None


def test_the_end_of_a_run_and_its_scores_are_waited_for(started, monkeypatch, settings):
    settings.SLOW_THREADS = 1
    closed, looks = [], []
    monkeypatch.setattr(connection, "close", lambda: closed.append(True))

    def find_free_slots() -> None:
        try:
            with slow_request(settings.SLOW_THREADS):
                looks.append("free")
        except Busy:
            looks.append("busy")

    def sleep(seconds: float) -> None:
        """While the request sleeps, its thread has no transaction and no connection, and takes one of the slots."""
        assert not connection.in_atomic_block
        assert len(closed) == len(looks) + 1
        thread = threading.Thread(target=find_free_slots)
        thread.start()
        thread.join()
        run = Run.objects.get()
        if run.is_active:
            runs.finish_here(run)
        else:
            scores.rescore_run(run, list(ScorerVersion.objects.used_by(run.case_id)))

    monkeypatch.setattr(operations, "time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))
    response = started("?wait=60")
    run = response.json()
    assert (response.status_code, run["status"], run["done"]) == (200, "complete", 3)
    assert run["scores"][0]["score"] is not None
    assert (run["heartbeat_at"], run["per_second"], run["seconds_left"]) == (None, None, None)
    assert set(looks) == {"busy"}


def test_a_run_that_takes_longer_is_answered_as_it_is(started, monkeypatch):
    monkeypatch.setattr(operations, "POLL_SECONDS", 0.01)
    response = started("?wait=1")
    assert (response.status_code, response.json()["status"]) == (202, "waiting")
    assert response.headers["Location"] == f"/api/v1/runs/{response.json()['id']}"


def test_no_run_is_started_if_too_many_requests_wait(started, monkeypatch):
    def refuse(threads):
        raise Busy

    monkeypatch.setattr(operations, "slow_request", refuse)
    response = started("?wait=60")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "10")
    assert not Run.objects.exists()
    assert started("?wait=61").status_code == 422
    assert started().status_code == 202
