"""Real processes with a database of their own, for tests that need several of them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings

_SETUP = (
    "import django, json, sys; django.setup(); from tests.factories import *; "
    "from relevancy import cases, endpoints, engines, books, judging, ratings, queries, runs, scorers, scores, tasks; "
)


@dataclass(frozen=True)
class Site:
    """An installation in a folder: its environment, and how to start something in it."""

    folder: Path
    environment: dict[str, str]

    def start(self, *words: str, code: str = "") -> "subprocess.Popen[str]":
        """`relevancy WORDS…`, or Python `code` with Django ready and `words` as sys.argv[1:]."""
        line = ["-c", _SETUP + "\n" + code, *words] if code else ["-m", "relevancy", *words]
        return subprocess.Popen(
            [sys.executable, *line],
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def run(self, *words: str, code: str = "", seconds: float = 60) -> "subprocess.CompletedProcess[str]":
        """Like `start`, but waits for the end."""
        process = self.start(*words, code=code)
        out, err = process.communicate(timeout=seconds)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def ask(self, code: str, *words: str, seconds: float = 60) -> Any:
        """What `code` prints as JSON."""
        done = self.run(*words, code=code, seconds=seconds)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@contextmanager
def site(folder: Path, **environment: str) -> Iterator[Site]:
    """A migrated installation. environment: further variables."""
    with empty_site(folder) as here:
        here.environment.update(environment)
        done = here.run("migrate", "--verbosity", "0")
        assert done.returncode == 0, done.stderr
        yield here


@contextmanager
def empty_site(folder: Path) -> Iterator[Site]:
    """An installation without tables: on SQLite in a file, or on a database of its own where the tests run on PostgreSQL."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RELEVANCY_")}
    environment |= {
        "DJANGO_SETTINGS_MODULE": "relevancy.settings",
        "PYTHONPATH": str(settings.BASE_DIR),
        "RELEVANCY_ENV_FILE": os.devnull,
        "RELEVANCY_SECRET_KEY": settings.SECRET_KEY,
        "RELEVANCY_DATA_DIR": str(folder),
        "RELEVANCY_ENDPOINT_HOSTS": "127.0.0.0/8",
        "RELEVANCY_TASKS": "database",
        "PYTHONWARNINGS": "error::RuntimeWarning",
    }
    with _database() as url:
        if url:
            environment["RELEVANCY_DATABASE_URL"] = url
        yield Site(folder, environment)


@contextmanager
def _database() -> Iterator[str]:
    url = os.environ.get("RELEVANCY_DATABASE_URL", "")
    if not url.startswith("postgres"):
        yield ""
        return
    import psycopg  # noqa: PLC0415 (an extra)

    name = f"site_{uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        try:
            yield url.rpartition("/")[0] + "/" + name
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
