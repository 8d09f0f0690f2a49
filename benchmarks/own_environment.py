"""Processes that work on the site of a benchmark, independent of the developer's settings, and what they needed."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A process that is started from a large one has its peak (wait4 reports that of the memory before `exec`), so a small one starts it.
_STARTER = """
import json, os, resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
os.write(int(sys.argv[1]), json.dumps([status, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]).encode())
"""


@dataclass(frozen=True)
class Used:
    """What a process needed. seconds: from start to end; cpu: seconds of CPU; megabytes: the peak of its memory."""

    seconds: float
    cpu: float
    megabytes: float


def run_command(words: list[str], environment: dict[str, str], output: Path | None = None) -> Used:
    """Runs `relevancy WORDS…` and returns what it needed. Raises `SystemExit` if it fails.

    output: a file to which it writes what it prints.
    """
    reading, writing = os.pipe()
    begun = time.perf_counter()
    with os.fdopen(reading, "rb") as report, Path(output or os.devnull).open("ab") as printed:
        subprocess.run(
            [sys.executable, "-c", _STARTER, str(writing), sys.executable, "-m", "relevancy", *words],
            env=environment,
            pass_fds=[writing],
            stdout=printed if output else None,
            stderr=subprocess.STDOUT if output else None,
            check=True,
        )
        seconds = time.perf_counter() - begun
        os.close(writing)
        status, cpu, megabytes = json.load(report)
    if status:
        output_text = output.read_text(encoding="utf-8") if output else ""
        raise SystemExit(f"{' '.join(words)} ended with {status}.\n{output_text}")
    return Used(seconds, cpu, megabytes)


def environment(data: Path) -> dict[str, str]:
    """Returns the environment for a site in the folder `data`; of the developer's settings, only RELEVANCY_DATABASE_URL is
    kept."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("RELEVANCY_") or name == "RELEVANCY_DATABASE_URL"
    }
    return {
        **kept,
        "DJANGO_SETTINGS_MODULE": "relevancy.settings",
        "RELEVANCY_ENV_FILE": os.devnull,
        "RELEVANCY_SECRET_KEY": "benchmarks-only-benchmarks-only-benchmarks-only",
        "RELEVANCY_DATA_DIR": str(data),
        "RELEVANCY_ENDPOINT_HOSTS": "127.0.0.0/8",
    }
