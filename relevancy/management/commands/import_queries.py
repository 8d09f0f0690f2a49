"""`import_queries CASE queries.csv`"""

from collections.abc import Mapping
from contextlib import closing
from typing import IO, Any

from relevancy import tasks
from relevancy.formats.cells import MAX_STREAMED
from relevancy.formats.file_formats import FileKind
from relevancy.formats.queries import queries_import
from relevancy.formats.ratings import ratings_import
from relevancy.management.command import fail
from relevancy.management.files import ImportCommand
from relevancy.models import Case, User
from relevancy.wording import counted

from .import_ratings import import_source


class Command(ImportCommand):
    help = "Imports queries and their details into a case: one to a line, or CSV. If anything is wrong, nothing is imported."
    into_case = True
    kind = FileKind.QUERIES
    dry_run_help = "says what would be imported"
    owner_help = ""

    def import_file(self, file: IO[bytes], *, by: User, options: Mapping[str, Any]) -> None:
        case = options["case"]
        named = {"name": options["file"], "format": options["format"]}
        if long_list := ratings_import.open_long_list(file=file, max_bytes=MAX_STREAMED, **named):
            self._import_long_list(case, *long_list, by=by, is_dry_run=options["dry_run"])
            return
        source = queries_import.open_source(case=case, file=file, **named)
        for line, reason in source.errors or source.pasted.rejected:
            self.stderr.write(f"Line {line}: {reason}")
        if source.errors:
            fail("Nothing was imported. Correct these lines.")
        if options["dry_run"]:
            imported, stored = queries_import.preview_queries(case=case, source=source), ", nothing was stored"
        else:
            imported, stored = queries_import.import_queries(case=case, source=source, by=None), ""
            if imported.added or imported.changed:
                tasks.enqueue_book_rescore(case.book_id)
        self.write(f"Read as {imported.format}{stored}. {queries_import.describe_import(imported)}")

    def _import_long_list(
        self, case: Case, source: ratings_import.RatingsSource, lines: int, *, by: User, is_dry_run: bool
    ) -> None:
        """Imports a list that is too long for one transaction in parts; nobody can rate in the book meanwhile."""
        if is_dry_run:
            with closing(source.collect(case)) as content:
                self.write(f"Read as {source.format}, nothing was stored. {len(content):,} queries in {lines:,} lines.")
            return
        imported = import_source(self, case, source, by=by)
        self.write(f"Read as {source.format}. {counted(imported.queries, 'query', 'queries')} added.")
