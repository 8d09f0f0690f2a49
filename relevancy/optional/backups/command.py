"""The base of both commands."""

import sqlite3
from typing import Any

from django.db import DatabaseError

from relevancy.management.command import Command, fail
from relevancy.wording import counted

from .backups import Summary
from .errors import BackupError


class BackupCommand(Command):
    """Reports errors in one line, and warnings on stderr. Subclasses implement `call`."""

    def run(self, **options: Any) -> None:
        try:
            summary = self.call(**options)
        except BackupError as error:
            fail(str(error))
        except (OSError, sqlite3.Error, DatabaseError) as error:
            reason = getattr(error, "strerror", None) or " ".join(str(error).split())
            hint = " If the site is running, stop web server and workers." if isinstance(error, DatabaseError) else ""
            fail(f"{reason.rstrip('.')}. Nothing was changed.{hint}")
        for warning in summary.warnings:
            self.stderr.write(f"Warning: {warning}")

    def call(self, **options: Any) -> Summary:
        raise NotImplementedError

    def describe(self, summary: Summary) -> str:
        """Returns what is in an archive, and of when."""
        manifest = summary.manifest
        size = manifest.members[manifest.database.member].size
        files = counted(len(manifest.files), "file")
        return f"made at {manifest.made_at} by version {manifest.version}; a database of {size:,} bytes, {files} of the data folder."
