"""`create_endpoint shop solr http://127.0.0.1:8983/solr/products`"""

import json
from typing import Any

from django.core.management.base import CommandParser

from relevancy import cases
from relevancy.management.command import Command as Base
from relevancy.management.command import fail, find_owner

OWN = {"parallel", "per_minute"}
SECRET = {"username", "password", "api_key", "bearer"}


class Command(Base):
    help = "Make an endpoint: a search engine that cases can ask."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("engine", help=", ".join(kind.key for kind in cases.offers.kinds()))
        parser.add_argument(
            "url", help="address of the core, index or API; name of the index or file for embedded and static"
        )
        parser.add_argument(
            "--option",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="parallel, per_minute, username, password, api_key, bearer, header.NAME, read_timeout, or an option of the engine",
        )
        parser.add_argument("--owner", default="", metavar="EMAIL")

    def work(self, **options: Any) -> None:
        fields: dict[str, Any] = {"options": {}, "credentials": {}, "headers": {}}
        # Expressions and templates are texts, also where they read as JSON.
        texts = {info.name for info in cases.offers.API_OPTIONS} if options["engine"] == cases.offers.API else set()
        for word in options["option"]:
            key, sign, value = word.partition("=")
            if not sign or not key:
                fail(f"--option {word!r} is not of the form KEY=VALUE.")
            if key in OWN:
                if not value.isdecimal():
                    fail(f"--option {key} is {value!r}; write a whole number.")
                fields[key] = int(value)
            elif key in SECRET:
                fields["credentials"][key] = value
            elif key.startswith("header."):
                fields["headers"][key.removeprefix("header.")] = value
            else:
                fields["options"][key] = value if key in texts else _plain(value)
        owner = find_owner(options["owner"])
        endpoint = cases.endpoints.create(
            name=options["name"], engine=options["engine"], url=options["url"], by=owner, **fields
        )
        trial = cases.offers.trial(endpoint=endpoint, text="")
        self.say(f"Endpoint {endpoint.name} made.")
        if trial.error:
            self.stderr.write(f"It does not answer yet: {trial.error}")
        else:
            self.say(f"It is {trial.version} with {len(trial.fields)} fields: {', '.join(trial.fields[:12])}.")


def _plain(value: str) -> Any:
    """A number, true, false or JSON where it reads as one, else the text."""
    try:
        return json.loads(value)
    except ValueError:
        return value
