"""`load_sample --engine solr --url http://127.0.0.1:8983/solr/films`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy.formats.documents import sample
from relevancy.management.command import Command as Base
from relevancy.management.command import add_owner, find_owner


class Command(Base):
    help = "Loads the sample's catalogue of films into a search engine."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--engine", required=True, help="solr, elasticsearch or opensearch")
        parser.add_argument("--url", required=True, help="URL of the core or index")
        add_owner(parser)

    def run(self, **options: Any) -> None:
        count = sample.load_into(engine=options["engine"], url=options["url"], by=find_owner(options["owner"]))
        self.write(f"{count} films loaded into {options['url']}.")
