"""`export_case CASE --output case.json`, `export_case CASE --format snapshots`"""

from relevancy.formats.exports import RESULTS, WHOLE, Export, files_of
from relevancy.management.command import find_case
from relevancy.management.files import ExportCommand
from relevancy.models import Case


class Command(ExportCommand[Case]):
    help = "Exports a case as one JSON file that suits version control, or its scores and results as CSV."
    find = staticmethod(find_case)
    format_help = "default: relevancy. What the format of a product does not hold is printed on stderr. CSV has scores and results"
    names_raters = True

    @staticmethod
    def files() -> dict[str, Export[Case]]:
        files = dict(files_of(Case))
        whole = {"relevancy": files.pop("case")}
        return whole | {name: file for name, file in files.items() if file.group in (WHOLE, RESULTS)}
