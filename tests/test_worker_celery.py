"""Runs through Celery and a real Redis, worker and web being different processes."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RANKINGS = (
    "Query Text,Doc ID,Doc Position,title\nstar trek,a,1,One\nstar trek,b,2,Two\nstar wars,c,1,Three\nnothing,,,\n"
)


def _port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def broker(tmp_path: Path):
    program = shutil.which("redis-server")
    if program is None:
        if os.environ.get("CI") == "true":
            pytest.fail("redis-server is not installed (package redis-server).")
        pytest.skip("redis-server is not installed")
    port = _port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield f"redis://127.0.0.1:{port}/0"
    process.terminate()
    process.wait(timeout=10)


SCRIPT = """
import django
django.setup()
from relevancy import cases, endpoints, logs, queries, runs, tasks
from relevancy.models import User
owner = User.objects.create_superuser("a@example.com", "x")
endpoint = endpoints.create(name="file", engine="static", url="rankings.csv", by=owner)
case = cases.create(name="Case", owner=owner)
queries.add(case=case, texts=["star trek", "star wars", "nothing"])
attempt = runs.attempts.save(case=case, endpoint=endpoint, template="{}", by=owner)
with logs.within_request("abc123"):
    tasks.enqueue_run(runs.start(attempt=attempt, by=owner))
"""
LOOK = """
import django
django.setup()
from relevancy.models import Run
run = Run.objects.get()
print(run.status, run.done, run.rankings.count())
"""


def test_run_by_celery_worker_completes(broker: str, tmp_path: Path) -> None:
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "rankings.csv").write_text(RANKINGS)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("RELEVANCY_")},
        "DJANGO_SETTINGS_MODULE": "relevancy.settings",
        "RELEVANCY_ENV_FILE": os.devnull,
        "RELEVANCY_DEMO": "1",
        "RELEVANCY_DATA_DIR": str(tmp_path),
        "RELEVANCY_TASKS": "celery",
        "RELEVANCY_BROKER_URL": broker,
        "RELEVANCY_LOG": "json",
        "RELEVANCY_LOG_LEVEL": "INFO",
    }

    def python(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    python("-m", "relevancy", "migrate", "--verbosity", "0")
    python("-c", SCRIPT)
    log = tmp_path / "log"
    with log.open("w") as stderr:
        worker = subprocess.Popen(
            [sys.executable, "-m", "relevancy", "worker"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
        )
    try:
        for _ in range(60):
            seen = python("-c", LOOK)
            if seen.startswith("complete"):
                break
            time.sleep(0.5)
        assert seen == "complete 3 3"
    finally:
        worker.terminate()
        worker.wait(timeout=20)
    # As root, Celery writes a warning besides.
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    assert {line["request_id"] for line in lines if line.get("task") == "run_chunk"} == {"abc123"}
    assert "/MainProcess]" not in log.read_text()  # the form that Celery would give its lines
