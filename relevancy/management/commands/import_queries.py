"""`import_queries CASE queries.csv`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import tasks
from relevancy.formats import file_formats
from relevancy.formats.queries import queries_import
from relevancy.management.command import Command as Base
from relevancy.management.command import fail, find_case, open_binary

FORMATS = [file_format.name for file_format in file_formats.of_kind(file_formats.FileKind.QUERIES)]


class Command(Base):
    help = "Imports queries and their details into a case: one to a line, or CSV. If anything is wrong, nothing is imported."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", help="id or exact name")
        parser.add_argument("file", help="- is stdin")
        parser.add_argument(
            "--format", choices=[*FORMATS, "auto"], default="auto", help="default: recognised by the file"
        )
        parser.add_argument("--dry-run", action="store_true", help="says what would be imported")

    def run(self, **options: Any) -> None:
        case = find_case(options["case"])
        chosen = "" if options["format"] == "auto" else options["format"]
        with open_binary(options["file"]) as file:
            source = queries_import.open_source(case=case, file=file, name=options["file"], format=chosen)
            for line, reason in source.file.errors or source.file.pasted.rejected:
                self.stderr.write(f"Line {line}: {reason}")
            if source.file.errors:
                fail("Nothing was imported. Correct these lines.")
            if options["dry_run"]:
                imported = queries_import.preview_queries(case=case, source=source)
            else:
                imported = queries_import.import_queries(case=case, source=source, by=None)
        if not options["dry_run"] and (imported.added or imported.changed):
            tasks.send(tasks.rescore_case, case.pk)
        summary = queries_import.describe_import(imported)
        self.write(f"Read as {imported.format}{', nothing was stored' if options['dry_run'] else ''}. {summary}")
