"""`create_endpoint shop solr http://127.0.0.1:8983/solr/products`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import endpoints
from relevancy.management.command import Command as Base
from relevancy.management.command import add_owner, find_owner
from relevancy.management.endpoint_options import find_preset, parse_options, store_address


class Command(Base):
    help = "Creates an endpoint, a search engine that cases can use, and tests the connection."

    def add_arguments(self, parser: CommandParser) -> None:
        engines = endpoints.available_engines()
        presets = [preset.key for engine in engines for preset in engine.presets]
        parser.add_argument("name")
        parser.add_argument("engine", help=", ".join(engine.key for engine in engines))
        parser.add_argument(
            "url",
            help="; ".join(f"{engine.key}: {engine.address.label.lower()}" for engine in engines),
        )
        parser.add_argument(
            "--option",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="parallel, per_minute, username, password, api_key, bearer, header.NAME, read_timeout, an option of the engine"
            + (f", or preset=NAME: {', '.join(presets)}" if presets else ""),
        )
        add_owner(parser)

    def run(self, **options: Any) -> None:
        fields = parse_options(options["option"], engine=options["engine"])
        preset = find_preset(options["option"], engine=options["engine"])
        owner = find_owner(options["owner"])
        url = store_address(options["url"], engine=options["engine"], by=owner)
        endpoint = endpoints.create(
            name=options["name"], engine=options["engine"], url=url, by=owner, unrestricted=True, **fields
        )
        result = endpoints.test_connection(endpoint=endpoint, text="")
        self.write(f"Endpoint {endpoint.name} created.")
        if preset is not None:
            self.write("\n".join(f"{preset.label}: {note}" for note in preset.notes))
        if result.error:
            self.stderr.write(f"Warning: the connection test failed. {result.error}")
        else:
            self.write(f"Connected to {result.version}. {len(result.fields)} fields: {', '.join(result.fields[:12])}.")
