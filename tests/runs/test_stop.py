"""A run is stopped while its engine hangs: the worker ends the requests in progress and goes on at once."""

import itertools
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from relevancy import runs
from relevancy.models import Run
from relevancy.runs import chunks
from tests.contracts.fakes import fake_elasticsearch, fake_solr
from tests.contracts.local_server import ReceivedRequest, Reply, serving
from tests.factories import make_attempt, make_case, make_endpoint, make_user
from tests.slow_server import drip_headers, hang, slow_server

pytestmark = pytest.mark.django_db
HANG = 60.0  # seconds that a request would last if it were not ended
MATCH = '{"query": {"match": {"title": "#$query##"}}}'


def run_at(engine: str, url: str, queries: int = 30, **options: Any) -> Run:
    owner = make_user(superuser=True)
    timeouts = {"read_timeout": HANG, "connect_timeout": HANG}
    endpoint = make_endpoint(owner, engine=engine, url=url, options={**timeouts, **options})
    template = MATCH if engine in ("elasticsearch", "opensearch") else "q=#$query##"
    return runs.start(attempt=make_attempt(make_case(queries, owner=owner), endpoint, template=template), by=owner)


@pytest.fixture
def stop_when(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Stops the run, as the button does, once an event is set. In the worker's own thread, which has the database of the test."""
    original = chunks.Chunk._should_stop

    def install(event: threading.Event) -> None:
        def should_stop(chunk: chunks.Chunk) -> bool:
            if event.is_set():
                runs.cancel(run=chunk.run)
            return original(chunk)

        monkeypatch.setattr(chunks.Chunk, "_should_stop", should_stop)

    yield install


def stopped_in(run: Run) -> float:
    """Works on the run until it has ended. Returns the seconds."""
    started = time.monotonic()
    runs.continue_run(run.pk, seconds=1000)
    run.refresh_from_db()
    return time.monotonic() - started


@pytest.mark.parametrize("engine", ["solr", "elasticsearch", "opensearch"])
@pytest.mark.parametrize("behaviour", [hang, drip_headers(0.05)], ids=["hang", "drip"])
def test_stop_while_the_engine_is_asked_for_its_version(stop_when: Any, engine: str, behaviour: Any) -> None:
    with slow_server(behaviour) as server:
        stop_when(server.connected)
        run = run_at(engine, f"{server.url}/films")
        seconds = stopped_in(run)
    assert (run.status, run.done, run.failed, run.parts.count()) == ("cancelled", 0, 0, 0)
    assert run.rankings.count() == 0
    assert seconds < HANG / 6


@pytest.mark.parametrize("queries", [3, 30, 250], ids=["alone", "a batch", "batches"])
def test_stop_while_searches_hang(stop_when: Any, queries: int) -> None:
    hanging, released = threading.Event(), threading.Event()

    def respond(received: ReceivedRequest) -> Reply:
        if "search" in received.path and b'"size": 0' not in received.body and b'"size":0' not in received.body:
            hanging.set()
            released.wait(HANG)
        return fake_elasticsearch(received)

    with serving(respond) as server:
        stop_when(hanging)
        run = run_at("elasticsearch", f"{server.url}/films", queries)
        seconds = stopped_in(run)
        released.set()
    assert (run.status, run.version, run.done, run.failed) == ("cancelled", "Elasticsearch 9.4.3", 0, 0)
    assert seconds < HANG / 6


def test_stop_keeps_what_was_searched(stop_when: Any) -> None:
    hanging, released, searches = threading.Event(), threading.Event(), itertools.count()

    def respond(received: ReceivedRequest) -> Reply:
        if not received.path.endswith("/select") or next(searches) < 4:
            return fake_solr(received)
        hanging.set()
        released.wait(HANG)
        return Reply()

    with serving(respond) as server:
        stop_when(hanging)
        run = run_at("solr", f"{server.url}/solr/films")
        stopped_in(run)
        released.set()
    assert run.status == "cancelled"
    assert (run.done, run.failed, run.rankings.count()) == (4, 0, 4)


def test_a_worker_that_lost_its_run_ends_its_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "HEARTBEAT_SECONDS", 0.0)
    original = chunks.Chunk._send_heartbeat

    def send_heartbeat(chunk: chunks.Chunk) -> None:
        if server.connected.is_set():
            chunk.run.parts.update(claimed_by="another worker")
        original(chunk)

    monkeypatch.setattr(chunks.Chunk, "_send_heartbeat", send_heartbeat)
    with slow_server(hang) as server:
        run = run_at("solr", f"{server.url}/films")
        seconds = stopped_in(run)
    assert (run.status, run.parts.get().claimed_by) == ("running", "another worker")
    assert seconds < HANG / 6
