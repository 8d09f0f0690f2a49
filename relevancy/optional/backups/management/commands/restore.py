"""`restore FILE`: makes this site what it was when the archive was written."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from relevancy.optional.backups import backups
from relevancy.optional.backups.command import BackupCommand


class Command(BackupCommand):
    help = "Restores an archive of `backup` into an empty site. Stop web server and workers before."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="an archive of `backup`")
        parser.add_argument("--replace", action="store_true", help="delete everything that the site has")

    def call(self, **options: Any) -> backups.Summary:
        summary = backups.restore(path=Path(options["file"]), replace=options["replace"])
        self.write(f"Restored: {self.describe(summary)}")
        return summary
