"""`backup FILE`: database and data folder in one archive, while the site works."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from relevancy.optional.backups import backups
from relevancy.optional.backups.command import BackupCommand


class Command(BackupCommand):
    help = "Writes database and data folder into one archive, while the site works."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="a new file, outside the data folder")
        parser.add_argument("--overwrite", action="store_true", help="replace a file of this name")

    def call(self, **options: Any) -> backups.Summary:
        path = Path(options["file"])
        summary = backups.create(path=path, overwrite=options["overwrite"])
        self.write(f"{path}: {path.stat().st_size:,} bytes, {self.describe(summary)}")
        self.write(
            "Keep RELEVANCY_SECRET_KEY and RELEVANCY_CREDENTIALS_KEY elsewhere: they are not in the archive, and without them the "
            "credentials of endpoints in it cannot be read. Keep the archive secret, too: it has everything else that this site knows."
        )
        return summary
