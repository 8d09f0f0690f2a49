"""The environment of a process that works on the site of a benchmark, independent of the developer's settings."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


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
