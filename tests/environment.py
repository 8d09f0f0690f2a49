"""Loaded before Django: tests never read a developer's own .env, and never write outside a directory of their own."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_data = tempfile.mkdtemp(prefix="relevancy-tests-")
(Path(_data) / "collected").mkdir()  # WhiteNoise warns where collectstatic has not run
atexit.register(shutil.rmtree, _data, ignore_errors=True)
for name in [name for name in os.environ if name.startswith("RELEVANCY_") and name != "RELEVANCY_LIVE"]:
    if name not in {"RELEVANCY_DATABASE_URL"}:
        del os.environ[name]
os.environ.update(
    RELEVANCY_ENV_FILE=os.devnull,
    RELEVANCY_SECRET_KEY="tests-only-tests-only-tests-only-tests-only-0123456789",
    RELEVANCY_DATA_DIR=_data,
    RELEVANCY_TASKS="immediate",
    RELEVANCY_ENDPOINT_HOSTS="127.0.0.0/8",
)
