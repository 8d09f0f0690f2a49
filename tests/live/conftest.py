"""Real engines for a test session, started when the first test asks for one."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.live.servers import QUICK_JVM, Server, fetched, running

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks every test in this folder as `live`."""
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.live)


@pytest.fixture(scope="session")
def solr_server() -> Iterator[Server]:
    """A Solr without cores; `tests.live.indexing.make_solr_core` creates them."""
    with _engine("solr", "/solr/admin/info/system", {"SOLR_HEAP": "512m"}) as server:
        yield server


@pytest.fixture(scope="session")
def solr8_server() -> Iterator[Server]:
    """A Solr 8.11 without cores; the configuration of those that are made has the query parser `ltr`."""
    with _engine("solr8", "/solr/admin/info/system", {"SOLR_HEAP": "512m"}) as server:
        yield server


@pytest.fixture(scope="session")
def elasticsearch_server() -> Iterator[Server]:
    """An Elasticsearch without indices; `tests.live.indexing.make_elasticsearch_index` creates them."""
    ready = "/_cluster/health?wait_for_status=yellow&timeout=1s"
    with _engine("elasticsearch", ready, {"ES_HEAP": "512m"}) as server:
        yield server


@pytest.fixture(scope="session")
def elasticsearch7_server() -> Iterator[Server]:
    """An Elasticsearch 7.17 without indices, with search templates."""
    ready = "/_cluster/health?wait_for_status=yellow&timeout=1s"
    with _engine("elasticsearch7", ready, {"ES_HEAP": "512m"}) as server:
        yield server


@pytest.fixture(scope="session")
def opensearch_server() -> Iterator[Server]:
    """An OpenSearch without indices, with search templates; `make_elasticsearch_index` creates them here too."""
    ready = "/_cluster/health?wait_for_status=yellow&timeout=1s"
    with _engine("opensearch", ready, {"OS_HEAP": "512m"}) as server:
        yield server


@contextmanager
def _engine(name: str, ready: str, environment: dict[str, str]) -> Iterator[Server]:
    if not fetched(name):
        reason = f"{name} is missing: run `make engines` first."
        if os.environ.get("CI") == "true" or os.environ.get("RELEVANCY_LIVE") == "1":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    # Not pytest's temporary folder: as root, Elasticsearch runs as another user, who has no access to it.
    base = Path(tempfile.mkdtemp(prefix=f"relevancy-{name}-"))
    base.chmod(0o755)
    try:
        with running(name, base / "home", ready, environment | QUICK_JVM) as server:
            yield server
    finally:
        shutil.rmtree(base, ignore_errors=True)
