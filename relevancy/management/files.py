"""The bases of the commands that import and export files: subclasses declare what they move, and which options they have."""

from collections.abc import Callable, Mapping
from typing import IO, Any

from django.core.management.base import CommandParser

from relevancy.formats.exports import JSON, Export
from relevancy.formats.file_formats import FileKind, of_kind
from relevancy.models import Book, Case, Run, User

from .command import Command, add_owner, find_case, find_owner, open_binary, write_file
from .progress import Progress


class ImportCommand(Command):
    """Imports a file. Subclasses implement `import_file`. An option whose help is empty does not exist.

    into_case: whether it is imported into a case, whose owner is the default of `--owner`. kind: whose formats `--format` offers.
    """

    into_case = False
    kind: FileKind | None = None
    file_help = "- is stdin"
    name_help = ""
    dry_run_help = "says what would be created"
    owner_help = "default: the only superuser"

    def add_arguments(self, parser: CommandParser) -> None:
        if self.into_case:
            parser.add_argument("case", help="id or exact name")
        parser.add_argument("file", help=self.file_help)
        if self.kind:
            names = [file_format.name for file_format in of_kind(self.kind)]
            parser.add_argument(
                "--format", choices=[*names, "auto"], default="auto", help="default: recognised by the file"
            )
        if self.name_help:
            parser.add_argument("--name", default="", help=self.name_help)
        if self.dry_run_help:
            parser.add_argument("--dry-run", action="store_true", help=self.dry_run_help)
        if self.owner_help:
            add_owner(parser, help=self.owner_help)

    def run(self, **options: Any) -> None:
        if options.get("format") == "auto":
            options["format"] = ""
        if self.into_case:
            options["case"] = find_case(options["case"])
        owner = options.get("owner", "")
        by = options["case"].owner if self.into_case and not owner else find_owner(owner)
        with open_binary(options["file"]) as file:
            self.import_file(file, by=by, options=options)

    def import_file(self, file: IO[bytes], *, by: User, options: Mapping[str, Any]) -> None:
        """Imports the file and prints what was imported. options: with the case itself, and no format where it is recognised."""
        raise NotImplementedError


class ExportCommand[M: (Case, Book, Run)](Command):
    """Writes a file of a case, book or run. Subclasses implement `files`, whose first format is the default.

    argument: names what is exported. find: returns it, or fails. names_raters: `--owner` says whose raters are named by address.
    """

    argument = "case"
    argument_help = "id or exact name"
    find: Callable[[str], M]
    format_help = ""
    names_raters = False

    @staticmethod
    def files() -> Mapping[str, Export[M]]:
        """Returns the files by the name of their format."""
        raise NotImplementedError

    def add_arguments(self, parser: CommandParser) -> None:
        names = list(self.files())
        parser.add_argument(self.argument, help=self.argument_help)
        parser.add_argument(
            "--format", choices=names, default=names[0], help=self.format_help or f"default: {names[0]}"
        )
        parser.add_argument("--output", default="-", metavar="FILE", help="default: stdout")
        if self.names_raters:
            add_owner(
                parser,
                help="raters that this user knows are named by e-mail address, others by name; default: the only superuser",
            )

    def run(self, **options: Any) -> None:
        row = self.find(options[self.argument])
        export = self.files()[options["format"]]
        # Only files that name raters depend on a user.
        is_named = self.names_raters and export.content_type == JSON
        by = find_owner(options["owner"]) if is_named else (row.case if isinstance(row, Run) else row).owner
        left_out: list[str] = []
        shown, steps = Progress(self.stderr, "steps"), export.steps(row)
        try:
            file = export.open(row, by, left_out, lambda done: shown.show(done, max(steps, done)))
        finally:
            shown.close()
        with file:
            write_file(options["output"], file, self.stdout)
        for sentence in left_out:
            self.stderr.write(sentence)
