"""`load_documents embedded products products.jsonl`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import endpoints
from relevancy.formats.documents import documents_file
from relevancy.management.command import Command as Base
from relevancy.management.command import add_owner, find_owner, find_team, read_text
from relevancy.wording import counted


class Command(Base):
    help = "Loads documents, JSON lines or CSV, into a search engine. Replaces the index of the embedded engine."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("engine", help=", ".join(e.key for e in endpoints.available_engines() if e.abilities.load))
        parser.add_argument("url", help="URL of the core or index; for embedded, the name of the index")
        parser.add_argument(
            "file", help="JSON lines, or CSV with the names of the fields in the first line; - is stdin"
        )
        add_owner(parser, help="of a new embedded index; default: the only superuser")
        parser.add_argument(
            "--team", default="", metavar="NAME", help="whose editors may create endpoints on the embedded index, too"
        )
        parser.add_argument("--id-field", default="id", metavar="NAME", help="default: id")

    def run(self, **options: Any) -> None:
        count = documents_file.import_documents(
            engine=options["engine"],
            url=options["url"],
            text=read_text(options["file"]),
            by=find_owner(options["owner"]),
            team=find_team(options["team"]) if options["team"] else None,
            id_field=options["id_field"],
        )
        self.write(f"{counted(count, 'document')} loaded into {options['url']}.")
