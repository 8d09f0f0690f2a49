"""Stores a site of this version beside this file, from which later versions are upgraded: its backup and what people see of it.

    python -m relevancy.optional.backups.tests.upgrades.make

On SQLite, or on the PostgreSQL of RELEVANCY_DATABASE_URL. Used once for each version, on both; what is stored is never made again.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tests.environment  # noqa: F401 (before Django: it ignores the settings of this machine)
from relevancy.optional.backups.archives import open_archive
from relevancy.optional.backups.tests.test_backups import FILL, ON_POSTGRES, edit
from tests.processes import Site, site

FOLDER = Path(__file__).parent
SECRET_KEY = "upgrades-only-upgrades-only-upgrades-only-0123456789"  # credentials in the archives are encrypted with it
OLDEST_POSTGRES = 15  # which Relevancy supports: later programs read its dumps, but it does not read theirs
CONTENTS = "from relevancy.optional.backups.tests.upgrades import contents\n"


def see(here: Site, keys: dict[str, Any]) -> dict[str, Any]:
    """Returns what people see of a site that `fill` has filled, and what their work results in; the site is changed."""
    code = CONTENTS + (
        "keys = json.loads(sys.argv[1])\n"
        "print(json.dumps(contents.describe(**keys) | {'work': contents.work_on(case=keys['case'])}))"
    )
    seen: dict[str, Any] = here.ask(code, json.dumps(keys))
    return seen


def main() -> None:
    kind = "postgresql" if ON_POSTGRES else "sqlite"
    archive = FOLDER / f"{version('relevancy')}-{kind}.zip"
    with tempfile.TemporaryDirectory() as folder, site(Path(folder) / "site", RELEVANCY_SECRET_KEY=SECRET_KEY) as here:
        here.ask(FILL)
        keys = here.ask(CONTENTS + "print(json.dumps(contents.fill()))")
        backup = Path(folder) / "backup"
        made = here.run("backup", str(backup))
        if made.returncode:
            sys.exit(made.stderr)
        with open_archive(backup) as reader:
            client = reader.manifest.database.client
        if client > OLDEST_POSTGRES:
            sys.exit(
                f"pg_dump is version {client}. Make the archive with {OLDEST_POSTGRES}, so that every supported one reads it."
            )
        stored = {"keys": keys, "seen": see(here, keys)}
        edit(backup, archive)  # a quarter of the size: lists of tables in dumps are not compressed
    archive.with_suffix(".json").write_text(
        json.dumps(stored, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8"
    )
    print(f"{archive.name}: {archive.stat().st_size:,} bytes")  # noqa: T201


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "relevancy.settings")
    main()
