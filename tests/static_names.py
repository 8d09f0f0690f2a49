"""Pages without collected static files, for sites of tests and benchmarks that no browser visits."""

import json
from pathlib import Path

from django.contrib.staticfiles.finders import get_finders


def name_static_files(folder: Path) -> None:
    """Writes the manifest that pages need into `STATIC_ROOT`. It names every file by its own name, and there are no files: collecting
    and compressing them takes longer than such a site is used."""
    names = {name: name for finder in get_finders() for name, _ in finder.list([])}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "staticfiles.json").write_text(json.dumps({"paths": names, "version": "1.1", "hash": ""}))
