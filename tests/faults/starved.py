"""Faults that kill nothing: a database that takes no writes, full disks, clocks that jump, engines that misbehave during a run."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tests.faults import checks
from tests.faults.servers import WORKERS
from tests.faults.storm import Result, say, settle, until_rated, working
from tests.faults.work import LARGE_IMPORT, Importing, Running, World
from tests.slow_server import hang, slow_server

FAULT_SECONDS = 6.0  # for which the site does without
DISK = "1g"  # of the cluster and of the data folder, where they have a file system of their own
HOUR = 3600
_READ_ONLY = "ALTER DATABASE postgres SET default_transaction_read_only = {}"
_END_CONNECTIONS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
"""
RUN_ENDED = """
import time
owner = User.objects.get(name="Owner")
case = make_case([f"faulty {n}" for n in range(30)], owner=owner)
endpoint = make_endpoint(owner, engine="solr", url=sys.argv[1], parallel=4, options={"read_timeout": 2.0, "connect_timeout": 2.0})
attempt = make_attempt(case, endpoint, template="q=#$query##", fields="id:id title:title")
run = runs.start(attempt=attempt, by=owner)
tasks.enqueue_run(run)
begun = time.monotonic()
while run.is_active and time.monotonic() - begun < float(sys.argv[2]):
    time.sleep(0.2)
    run.refresh_from_db()
print(json.dumps([time.monotonic() - begun, run.status, run.reason]))
"""


def read_only(world: World) -> Result:
    """A database that takes no writes, as after a fail-over to a replica: ratings are sent again."""
    result = Result("database read-only")

    def switch(value: str) -> None:
        with world.site.postgres.connect() as connection:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute(_READ_ONLY.format(value))
            connection.execute(_END_CONNECTIONS)

    def check_pages() -> list[str]:
        client = world.client(world.made["owner"], of_page=True)
        status = client.send("GET", f"/cases/{world.made['case']}/")
        # A page whose scores are outdated marks that a worker shall compute them.
        return (
            [] if status in (200, 503) else [f"the page of the case answers {status} while the database is read-only"]
        )

    return _during(world, result, lambda: switch("on"), lambda: switch("off"), check_pages)


def full_disk(world: World, folder: Path, name: str) -> Result:
    """A disk without a free byte: what was acknowledged is there, and the rest is sent again once there is room. folder: on it."""
    ballast = folder / "ballast"

    def make_room() -> None:
        ballast.unlink()
        world.site.postgres.start(may_run=True)  # it has ended if it could not write its log of changes

    return _during(world, Result(f"{name} full"), lambda: _fill(ballast), make_room)


def _fill(ballast: Path) -> None:
    """Writes a file until there is not a byte left."""
    with ballast.open("wb", buffering=0) as file:
        for size in (1_000_000, 1):
            with suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass


def full_data_folder(world: World, folder: Path) -> Result:
    """No room for the file of a large import: it is refused, and can be sent again."""
    importing = Importing(world)
    importing.prepare()
    result = Result("disk of the data folder full")
    client = world.client(world.made["owner"])
    ballast = folder / "ballast"

    def send() -> int:
        prefix = f"full{world.chance.randrange(10**9)}-"
        rows = "".join(f"import {n % 10},{prefix}{n},{n % 4}\n" for n in range(LARGE_IMPORT))
        content = {"file": ("ratings.csv", "query,docid,rating\n" + rows, "text/csv")}
        importing.files[prefix] = (LARGE_IMPORT, False)
        return client.send("POST", f"/api/v1/cases/{world.made['import_case']}/import/ratings", fields=content)

    _fill(ballast)
    refused = send()
    ballast.unlink()
    begun = time.monotonic()
    accepted = send()
    seconds, problems = settle(world, importing)
    if refused != 503 or accepted != 200:
        problems.append(f"a large import was answered with {refused}, and with {accepted} when there was room again")
    result.add(time.monotonic() - begun, problems)
    result.remark = f"work settled after {seconds:.1f} s"
    return result


def clock_jump(world: World, offset: Path) -> Result:
    """The clock of all processes jumps by an hour, forth and back, during runs; a worker dies meanwhile."""
    result = Result("clock jumps by an hour, forth and back")
    running = Running(world)
    with working(world, running):
        time.sleep(2)
        offset.write_text(f"{HOUR}", encoding="ascii")
        time.sleep(FAULT_SECONDS)
        until_rated(world)
        for number in range(1, WORKERS + 1):
            world.site.processes[f"worker {number}"].kill()
        offset.write_text("0", encoding="ascii")
        for number in range(1, WORKERS + 1):
            world.site.processes[f"worker {number}"].start()
        time.sleep(FAULT_SECONDS)
        until_rated(world)
    seconds, problems = settle(world, running)
    result.add(seconds, problems)
    return result


def moved_heartbeats(world: World) -> Result:
    """Where clocks cannot be moved: workers die, and what they have stored is an hour ahead, as after a clock that was wrong."""
    result = Result("stored times an hour ahead of the clock")
    client = world.client(world.made["owner"])
    client.send_json("POST", f"/api/v1/cases/{world.made['run_case']}/attempts/1/runs", {})
    time.sleep(1)
    for number in range(1, WORKERS + 1):
        world.site.processes[f"worker {number}"].kill()
    world.site.site.ask(checks.MOVE_TIMES, "60")
    for number in range(1, WORKERS + 1):
        world.site.processes[f"worker {number}"].start()
    seconds, problems = settle(world)
    result.add(seconds, problems)
    return result


@contextmanager
def wrong_certificate(folder: Path) -> Iterator[str]:
    """The address of a server with a certificate that nobody has signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "faults")])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(days=1), now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(secret + built.public_bytes(Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    with slow_server(hang, "https", context) as server:
        yield server.url


def engine_faults(world: World) -> list[Result]:
    """Runs on engines that misbehave: each ends within two minutes and says why. `tests/contracts/http_contract.py` has each of these
    faults for a single search."""
    addresses = {
        "engine drips bytes": f"{world.site.engine}/solr/drip",
        "engine sends half a body": f"{world.site.engine}/solr/half",
        "engine sends 10 GB": f"{world.site.engine}/solr/endless",
        "engine redirects to itself": f"{world.site.engine}/solr/redirect",
        "engine is not there": "http://127.0.0.1:9/solr/none",
    }
    with wrong_certificate(world.site.folder) as url:
        addresses["engine with a wrong certificate"] = f"{url}/solr/tls"
        return [_engine_fault(world, name, url) for name, url in addresses.items()]


def _engine_fault(world: World, name: str, url: str) -> Result:
    seconds, status, reason = world.site.site.ask(RUN_ENDED, url, str(checks.SETTLE_SECONDS), seconds=240)
    result = Result(name, remark=f"{status}: {reason[:120]}".replace("|", "/").replace("\n", " "))
    problems = [] if status in ("failed", "incomplete") and reason else [f"the run is {status}: {reason!r}"]
    result.add(seconds, problems)
    say(f"{name}: {result.remark}")
    return result


def _during(
    world: World,
    result: Result,
    begin: Callable[[], Any],
    end: Callable[[], Any],
    check: Callable[[], list[str]] = list,
) -> Result:
    """Raters rate, and a case runs unless the test hurries, while something is missing for some seconds."""
    activities = [] if world.hurries else [Running(world)]
    with working(world, *activities):
        time.sleep(1)
        before = dict(world.answers.by_status)
        begin()
        try:
            time.sleep(FAULT_SECONDS)
            problems = check()
        finally:
            end()
        begun = time.monotonic()
        until_rated(world)
        rated = time.monotonic() - begun
    seconds, found = settle(world, *activities)
    refused = {status: count - before.get(status, 0) for status, count in world.answers.by_status.items()}
    if not refused.get(503):
        problems.append(f"nothing was refused: {refused}")
    result.add(rated, problems + found)
    result.remark = f"{refused.get(503, 0)} answers 503; work settled after {seconds:.1f} s"
    say(f"{result.fault}: rating again after {rated:.1f} s; {result.remark}")
    return result


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """Mounts a small file system at a folder, if this user may. Yields whether it has."""
    folder.mkdir(parents=True)
    line = ["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=755", "tmpfs", str(folder)]
    is_mounted = os.getuid() == 0 and subprocess.run(line, check=False, stderr=subprocess.DEVNULL).returncode == 0
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=False)


def compile_clock(folder: Path) -> str:
    """Compiles the library that moves the clock of a process; empty without a C compiler."""
    compiler, library = shutil.which("cc"), folder / "clock.so"
    if compiler is None:
        return ""
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", library, Path(__file__).with_name("clock.c"), "-ldl"], check=True
    )
    return str(library)


def movable_clock(world: World, offset: Path, library: str) -> None:
    """Starts the web server and the workers again, with a clock that goes as a file says."""
    offset.write_text("0", encoding="ascii")
    for name, process in world.site.processes.items():
        if name == "web" or name.startswith("worker"):
            process.environment = process.environment | {"LD_PRELOAD": library, "CLOCK_OFFSET_FILE": str(offset)}
            world.site.kill(name)
    world.site.wait_until_ready()


def every(world: World, disk: Path | None, data: Path | None) -> list[Result]:
    """All of these faults. disk, data: where the database and the data folder have a file system of their own."""
    results = [read_only(world)]
    if disk is None or data is None:
        results.append(Result("disks full", remark="not tested: a small file system can be mounted by root only"))
    else:
        results += [full_disk(world, disk, "disk of the database"), full_data_folder(world, data)]
    results += engine_faults(world)
    if library := compile_clock(world.site.folder):
        offset = world.site.folder / "clock"
        movable_clock(world, offset, library)
        results.append(clock_jump(world, offset))
    else:
        results.append(Result("clock jumps by an hour", remark="not tested: there is no C compiler"))
    results.append(moved_heartbeats(world))
    return results
