"""The wheel: built from the sources, installed into an empty environment, run from a folder that is not the repository."""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.live.servers import free_port

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("relevancy", "templates", "static", "docs", "pyproject.toml", "setup.py", "README.md")
OFFLINE = ("--no-deps", "--no-index", "--quiet", "--disable-pip-version-check")


@dataclass(frozen=True)
class Installation:
    """A virtual environment with the wheel, and a home directory of its own."""

    wheel: Path
    programs: Path
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("RELEVANCY_", "DJANGO_", "XDG_"))
        }
        kept.pop("PYTHONPATH", None)
        return {**kept, "HOME": str(self.home)}

    def start(self, folder: Path, *words: str) -> "subprocess.Popen[str]":
        """Starts `relevancy WORDS…` in a folder."""
        return subprocess.Popen(
            [str(self.programs / "relevancy"), *words],
            cwd=folder,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )


def run(*words: str | Path) -> None:
    """Runs a program and fails with its output."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """The wheel in a new environment. Dependencies come from the environment of the tests, so nothing is downloaded."""
    folder = tmp_path_factory.mktemp("wheel")
    sources = folder / "sources"
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, sources / name)
    pip = (sys.executable, "-m", "pip")
    run(*pip, "wheel", sources, "--no-build-isolation", *OFFLINE, "--wheel-dir", folder)
    (wheel,) = folder.glob("relevancy-*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    programs = folder / "venv" / "bin"
    run(*pip, "--python", programs / "python", "install", *OFFLINE, wheel)
    paths = sysconfig.get_paths()
    (site_packages,) = (folder / "venv" / "lib").glob("python3*/site-packages")
    (site_packages / "dependencies.pth").write_text(f"{paths['purelib']}\n{paths['platlib']}\n")
    (folder / "home").mkdir()
    yield Installation(wheel, programs, folder / "home")
    shutil.rmtree(folder)


def test_wheel_contains_every_file_of_the_pages_and_the_sample(installation: Installation) -> None:
    with zipfile.ZipFile(installation.wheel) as archive:
        packed = set(archive.namelist())
    expected = {
        "relevancy/" + str(path.relative_to(ROOT))
        for name in ("templates", "static", "docs")
        for path in (ROOT / name).rglob("*.*")
        if "decisions" not in path.parts
    } | {
        str(path.relative_to(ROOT))
        for path in (ROOT / "relevancy").rglob("*.*")
        if not {"__pycache__", "tests"} & set(path.parts)
    }
    assert expected - packed == set()
    assert {name.split("/")[0] for name in packed} == {
        "relevancy",
        f"relevancy-{version_of(installation.wheel)}.dist-info",
    }


def version_of(wheel: Path) -> str:
    return wheel.name.split("-")[1]


def test_demo_runs_from_any_folder(installation: Installation, tmp_path: Path) -> None:
    elsewhere, port = tmp_path / "elsewhere", free_port()
    elsewhere.mkdir()
    loading = installation.start(tmp_path, "demo", "--no-serve")
    output, _ = loading.communicate(timeout=120)
    assert loading.returncode == 0, output
    assert (installation.home / ".local/share/relevancy/var/relevancy.sqlite3").is_file()
    demo = installation.start(elsewhere, "demo", "--port", str(port))
    try:
        page = fetch(f"http://127.0.0.1:{port}/login/", demo)
        styles = re.findall(r'<link[^>]+href="(/static/[^"]+\.css)"', page)
        assert styles
        for style in styles:
            assert "{" in fetch(f"http://127.0.0.1:{port}{style}", demo)
    finally:
        demo.send_signal(signal.SIGINT)
        demo.communicate(timeout=20)
    assert not list(tmp_path.rglob("*.*"))  # neither run wrote to the folder it was started in


def fetch(url: str, server: "subprocess.Popen[str]", seconds: float = 60) -> str:
    """Returns a page, waiting for the server to start. Fails with the server's output if it ends."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + seconds
    while True:
        try:
            with opener.open(url, timeout=10) as response:
                return str(response.read().decode())
        except OSError:
            if server.poll() is not None:
                pytest.fail(server.communicate()[0])
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
