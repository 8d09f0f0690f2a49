"""A separate site for a benchmark. Import it first: settings, data directory and database are temporary and deleted at the end.

The database is a SQLite file, or a separate database (`test_…`) on the server that RELEVANCY_DATABASE_URL names. If MIGRATED_DATABASE
names a SQLite file, it is copied: several benchmarks one after the other need to migrate only once.
Static files are not collected: pages name them without their hashes.
"""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from own_environment import ROOT, environment

DATA = Path(tempfile.mkdtemp(prefix="relevancy-benchmark-"))


def _begin() -> None:
    atexit.register(shutil.rmtree, DATA, ignore_errors=True)
    migrated = os.environ.pop("MIGRATED_DATABASE", "")
    own = environment(DATA)
    os.environ.clear()
    os.environ.update(own)
    sys.path.insert(0, str(ROOT))
    django.setup()
    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.STATIC_ROOT = str(ROOT / "static")
    if connection.vendor == "postgresql":
        name = connection.settings_dict["NAME"]
        connection.creation.create_test_db(verbosity=0, autoclobber=True)
        atexit.register(connection.creation.destroy_test_db, name, verbosity=0)
    elif migrated:
        shutil.copy(migrated, str(connection.settings_dict["NAME"]))
    else:
        call_command("migrate", verbosity=0)


_begin()
