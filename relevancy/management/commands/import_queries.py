"""`import_queries CASE queries.csv`"""

from collections.abc import Mapping
from typing import IO, Any

from relevancy import tasks
from relevancy.formats.file_formats import FileKind
from relevancy.formats.queries import queries_import
from relevancy.management.command import fail
from relevancy.management.files import ImportCommand
from relevancy.models import User


class Command(ImportCommand):
    help = "Imports queries and their details into a case: one to a line, or CSV. If anything is wrong, nothing is imported."
    into_case = True
    kind = FileKind.QUERIES
    dry_run_help = "says what would be imported"
    owner_help = ""

    def import_file(self, file: IO[bytes], *, by: User, options: Mapping[str, Any]) -> None:
        case = options["case"]
        source = queries_import.open_source(case=case, file=file, name=options["file"], format=options["format"])
        for line, reason in source.errors or source.pasted.rejected:
            self.stderr.write(f"Line {line}: {reason}")
        if source.errors:
            fail("Nothing was imported. Correct these lines.")
        if options["dry_run"]:
            imported, stored = queries_import.preview_queries(case=case, source=source), ", nothing was stored"
        else:
            imported, stored = queries_import.import_queries(case=case, source=source, by=None), ""
            if imported.added or imported.changed:
                tasks.send(tasks.rescore_case, case.pk)
        self.write(f"Read as {imported.format}{stored}. {queries_import.describe_import(imported)}")
