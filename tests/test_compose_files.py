"""The processes of docker-compose.yml started by hand, as the file says: commands, settings, order, health checks.

Only hosts, ports and folders are replaced by ones on this machine. PostgreSQL and Redis are real; settings are those of
production: no debug, no demo, secrets given.
"""

import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.compose_files import ROOT, command, compose, fill, health_check, image_environment, variables

DOCUMENTS = '{"id": "a", "title": "Star Trek"}\n{"id": "b", "title": "Star Wars"}\n'
RATINGS = "query,docid,rating\nstar trek,a,3\nstar wars,b,3\n"
ADMIN = {"DJANGO_SUPERUSER_EMAIL": "admin@example.com", "DJANGO_SUPERUSER_PASSWORD": secrets.token_urlsafe(16)}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def needed(program: str, package: str) -> str:
    """The path of a program. It may be missing on a developer's machine, but not in CI."""
    path = shutil.which(program) or next(
        iter(sorted(map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{program}")))), ""
    )
    if not path:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(
            f"{program} is not installed (package {package})"
        )
    return path


def until(what: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether a condition becomes true within some seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if what():
            return True
        time.sleep(0.2)
    return what()


def succeeds(words: list[str], environment: Mapping[str, str]) -> bool:
    return subprocess.run(words, env=environment, capture_output=True, check=False, timeout=90).returncode == 0


@contextmanager
def running(words: list[str], environment: Mapping[str, str], log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that runs until the block ends, in a session of its own; its output goes to `log`."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            words, env=environment, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()


@contextmanager
def postgres(name: str, password: str) -> Iterator[int]:
    """A separate cluster with the role and the database that the file names. Yields its port."""
    script = ["bash", str(ROOT / "tests" / "with_postgres.sh"), needed("initdb", "postgresql")]
    tell_and_wait = ["sh", "-c", 'echo "$RELEVANCY_DATABASE_URL"; cat']  # until its input is closed
    with subprocess.Popen(
        [*script, *tell_and_wait], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdin is not None and process.stdout is not None
            url = process.stdout.readline().strip()
            assert url, "PostgreSQL did not start"
            with psycopg.connect(url, autocommit=True) as server:
                server.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'")
                server.execute(f"CREATE DATABASE {name} OWNER {name}")
            yield int(urllib.parse.urlsplit(url).port or 0)
        finally:
            process.communicate()


@dataclass(frozen=True)
class Composed:
    """The file's services on this machine: `environment` of our own, their commands with replaced hosts."""

    folder: Path
    services: dict[str, Any]
    environment: dict[str, str]
    port: int

    def words(self, words: list[str]) -> list[str]:
        """A command of the image or the file on this machine, where our programs are next to this Python."""
        swaps = {"0.0.0.0": "127.0.0.1", "8000": str(self.port)}
        here = [swaps.get(word, word).replace("127.0.0.1', 8000", f"127.0.0.1', {self.port}") for word in words]
        # The first check is made at once, and would otherwise wait for the whole time-out.
        here = [word.replace("--timeout 25", "--timeout 3") for word in here]
        program = Path(sys.executable).with_name(here[0])
        return [str(program) if program.exists() else here[0], *here[1:]]

    def run(self, *words: str, **more: str) -> str:
        """Runs a command that must succeed. Returns its output."""
        done = subprocess.run(
            self.words(list(words)),
            env=self.environment | more,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=90,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self, name: str, stack: ExitStack) -> None:
        """Start a service and wait until its health check is content."""
        service, log = self.services[name], self.folder / f"{name}.log"
        process = stack.enter_context(running(self.words(command(service)), self.environment, log))
        check = self.words(health_check(service))
        healthy = until(lambda: process.poll() is not None or succeeds(check, self.environment), 90)
        assert healthy and process.poll() is None, log.read_text()


def given() -> dict[str, str]:
    """Secrets as docs/deploying.md generates them."""
    kinds = {name: secrets.token_hex(24) for name, (kind, _) in variables().items() if kind == "?"}
    fernet = subprocess.run(
        ["sh", "-c", "head -c 32 /dev/urandom | base64 | tr '+/' '-_'"], capture_output=True, text=True, check=True
    ).stdout
    return kinds | {"RELEVANCY_CREDENTIALS_KEY": fernet.strip()}


@pytest.fixture(scope="module")
def composed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Composed]:
    """PostgreSQL and Redis are running, but no service of ours yet."""
    folder, secret, redis_port = tmp_path_factory.mktemp("composed"), given(), free_port()
    redis_program = needed("redis-server", "redis-server")
    services = fill(compose()["services"], secret)
    redis = [redis_program, *command(services["redis"])[1:]]
    redis += ["--port", str(redis_port), "--bind", "127.0.0.1", "--dir", str(folder)]
    ping = ["sh", "-c", health_check(services["redis"])[2].replace("redis-cli", f"redis-cli -p {redis_port}")]
    base = {name: value for name, value in os.environ.items() if not name.startswith(("RELEVANCY_", "DJANGO_"))}
    base["PATH"] = f"{Path(sys.executable).parent}:{base['PATH']}"
    database = services["postgres"]["environment"]
    with (
        postgres(database["POSTGRES_USER"], database["POSTGRES_PASSWORD"]) as postgres_port,
        running(redis, base, folder / "redis.log"),
    ):
        assert until(lambda: succeeds(ping, base | services["redis"]["environment"]), 20)
        ours = image_environment() | services["web"]["environment"]
        for old, new in (
            ("@postgres:5432", f"@127.0.0.1:{postgres_port}"),
            ("@redis:6379", f"@127.0.0.1:{redis_port}"),
        ):
            assert any(old in value for value in ours.values())
            ours = {name: value.replace(old, new) for name, value in ours.items()}
        folders = {"RELEVANCY_DATA_DIR": str(folder / "data"), "RELEVANCY_STATIC_DIR": str(folder / "collected")}
        (folder / "data").mkdir()
        yield Composed(folder, services, base | ours | folders | {"PYTHONPATH": str(ROOT)}, free_port())


class Browser:
    """A minimal browser: cookies, forms with their token, redirects."""

    def __init__(self, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}"
        self.cookies = CookieJar()
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.cookies)
        )

    def get(self, path: str, **headers: str) -> HTTPResponse:
        """Returns a response; refused connections and error statuses are raised as `OSError`."""
        response: HTTPResponse = self.opener.open(urllib.request.Request(self.base + path, headers=headers), timeout=20)
        return response

    def send(self, path: str, **fields: str) -> str:
        """The page that a form leads to."""
        token = next(cookie.value or "" for cookie in self.cookies if cookie.name == "csrftoken")
        data = urllib.parse.urlencode(fields | {"csrfmiddlewaretoken": token}).encode()
        with self.opener.open(self.base + path, data=data, timeout=20) as response:
            return str(response.read().decode())


STATE = """
import django
django.setup()
from relevancy.models import Case, Endpoint, Run
states = (f"{run.status}:{run.done}:{run.rankings.count()}" for run in Run.objects.all())
print(Case.objects.get().pk, Endpoint.objects.get().pk, *states)
"""


def test_composed_processes_serve_a_site_and_finish_a_run(composed: Composed) -> None:
    here = composed
    here.run(
        "relevancy", "collectstatic", "--noinput", "--verbosity", "0", RELEVANCY_DEMO="1"
    )  # when the image is built
    with ExitStack() as stack:
        here.run(*command(here.services["migrate"]))
        here.start("web", stack)
        here.start("worker", stack)
        browser = Browser(here.port)
        with browser.get("/readyz") as ready:
            assert (ready.status, ready.read()) == (200, b'{"status": "ready"}')
        _looks_like_production(browser)
        _make_case(here)
        _sign_in(browser)
        case, endpoint = here.run("python", "-c", STATE).split()[:2]
        template = '{"query": "#$query##", "fields": ["title"]}'
        browser.send(
            f"/cases/{case}/run/", endpoint=endpoint, template=template, fields="id:id title:title", depth="10"
        )
        assert until(lambda: "complete:2:2" in here.run("python", "-c", STATE), 60), (
            here.run("python", "-c", STATE),
            (here.folder / "worker.log").read_text(),
        )


def _looks_like_production(browser: Browser) -> None:
    with browser.get("/login/") as page:
        text = page.read().decode()
        assert "unsafe" not in page.headers["Content-Security-Policy"]
    styles = re.findall(r'<link[^>]+href="(/static/[^"]+\.css)"', text)
    assert styles and all(re.search(r"\.[0-9a-f]{12}\.css$", path) for path in styles)
    with browser.get(styles[0], **{"Accept-Encoding": "br, gzip"}) as style:
        assert style.headers["Content-Encoding"] == "br"
        assert "immutable" in style.headers["Cache-Control"]
    for path, host, status in (("/static/none.css", "127.0.0.1", 404), ("/login/", "elsewhere.example.org", 400)):
        with pytest.raises(urllib.error.HTTPError) as caught:
            browser.get(path, Host=host)
        with caught.value as answer:
            assert answer.code == status
            assert "Traceback" not in answer.read().decode()


def _make_case(here: Composed) -> None:
    files = {"films.jsonl": DOCUMENTS, "template.json": '{"query": "#$query##"}', "ratings.csv": RATINGS}
    for name, text in files.items():
        (here.folder / name).write_text(text)
    here.run("relevancy", "createsuperuser", "--noinput", **ADMIN)
    here.run("relevancy", "load_documents", "embedded", "films", str(here.folder / "films.jsonl"))
    here.run("relevancy", "create_endpoint", "films", "embedded", "films")
    described = ["--template", str(here.folder / "template.json"), "--ratings", str(here.folder / "ratings.csv")]
    here.run("relevancy", "create_case", "Films", "--endpoint", "films", *described, "--scale", "0:3")


def _sign_in(browser: Browser) -> None:
    email, password = ADMIN["DJANGO_SUPERUSER_EMAIL"], ADMIN["DJANGO_SUPERUSER_PASSWORD"]
    page = browser.send("/login/", username=email, password=password)
    assert "Films" in page
