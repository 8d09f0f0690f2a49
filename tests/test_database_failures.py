"""A full disk and lost connections, with real databases: what was answered with success is stored, the rest can be sent again."""

import os
import resource
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import close_old_connections, connection
from django.test import Client
from django.urls import reverse

from relevancy.models import Case, Rating, RatingChange
from tests.contracts.fakes import fake_solr
from tests.contracts.local_server import serving
from tests.factories import make_case
from tests.processes import site
from tests.test_processes import MAKE_SOLR, STATE

ON_POSTGRES = os.environ.get("RELEVANCY_DATABASE_URL", "").startswith("postgres")
needs_postgres = pytest.mark.skipif(not ON_POSTGRES, reason="needs PostgreSQL")
needs_sqlite = pytest.mark.skipif(ON_POSTGRES, reason="needs SQLite")
UNLIMITED_PAGES = 2**30
TERMINATE = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()
"""


@pytest.fixture
def rater(client: Client) -> Callable[[str], int]:
    """Rates a document of a new case; returns the status of the answer."""
    case: Case = make_case(1)
    client.force_login(case.owner)
    client.raise_request_exception = False
    address = reverse("rate", args=[case.pk, case.case_queries.get().pk])

    def rate(doc_id: str) -> int:
        answer = client.post(address, {"doc_id": doc_id, "value": "3"})
        assert answer.status_code != 503 or b"try again" in answer.content
        return answer.status_code

    return rate


def limit_pages(count: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA max_page_count = {count}")


@pytest.fixture
def full_disk() -> Iterator[Callable[[], None]]:
    """Stops the database from growing: SQLite answers SQLITE_FULL, as it does on a full disk."""

    def fill() -> None:
        with connection.cursor() as cursor:
            (pages,) = cursor.execute("PRAGMA page_count").fetchone()
        limit_pages(pages)

    yield fill
    limit_pages(UNLIMITED_PAGES)


@needs_sqlite
@pytest.mark.django_db(transaction=True)
def test_ratings_on_a_full_disk(rater: Callable[[str], int], full_disk: Callable[[], None]) -> None:
    full_disk()
    statuses: dict[str, int] = {}
    for number in range(20_000):  # free pages of the file are used up first
        doc_id = f"{number:0>400}"
        statuses[doc_id] = rater(doc_id)
        if statuses[doc_id] == 503:
            break
    limit_pages(UNLIMITED_PAGES)
    assert {*statuses.values()} == {302, 503}
    answered = {doc_id for doc_id, status in statuses.items() if status == 302}
    assert set(Rating.objects.values_list("doc_id", flat=True)) == answered
    assert set(RatingChange.objects.values_list("doc_id", flat=True)) == answered
    assert rater(doc_id) == 302


@needs_postgres
@pytest.mark.django_db(transaction=True)
def test_rating_on_a_lost_connection(rater: Callable[[str], int]) -> None:
    assert rater("a") == 302
    fill_pool()
    terminate(str(connection.settings_dict["NAME"]))
    assert rater("b") == 503
    close_old_connections()  # as Django does at the end of a request
    assert rater("b") == 302  # all lost connections were replaced at once
    assert set(Rating.objects.values_list("doc_id", flat=True)) == {"a", "b"}


@needs_postgres
@pytest.mark.django_db(transaction=True)
def test_rating_on_a_server_that_is_read_only(rater: Callable[[str], int]) -> None:
    """As after a fail-over, until the connections lead to the new server."""
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
        assert rater("a") == 503
        cursor.execute("SET default_transaction_read_only = off")
    assert rater("a") == 302


def fill_pool() -> None:
    """Opens as many connections as the pool may have."""
    pool = connection.pool  # type: ignore[attr-defined]
    connections = [pool.getconn() for _ in range(pool.max_size - 1)]  # one is in use
    for item in connections:
        pool.putconn(item)


def terminate(database: str) -> int:
    """Ends all connections to a database of the server; returns their number."""
    import psycopg  # noqa: PLC0415 (an extra)

    with psycopg.connect(os.environ["RELEVANCY_DATABASE_URL"], autocommit=True) as server:
        return len(server.execute(TERMINATE, [database]).fetchall())


@pytest.mark.skipif(ON_POSTGRES or not hasattr(resource, "prlimit"), reason="needs SQLite and Linux")
def test_worker_goes_on_once_files_can_grow_again(tmp_path: Path) -> None:
    with site(tmp_path) as here, serving(fake_solr) as solr:
        worker = here.start("worker", "--interval", "0.05")
        has_reported = threading.Event()
        lines: list[str] = []

        def listen() -> None:
            for line in worker.stderr or ():
                lines.append(line)
                if "cannot be used" in line:
                    has_reported.set()

        listener = threading.Thread(target=listen)
        listener.start()
        try:
            first = here.ask(MAKE_SOLR, f"{solr.url}/solr/films")
            assert wait_for(lambda: here.ask(STATE, str(first))[0] == "complete"), lines
            _, unlimited = resource.prlimit(worker.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (1, unlimited))
            second = here.ask(MAKE_SOLR.replace('"Owner"', '"Other"'), f"{solr.url}/solr/films")
            assert has_reported.wait(60), lines
            assert here.ask(STATE, str(second))[0] == "waiting"
            resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))
            assert wait_for(lambda: here.ask(STATE, str(second))[0] == "complete"), lines
            assert here.ask(STATE, str(second))[3:5] == [160, 160]
            assert worker.poll() is None
        finally:
            worker.kill()
            listener.join()
            worker.communicate()


@needs_postgres
@pytest.mark.own_database
def test_worker_goes_on_after_lost_connections(tmp_path: Path) -> None:
    with site(tmp_path) as here, serving(fake_solr) as solr:
        worker = here.start("worker", "--interval", "0.05")
        try:
            name = here.environment["RELEVANCY_DATABASE_URL"].rpartition("/")[2]
            assert wait_for(lambda: terminate(name) > 0)
            run = str(here.ask(MAKE_SOLR, f"{solr.url}/solr/films"))
            assert wait_for(lambda: here.ask(STATE, run)[0] == "complete")
            assert here.ask(STATE, run)[3:5] == [160, 160]
            assert worker.poll() is None
        finally:
            worker.kill()
            worker.communicate()


def wait_for(condition: Callable[[], bool]) -> bool:
    """Whether a condition becomes true within a minute."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return False
