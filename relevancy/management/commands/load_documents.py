"""`load_documents embedded products products.jsonl`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import transfer
from relevancy.management.command import Command as Base
from relevancy.management.command import find_owner, read_text


class Command(Base):
    help = "Put documents (one JSON object a line) into an engine; the embedded engine's index is built anew."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("engine", help="embedded, solr, elasticsearch, opensearch")
        parser.add_argument("url", help="address of the core or index; for embedded the name of the index")
        parser.add_argument("file", help="JSON lines; - is stdin")
        parser.add_argument("--id-field", default="id", metavar="NAME")

    def work(self, **options: Any) -> None:
        count = transfer.documents.load(
            engine=options["engine"],
            url=options["url"],
            text=read_text(options["file"]),
            by=find_owner(""),
            id_field=options["id_field"],
        )
        self.say(f"{count:,} documents are in {options['url']}.")
