"""`export_run RUN --format trec`"""

from relevancy.formats.exports import Export, files_of
from relevancy.management.command import find_run
from relevancy.management.files import ExportCommand
from relevancy.models import Run


class Command(ExportCommand[Run]):
    help = "Exports a run: as a TREC run with the ids of the queries as topics, or as CSV with the displayed fields."
    argument = "run"
    argument_help = "id, or CASE:NUMBER"
    find = staticmethod(find_run)

    @staticmethod
    def files() -> dict[str, Export[Run]]:
        files = files_of(Run)
        return {"trec": files["trec"], **files}
