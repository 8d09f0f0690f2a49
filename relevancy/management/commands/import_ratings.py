"""`import_ratings CASE ratings.csv`"""

from collections.abc import Mapping
from typing import IO, Any

from django.core.management.base import BaseCommand

from relevancy import tasks
from relevancy.formats.cells import MAX_STREAMED
from relevancy.formats.file_formats import FileKind
from relevancy.formats.ratings import ratings_import
from relevancy.management.files import ImportCommand
from relevancy.management.progress import Progress
from relevancy.models import Case, User
from relevancy.wording import counted


def import_source(
    command: BaseCommand, case: Case, source: ratings_import.RatingsSource, *, by: User
) -> ratings_import.ImportedRatings:
    """Imports a file with a bar. A step of it: see `RatingImport.steps`."""
    shown = Progress(command.stderr, "steps")
    try:
        return ratings_import.import_ratings(
            case=case,
            source=source,
            by=by,
            origin="command",
            report=lambda record: shown.show(record.done, record.steps),
        )
    finally:
        shown.close()


class Command(ImportCommand):
    help = "Imports ratings into a case, from CSV, TREC qrels and other formats. If anything is wrong, nothing is imported."
    into_case = True
    kind = FileKind.RATINGS
    dry_run_help = ""
    owner_help = "the rater; default: the case's owner"

    def import_file(self, file: IO[bytes], *, by: User, options: Mapping[str, Any]) -> None:
        case = options["case"]
        source = ratings_import.open_source(
            case=case, file=file, name=options["file"], format=options["format"], max_bytes=MAX_STREAMED
        )
        imported = import_source(self, case, source, by=by)
        if imported.changed:
            tasks.enqueue_book_rescore(case.book_id)
        self.write(
            f"{counted(imported.ratings, 'rating')} read as {source.format}: {imported.changed:,} new or changed. "
            f"{counted(imported.queries, 'query', 'queries')} added."
        )
