"""How long the site answers while it is abused: `/healthz` and one rating, next to one attack after the other. Loopback only.

    python benchmarks/abuse.py [--queries N] [--seconds S] [--only NAME …] [--rows N] [--quick] [--check]

The site is served as `demo` serves it (2 web processes, a worker), on SQLite or on the server that RELEVANCY_DATABASE_URL names.
Attacks, each for S seconds (20 unless given):

    nothing   only the rater, for comparison
    bodies    200 clients send a form byte by byte (point 10 of issue 10)
    readers   100 clients ask for the largest static file and do not read it
    engine    8 editors test a connection to an engine that drips its answer, byte by byte (9)
    sign-in   8 clients try passwords of one account as fast as they can, in the sign-in page and the admin site (13)
    members   8 clients upload a file of 45 MB with members that no format knows (N2 of issue 22)
    rankings  8 clients upload a file of 50 MB with rankings
    import    `import_ratings` into another book with N rows (1,000,000 unless given); it ends with the import, or after 10 minutes
    scripts   a run scored by 5 scorers that never end, and 4 users who preview such a scorer (12)

Meanwhile one client asks for `/healthz` and another one rates documents, five times a second each. Target: with every attack, the
95th percentile of both is at most 1 s, and no request fails. Run it on a machine that does nothing else.
"""

from __future__ import annotations

import itertools
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import quantiles
from typing import Any
from urllib.parse import urlencode

import fresh_site
import options
import raters
import urllib3
from django.test import Client
from invented import query_texts
from large_case import make_case
from own_environment import ROOT, environment

from relevancy import endpoints, runs, scorers, tasks
from relevancy.models import Case, Scorer, ScorerDefinition, User

TOKEN, PAUSE, TARGET = raters.TOKEN, 0.2, 1.0
ENDLESS = "while (true) {} setScore(1);"
Stop = threading.Event


def main() -> int:
    line = options.parser(__doc__, 500)
    line.add_argument("--seconds", type=float, default=20.0, metavar="S")
    line.add_argument("--rows", type=int, default=1_000_000, metavar="N")
    line.add_argument("--only", nargs="*", choices=sorted(ATTACKS), default=list(ATTACKS), metavar="NAME")
    chosen = options.read(line, 40)
    if chosen.quick:
        chosen.seconds, chosen.rows = 1.0, 2000
    owner = User.objects.create_superuser("owner@example.com", "secret of the owner")
    case = make_case("large", query_texts(chosen.queries), owner)
    people = raters.make_raters(case, 9)
    collect = [sys.executable, "-m", "relevancy", "collectstatic", "--noinput", "--verbosity", "0"]
    subprocess.run(collect, env=environment(fresh_site.DATA), cwd=ROOT, check=True)
    good = True
    with raters.served() as address:
        # Every thread has a database connection then.
        measure("nothing", Site(address, case, people, chosen.rows), min(2.0, chosen.seconds))
        for name in chosen.only:
            site = Site(address, case, people, chosen.rows)
            good &= measure(name, site, chosen.seconds)
    return options.status(
        chosen, options.verdict(good, f"p95 of both at most {TARGET:g} s with every attack, nothing fails")
    )


class Site:
    """What an attack needs to know."""

    def __init__(self, address: str, case: Case, people: list[raters.Rater], rows: int) -> None:
        self.address, self.case, self.people, self.rows = address, case, people, rows
        self.port = int(address.rpartition(":")[2])

    def connect(self, request: bytes) -> socket.socket:
        """A connection on which the beginning of a request has been sent."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        connection.sendall(request)
        return connection


def measure(name: str, site: Site, seconds: float) -> bool:
    """Print how long both requests take during an attack. Returns whether the target was met."""
    times: dict[str, list[float]] = {"healthz": [], "rating": []}
    failures: list[str] = []
    stop = threading.Event()
    work = site.people[0].work

    def health(pool: urllib3.PoolManager) -> int:
        return pool.request("GET", f"{site.address}/healthz", retries=False, timeout=60.0).status

    def rating(pool: urllib3.PoolManager) -> int:
        path, doc_id = next(work)
        fields = {"doc_id": doc_id, "value": str(next(GRADES))}
        return pool.request(
            "POST", f"{site.address}{path}", fields=fields, headers=site.people[0].headers, retries=False, timeout=60.0
        ).status

    with ATTACKS[name](site) as attack:
        threads = [
            threading.Thread(target=_ask, args=(ask, times[key], failures, stop))
            for key, ask in (("healthz", health), ("rating", rating))
        ]
        for thread in threads:
            thread.start()
        attack(seconds)
        stop.set()
        for thread in threads:
            thread.join()
    figures = {
        key: quantiles(durations, n=20, method="inclusive")[-1] if len(durations) > 1 else 60.0
        for key, durations in times.items()
    }
    described = ", ".join(f"{key} p95 {figures[key]:.3f} s max {max(times[key], default=60):.3f} s" for key in times)
    print(
        f"{name:8} {described}, {len(failures)} of {sum(map(len, times.values())):,} failed; invented data",
        *failures[:2],
        flush=True,
    )
    return not failures and max(figures.values()) <= TARGET


def _ask(ask: Callable[[urllib3.PoolManager], int], times: list[float], failures: list[str], stop: Stop) -> None:
    with urllib3.PoolManager(1) as pool:
        while not stop.is_set():
            started = time.perf_counter()
            try:
                if (status := ask(pool)) != 200:
                    failures.append(f"status {status}")
            except urllib3.exceptions.HTTPError as error:
                failures.append(repr(error))
            times.append(time.perf_counter() - started)
            stop.wait(PAUSE)


@contextmanager
def nothing(site: Site) -> Iterator[Callable[[float], Any]]:
    yield time.sleep


@contextmanager
def bodies(site: Site) -> Iterator[Callable[[float], Any]]:
    form = (
        f"POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: csrftoken={TOKEN}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\na"
    ).encode()
    with ExitStack() as stack:
        connections = [stack.enter_context(site.connect(form)) for _ in range(200)]

        def drip(seconds: float) -> None:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                for number, connection in enumerate(connections):
                    try:
                        connection.sendall(b"a")
                    except OSError:  # refused after a while: connect again
                        connections[number] = stack.enter_context(site.connect(form))
                time.sleep(0.5)

        yield drip


@contextmanager
def readers(site: Site) -> Iterator[Callable[[float], Any]]:
    path = max((ROOT / "static").rglob("*.js"), key=lambda file: file.stat().st_size).relative_to(ROOT).as_posix()
    with ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(site.connect(f"GET /{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()))
        yield time.sleep


@contextmanager
def engine(site: Site) -> Iterator[Callable[[float], Any]]:
    """A server that sends a byte of its status line every half second, and never ends."""
    stop = threading.Event()

    def answer(connection: socket.socket) -> None:
        with connection:
            for byte in itertools.cycle(b"HTTP/1.1 200 OK\r\nX-A: "):
                try:
                    connection.sendall(bytes([byte]))
                except OSError:
                    return
                if stop.wait(0.5):
                    return

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/solr/films"
        dripping = endpoints.create(name="Dripping", engine="solr", url=url, by=site.case.owner)
        owner = _session(site.case.owner)
        path = f"/endpoints/{dripping.pk}/try/"
        with _clients(8, lambda pool: _post(pool, f"{site.address}{path}", owner, {"text": "star"})):
            yield time.sleep
        stop.set()


@contextmanager
def scripts(site: Site) -> Iterator[Callable[[float], Any]]:
    owner, case = site.case.owner, site.case
    endless: list[Scorer] = []
    for number in range(5):
        definition = ScorerDefinition(script=f"{ENDLESS} // {number}", scale=case.book.scale, output_range="100")
        endless.append(scorers.create(name=f"Endless {number}", definition=definition, by=owner))
    for scorer in endless:
        scorers.add_scorer(case=case, scorer=scorer)
    run = runs.start(attempt=case.attempts.order_by("-number").first(), by=owner)
    tasks.enqueue_run(run)
    headers, data = _session(owner), {"scorer": str(endless[0].pk), "on": "typed", "grades": "1 2"}
    with _clients(4, lambda pool: _post(pool, f"{site.address}/scorers/try/", headers, data)):
        yield time.sleep
    runs.cancel(run=run)


@contextmanager
def sign_in(site: Site) -> Iterator[Callable[[float], Any]]:
    headers = {"cookie": f"csrftoken={TOKEN}", "x-csrftoken": TOKEN}
    numbers = itertools.count()

    def guess(pool: urllib3.PoolManager) -> None:
        path = ("/login/", "/admin/login/")[next(numbers) % 2]
        data = {"username": site.case.owner.email, "password": f"guess {next(numbers)}"}
        _post(pool, f"{site.address}{path}", headers, data)

    with _clients(8, guess):
        yield time.sleep


@contextmanager
def members(site: Site) -> Iterator[Callable[[float], Any]]:
    content = b'{"format":"relevancy/1",' + b'"a":1,' * 7_500_000 + b'"b":1}'
    with _uploading(site, "/cases/import/", content):
        yield time.sleep


@contextmanager
def rankings(site: Site) -> Iterator[Callable[[float], Any]]:
    rows = b"".join(b"query %d,document-%d,%d\n" % (row // 100, row, row % 100 + 1) for row in range(1_500_000))
    with _uploading(site, f"/cases/{site.case.pk}/files/import-runs/", b"query,docid,position\n" + rows[: 49 * 2**20]):
        yield time.sleep


@contextmanager
def _uploading(site: Site, path: str, content: bytes) -> Iterator[None]:
    """Eight clients upload a file as soon as the one before is answered."""
    headers = _session(site.case.owner)
    body, kind = urllib3.encode_multipart_formdata({"do": "preview", "file": ("file", content)})
    statuses: Counter[int] = Counter()

    def upload(pool: urllib3.PoolManager) -> None:
        own = {**headers, "content-type": kind}
        statuses[
            pool.request("POST", site.address + path, body=body, headers=own, retries=False, timeout=120.0).status
        ] += 1

    with _clients(8, upload):
        yield
    print(f"         uploads by status: {dict(statuses)}")


@contextmanager
def importing(site: Site) -> Iterator[Callable[[float], Any]]:
    own = environment(fresh_site.DATA)
    case = make_case("imported", query_texts(1), site.case.owner)  # the book is closed meanwhile
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.csv"
        with path.open("w") as file:
            file.write("query,docid,rating\n")
            for number in range(site.rows):
                file.write(f"imported {number // 100},document-{number % 100},{number % 2 + 1}\n")
        command = [sys.executable, "-m", "relevancy", "import_ratings", str(case.pk), str(path)]

        def run(seconds: float) -> None:
            started = time.monotonic()
            done = subprocess.run(command, env=own, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
            print(f"         import: {time.monotonic() - started:.1f} s, {(done.stdout + done.stderr).strip()[-200:]}")

        yield run


def _session(user: User) -> dict[str, str]:
    client = Client()
    client.force_login(user)
    cookies = f"sessionid={client.cookies['sessionid'].value}; csrftoken={TOKEN}"
    return {"cookie": cookies, "x-csrftoken": TOKEN, "hx-request": "true"}


def _post(pool: urllib3.PoolManager, url: str, headers: dict[str, str], data: dict[str, str]) -> None:
    form = {**headers, "content-type": "application/x-www-form-urlencoded"}
    pool.request("POST", url, body=urlencode(data), headers=form, retries=False, timeout=30.0, redirect=False)


@contextmanager
def _clients(count: int, ask: Callable[[urllib3.PoolManager], None]) -> Iterator[None]:
    """Clients that ask again as soon as they are answered."""
    stop = threading.Event()

    def run() -> None:
        with urllib3.PoolManager(1) as pool:
            while not stop.is_set():
                try:
                    ask(pool)
                except urllib3.exceptions.HTTPError:
                    stop.wait(0.1)

    threads = [threading.Thread(target=run, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(35)


GRADES = itertools.cycle((1, 2))
ATTACKS: dict[str, Callable[[Site], Any]] = {
    "nothing": nothing,
    "bodies": bodies,
    "readers": readers,
    "engine": engine,
    "sign-in": sign_in,
    "members": members,
    "rankings": rankings,
    "import": importing,
    "scripts": scripts,  # last: its scorers stay on the case
}

if __name__ == "__main__":
    sys.exit(main())
