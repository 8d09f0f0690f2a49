"""`export_case CASE --output case.json`, `export_case CASE --format snapshots`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy.formats import exports
from relevancy.management.command import Command as Base
from relevancy.management.command import find_case, write_export
from relevancy.models import Case


class Command(Base):
    help = "Exports a case as one JSON file that suits version control, or its scores and results as CSV."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", help="id or exact name")
        parser.add_argument(
            "--format",
            choices=list(self._files()),
            default="relevancy",
            help="default: relevancy. What the format of a product does not hold is printed on stderr. CSV has scores and results",
        )
        parser.add_argument("--output", default="-", metavar="FILE", help="default: stdout")
        parser.add_argument(
            "--owner",
            default="",
            metavar="EMAIL",
            help="raters that this user knows are named by e-mail address, others by name; default: the only superuser",
        )

    def run(self, **options: Any) -> None:
        case = find_case(options["case"])
        write_export(self, self._files()[options["format"]], case, case.owner, options)

    @staticmethod
    def _files() -> dict[str, exports.Export[Case]]:
        files = dict(exports.files_of(Case))
        whole = {"relevancy": files.pop("case")}
        return whole | {name: file for name, file in files.items() if file.group in (exports.WHOLE, exports.RESULTS)}
