"""`export_queries CASE --output queries.csv`"""

from relevancy.formats.exports import Export, files_of
from relevancy.management.command import find_case
from relevancy.management.files import ExportCommand
from relevancy.models import Case


class Command(ExportCommand[Case]):
    help = "Exports the queries of a case as CSV, with information needs, notes, tags, options and weights, or with needs alone."
    find = staticmethod(find_case)

    @staticmethod
    def files() -> dict[str, Export[Case]]:
        return {name: files_of(Case)[name] for name in ("queries", "information-needs")}
