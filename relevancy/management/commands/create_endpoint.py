"""`create_endpoint shop solr http://127.0.0.1:8983/solr/products`"""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from relevancy import endpoints
from relevancy.management.command import Command as Base
from relevancy.management.command import fail, find_owner, read_bytes

ENDPOINT_FIELDS = {"parallel", "per_minute"}
CREDENTIALS = {"username", "password", "api_key", "bearer"}


class Command(Base):
    help = "Creates an endpoint, a search engine that cases can use, and tests the connection."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("engine", help=", ".join(engine.key for engine in endpoints.engine_infos()))
        parser.add_argument(
            "url",
            help="; ".join(f"{engine.key}: {engine.address.label.lower()}" for engine in endpoints.engine_infos()),
        )
        parser.add_argument(
            "--option",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="parallel, per_minute, username, password, api_key, bearer, header.NAME, read_timeout, or an option of the engine",
        )
        parser.add_argument("--owner", default="", metavar="EMAIL")

    def run(self, **options: Any) -> None:
        fields: dict[str, Any] = {"options": {}, "credentials": {}, "headers": {}}
        # Expressions and templates are strings, even those that are valid JSON.
        strings = {option.name for option in endpoints.engine_info(options["engine"]).options}
        for word in options["option"]:
            key, sign, value = word.partition("=")
            if not sign or not key:
                fail(f"--option {word!r} does not have the form KEY=VALUE.")
            if key in ENDPOINT_FIELDS:
                if not value.isdecimal():
                    fail(f"--option {key} is {value!r}; write an integer.")
                fields[key] = int(value)
            elif key in CREDENTIALS:
                fields["credentials"][key] = value
            elif key.startswith("header."):
                fields["headers"][key.removeprefix("header.")] = value
            else:
                fields["options"][key] = value if key in strings else _parse_value(value)
        owner = find_owner(options["owner"])
        url = options["url"]
        if endpoints.is_file_engine(options["engine"]) and Path(url).is_file():
            content, name = read_bytes(url), Path(url).name
            upload = endpoints.uploads.store(engine=options["engine"], content=content, name=name, by=owner)
            url = upload.name
        endpoint = endpoints.create(
            name=options["name"], engine=options["engine"], url=url, by=owner, unrestricted=True, **fields
        )
        result = endpoints.test_connection(endpoint=endpoint, text="")
        self.write(f"Endpoint {endpoint.name} created.")
        if result.error:
            self.stderr.write(f"Warning: the connection test failed. {result.error}")
        else:
            self.write(f"Connected to {result.version}. {len(result.fields)} fields: {', '.join(result.fields[:12])}.")


def _parse_value(value: str) -> Any:
    """Returns the value as JSON if it is valid JSON, otherwise as a string."""
    try:
        return json.loads(value)
    except ValueError:
        return value
