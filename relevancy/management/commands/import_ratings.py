"""`import_ratings CASE ratings.csv`"""

import sys
from collections.abc import Mapping
from typing import IO, Any

from relevancy import tasks
from relevancy.formats.file_formats import FileKind
from relevancy.formats.ratings import ratings_import
from relevancy.management.files import ImportCommand
from relevancy.models import RatingImport, User
from relevancy.wording import counted


class Command(ImportCommand):
    help = "Imports ratings into a case, from CSV, TREC qrels and other formats. If anything is wrong, nothing is imported."
    into_case = True
    kind = FileKind.RATINGS
    dry_run_help = ""
    owner_help = "the rater; default: the case's owner"
    _tenths = 0

    def import_file(self, file: IO[bytes], *, by: User, options: Mapping[str, Any]) -> None:
        case = options["case"]
        source = ratings_import.open_source(case=case, file=file, name=options["file"], format=options["format"])
        imported = ratings_import.import_ratings(case=case, source=source, by=by, origin="command", report=self._report)
        if self._tenths and sys.stderr.isatty():
            self.stderr.write("")
        if imported.changed:
            tasks.enqueue_book_rescore(case.book_id)
        self.write(
            f"{counted(imported.ratings, 'rating')} read as {source.format}: {imported.changed:,} new or changed. "
            f"{counted(imported.queries, 'query', 'queries')} added."
        )

    def _report(self, record: RatingImport) -> None:
        """Shows how far a large import is: by a bar on a terminal, otherwise by a line for each tenth."""
        tenths, self._tenths = self._tenths, record.percent // 10
        if sys.stderr.isatty():
            self.stderr.write(f"\r{'█' * (record.percent // 5):░<20} {record.percent} %", ending="")
        elif self._tenths > tenths:
            self.stderr.write(f"{record.done:,} of {record.total:,} ratings ({record.percent} %)")
