"""Fixtures and options of all tests."""

import gc
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from xdist.scheduler import LoadScopeScheduling

from relevancy.accounts.hashing import LimitedArgon2Hasher
from relevancy.models import statements
from tests import factories
from tests.api.conftest import api  # noqa: F401 (tests of optional apps use it, too)
from tests.views.conftest import people, sign_in, team  # noqa: F401

# On a busy machine an example may take any time. In CI, Hypothesis also draws the same examples each time.
hypothesis.settings.register_profile(
    "patient",
    hypothesis.settings.get_profile("ci")
    if hypothesis.settings.default.derandomize
    else hypothesis.settings.get_profile("default"),
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("patient")
# Tests that share a server, a browser or a run, by the beginning of their node ids. One process runs all tests of a group.
GROUPS = {
    "tests/browser/": "browser",
    "tests/commands/test_every_scorer.py": "every scorer",
    "tests/live/": "live",
    "relevancy/optional/features/tests/live/": "live",
    "relevancy/optional/production/tests/live/": "live",
    "relevancy/optional/studies/tests/live/": "live",
    "tests/test_benchmarks.py::test_runs_on_real_engines": "live",
    "tests/test_wheel.py": "wheel",
}
DATABASE_FIXTURES = {"db", "transactional_db", "django_db_setup"}
# Tests of what a page shows, of an optional app too, and of what goes through the whole site: the same on every database. Whether the
# statements of every address work there is tested by those that open all of them with all their parameters (`tests/run_all.sh` runs
# them on one database). Services, models, operations of the API and commands are tested on both databases.
PAGES = re.compile(
    r"tests/views/|tests/test_(admin|bad_files|guides)\.py|relevancy/optional/\w+/tests/test_(\w+_)?(pages|api|commands?)\.py"
)
EVERY_ADDRESS = re.compile(r"tests/(views|api)/test_(access_matrix|fuzzing|schemathesis)\.py")
STATEMENT_FIXTURES = {"transactional_db", "django_assert_num_queries", "django_assert_max_num_queries"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--second-database`, for a second run of the tests on another database."""
    parser.addoption(
        "--second-database", action="store_true", help="skip tests whose result does not depend on the database"
    )


def pytest_configure() -> None:
    """Leaves Django's permissions and content types out of the rows that a browser test begins with: 400 that no test reads."""
    settings.TEST_NON_SERIALIZED_APPS = ["django.contrib.auth", "django.contrib.contenttypes"]


class GroupScheduling(LoadScopeScheduling):
    """Gives each group of tests to one process, and every other test to the next free one.

    The order of collection is kept (`--no-loadscope-reorder`): tests with transactions empty the database, so those that need
    what migrations wrote come first. `--dist loadgroup` of pytest-xdist 3.8 would do the same, but ignores the groups with pytest
    9.2 (issue 1386 of pytest-dev/pytest-xdist).
    """

    def _split_scope(self, nodeid: str) -> str:
        return next((group for start, group in GROUPS.items() if nodeid.startswith(start)), nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> GroupScheduling:
    """Lets `GroupScheduling` distribute the tests."""
    return GroupScheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """The tests and modules collected live as long as the process: the garbage collector need not search them again and again.

    It runs less often in the tests, too, which leave few cycles: that is 5% of their time.
    """
    gc.disable()
    gc.set_threshold(100_000)
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Puts browser tests before all others that commit, and applies `--second-database`.

    A browser test begins with the rows that migrations create. Other tests that commit leave rows of Django's own with other ids.
    """
    browser = [item for item in items if item.nodeid.startswith("tests/browser/")]
    others = [item for item in items if not item.nodeid.startswith("tests/browser/")]
    first = next((number for number, item in enumerate(others) if commits(item)), len(others))
    items[:] = [*others[:first], *browser, *others[first:]]
    if not config.getoption("--second-database"):
        return
    deselected = [item for item in items if not depends_on_database(item)]
    config.hook.pytest_deselected(items=deselected)
    items[:] = [item for item in items if depends_on_database(item)]


def commits(item: pytest.Item) -> bool:
    """Whether a test commits its transactions."""
    mark = item.get_closest_marker("django_db")
    is_marked = mark is not None and bool(mark.kwargs.get("transaction"))
    return is_marked or "transactional_db" in getattr(item, "fixturenames", ())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Describes the failure of each test that was run again."""
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"{report.nodeid} failed and was run again")
        terminalreporter.line(report.longreprtext)


def depends_on_database(item: pytest.Item) -> bool:
    """Whether a test may have another result on another database.

    Those are the tests that use one, but of the tests of pages only those that count statements, commit transactions, or open
    every address.
    """
    fixtures = set(getattr(item, "fixturenames", ()))
    mark = item.get_closest_marker("django_db")
    if PAGES.match(item.nodeid) and not EVERY_ADDRESS.match(item.nodeid):
        commits = mark is not None and bool(mark.kwargs.get("transaction"))
        return commits or bool(STATEMENT_FIXTURES & fixtures)
    return mark is not None or item.get_closest_marker("own_database") is not None or bool(DATABASE_FIXTURES & fixtures)


@pytest.fixture
def script() -> Iterator[dict[str, factories.Scripted]]:
    """Registers the engine `scripted` for one test. Yields its scripts by address."""
    with factories.scripted_engine() as scripts:
        yield scripts


@pytest.fixture(autouse=True)
def fast_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords are hashed with parameters that take no time."""
    for parameter, value in (("time_cost", 1), ("memory_cost", 8), ("parallelism", 1)):
        monkeypatch.setattr(LimitedArgon2Hasher, parameter, value)


@pytest.fixture(autouse=True)
def checked_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Statements whose SQL is built once are built again at each call, and compared."""
    monkeypatch.setattr(statements, "CHECKS", True)


@pytest.fixture
def data_dir(settings: Any, tmp_path: Path) -> Path:
    """The data directory of one test."""
    settings.DATA_DIR = tmp_path
    return tmp_path


@pytest.fixture(autouse=True)
def plain_static_files(settings: Any) -> None:
    """Static files under their plain names: the hashed ones exist only after collectstatic."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
