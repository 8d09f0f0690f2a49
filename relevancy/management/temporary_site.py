"""A site for one command: a database and a data folder that are deleted when it ends."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import connection, connections

from relevancy.models import User

EMAIL = "evaluate@site.invalid"


@contextmanager
def temporary_site() -> Iterator[User]:
    """Everything inside uses an empty SQLite database and an empty data folder. Yields an administrator.

    The database has the tables of the models, and no rows of migrations. The database of the settings is not opened.
    """
    before, data_dir = connections.settings["default"], settings.DATA_DIR
    connection_before = connections["default"]
    with tempfile.TemporaryDirectory(prefix="relevancy-") as folder:
        connections.settings["default"] = {
            **before,
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(Path(folder) / "site.sqlite3"),
            "CONN_MAX_AGE": 0,
            "OPTIONS": {"transaction_mode": "IMMEDIATE", "init_command": "PRAGMA synchronous=OFF"},
        }
        connections["default"] = connections.create_connection("default")
        settings.DATA_DIR = Path(folder)
        try:
            with connection.schema_editor() as editor:
                for model in apps.get_models():
                    editor.create_model(model)
            yield User.objects.create_superuser(EMAIL)
        finally:
            connections["default"].close()
            settings.DATA_DIR = data_dir
            connections.settings["default"] = before
            connections["default"] = connection_before
