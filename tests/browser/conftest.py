"""One Chromium for the session, a context for each test, and the site on a port of loopback."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.utils.text import slugify
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from relevancy.models import User

from . import stage
from .flags import FLAGS
from .serving import live_site, settle
from .watching import Watch

_HERE = Path(__file__).parent
PATIENCE = 20_000  # milliseconds; long, because the machine may be busy
PAGES = pytest.StashKey[list[Page]]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks every test in this folder as `browser`.

    In CI a failed one is run once more: under the load of the gate, one of 300 fails now and then. A test that fails twice fails. The
    report counts and describes the first failure, which is a defect to be examined: one was a real fault.
    """
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if os.environ.get("CI") == "true":
                item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Saves a screenshot of each page of a failed test."""
    report: Any = yield
    if report.when == "call" and report.failed and _HERE in item.path.parents:
        for number, page in enumerate(item.stash.get(PAGES, []), 1):
            path = Path(item.config.rootpath, "var", "browser", f"{slugify(item.name)}-{number}.png")
            page.screenshot(path=path, timeout=60_000)
            report.sections.append(("Picture", str(path)))
    return report


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium."""
    path = shutil.which("chromium")
    if path is None:
        why = "chromium was not found on the PATH (package chromium)."
        if os.environ.get("CI") == "true":
            pytest.fail(why, pytrace=False)
        pytest.skip(why)
    # Playwright keeps an event loop in this thread, which Django takes for an asynchronous caller: it would refuse to
    # talk to the database, and keep connections for it apart from those of other tests.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    here = {alias: connections[alias] for alias in connections}
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        for alias, connection in here.items():
            connections[alias] = connection
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def live_server(django_db_setup: None) -> Iterator[Any]:
    server = live_site()
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def site(live_server: Any, django_db_serialized_rollback: None, settings: Any) -> str:
    """The site's address. Tables are emptied after each test; the rows that migrations create are restored before the next
    one."""
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    return str(live_server.url)


@pytest.fixture
def people(site: str) -> dict[str, User]:
    """One person in each role of the team “Search”, and a stranger."""
    return stage.make_people()


Opens = Callable[..., Page]


@pytest.fixture
def look(chromium: Browser, site: str, people: dict[str, User], request: pytest.FixtureRequest) -> Iterator[Opens]:
    """`look("rater")` opens a page in a new browser context, signed in as the rater; `look()` is signed out.

    Keyword arguments are those of a browser context. At the end of the test, any error that `watching.Watch` has seen fails it.
    """
    opened: list[tuple[BrowserContext, Watch]] = []
    pages = request.node.stash[PAGES] = []

    def look_as(name: str = "", **options: Any) -> Page:
        context = chromium.new_context(**{"base_url": site, "viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(PATIENCE)
        watch = Watch(context)
        opened.append((context, watch))
        if name:
            context.add_cookies([{**stage.session_of(people[name]), "url": site}])
        page = context.new_page()
        page.watch = watch  # type: ignore[attr-defined]
        pages.append(page)
        return page

    yield look_as
    for context, _ in opened:
        context.close()
    settle()
    problems = [problem for _, watch in opened for problem in watch.problems]
    assert not problems, "\n".join(problems)


@pytest.fixture(scope="session")
def films() -> str:
    """The sample's catalogue as an embedded index; its address."""
    return stage.index_films()
