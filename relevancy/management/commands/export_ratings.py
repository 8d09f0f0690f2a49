"""`export_ratings CASE --format csv`"""

from typing import Any

from relevancy.formats.exports import RATINGS, Export, files_of
from relevancy.management.command import find_case
from relevancy.management.files import ExportCommand
from relevancy.models import Case

NAMES = {"ratings": "csv", "qrels": "trec"}  # of formats, where they are not those of the files


class Command(ExportCommand[Case]):
    help = "Exports a case's grades: CSV query,docid,rating, TREC qrels with the ids of the queries as topics, or another format."
    find = staticmethod(find_case)

    @staticmethod
    def files() -> dict[str, Export[Case]]:
        return {NAMES.get(name, name): file for name, file in files_of(Case).items() if file.group == RATINGS}

    def run(self, **options: Any) -> None:
        super().run(**options)
        relevant_from = find_case(options["case"]).book.relevant_from
        if options["format"] == "trec" and relevant_from != 1:
            self.stderr.write(
                f"Qrels do not hold that documents are relevant from {relevant_from:g} up: name it where they are measured, "
                f"as in measure -m 'AP(rel={relevant_from:g})'."
            )
