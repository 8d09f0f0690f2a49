"""What settings refuse, as a shell sees it: one sentence and exit status 2."""

import os
import stat
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

SECRET = "s" * 40
KEY = Fernet.generate_key().decode()


def run(folder: Path, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """`relevancy WORDS…` with these settings and no others."""
    return python(folder, "-m", "relevancy", *words, **variables)


def python(folder: Path, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Python with these settings and no others."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("RELEVANCY_", "DJANGO_"))}
    environment |= {"RELEVANCY_ENV_FILE": os.devnull, "RELEVANCY_DATA_DIR": str(folder)}
    environment |= {f"RELEVANCY_{name}": value for name, value in variables.items()}
    return subprocess.run(
        [sys.executable, *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"SECRET_KEY": "short"}, "RELEVANCY_SECRET_KEY"),
        ({"OIDC_ONLY": "1", "DEMO": "1"}, "RELEVANCY_OIDC_ISSUER"),
        (
            {"OIDC_ISSUER": "https://x", "OIDC_CLIENT_ID": "x", "WITHOUT": "single_sign_on", "DEMO": "1"},
            "single_sign_on",
        ),
        ({"SECRET_KEY": SECRET, "CREDENTIALS_KEY": f"{KEY} nonsense"}, "RELEVANCY_CREDENTIALS_KEY: key 2 of 2"),
        ({"SECRET_KEY": SECRET, "CREDENTIALS_KEY": "é"}, "RELEVANCY_CREDENTIALS_KEY: key 1 of 1"),
        ({"SECRET_KEY": SECRET, "ENDPOINT_HOSTS": "solr:8983 http://x"}, "RELEVANCY_ENDPOINT_HOSTS: "),
        ({"DEMO": "1", "HTTPS": "1"}, "RELEVANCY_DEMO=1 is for one machine"),
        ({"DEMO": "1", "ALLOWED_HOSTS": "relevancy.example.org"}, "RELEVANCY_DEMO=1 is for one machine"),
    ],
)
def test_unusable_settings_stop_the_start(tmp_path: Path, variables: dict[str, str], message: str) -> None:
    done = run(tmp_path, "migrate", **variables)
    assert (done.returncode, done.stderr.count("\n"), done.stderr.startswith("Error: ")) == (2, 1, True), done.stderr
    assert message in done.stderr


def test_demo_is_refused_with_the_settings_of_a_real_site(tmp_path: Path) -> None:
    done = run(tmp_path, "demo", "--no-serve", SECRET_KEY=SECRET)
    assert done.returncode == 2
    assert "RELEVANCY_SECRET_KEY" in done.stderr
    assert not (tmp_path / "relevancy.sqlite3").stat().st_size


def test_a_command_imports_no_library_that_only_some_need(tmp_path: Path) -> None:
    program = "import relevancy.__main__, sys; relevancy.__main__.main(); print(*sorted(sys.modules))"
    loaded = python(tmp_path, "-c", program, "check", SECRET_KEY=SECRET)
    assert loaded.returncode == 0, loaded.stderr
    modules = set(loaded.stdout.split())
    assert "relevancy.statistics" in modules
    assert not modules & {"scipy.stats", "elasticsearch", "opensearchpy"}


def test_sqlite_files_are_private(tmp_path: Path) -> None:
    done = run(tmp_path, "migrate", "--verbosity", "0", SECRET_KEY=SECRET)
    assert done.returncode == 0, done.stderr
    files = [*tmp_path.glob("relevancy.sqlite3*")]
    assert files
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_env_file_of_make_is_private(tmp_path: Path) -> None:
    root = Path(__file__).parents[1]
    (tmp_path / "Makefile").write_text((root / "Makefile").read_text())
    subprocess.run(["make", ".env", f"PYTHON={sys.executable}"], cwd=tmp_path, check=True, capture_output=True)
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600


def test_options_of_the_database_address_are_kept(tmp_path: Path) -> None:
    code = "from relevancy.settings import DATABASES; print({**DATABASES['default']['OPTIONS'], 'pool': None})"
    url = (
        "postgres://relevancy:x@localhost/relevancy?sslmode=verify-full&connect_timeout=3&options=-c%20search_path%3Dx"
    )
    done = python(tmp_path, "-c", code, SECRET_KEY=SECRET, DATABASE_URL=url)
    options = literal_eval(done.stdout)
    assert (options["sslmode"], options["connect_timeout"]) == ("verify-full", 3), done.stderr
    assert options["options"] == "-c jit=off -c search_path=x"
