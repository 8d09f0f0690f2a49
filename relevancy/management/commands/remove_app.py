"""`remove_app outcomes --output outcomes.jsonl`"""

from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.base import CommandParser

from relevancy import database_checks
from relevancy.management.command import Command as Base
from relevancy.management.command import fail


class Command(Base):
    help = "Exports and drops the tables of an optional app that RELEVANCY_WITHOUT leaves out of this site."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the app, such as outcomes")
        parser.add_argument("--output", required=True, metavar="FILE", help="a new file for its rows, as JSON lines")

    def run(self, **options: Any) -> None:
        name = options["name"]
        if apps.is_installed(f"relevancy.optional.{name}"):
            fail(f"The app {name} is part of this site. Add it to RELEVANCY_WITHOUT, restart the site, and try again.")
        tables = database_checks.find_tables().get(name)
        if tables is None:
            fail(f"The database has no tables of an app {name}, so there is nothing to remove.")
        try:
            with Path(options["output"]).open("x", encoding="utf-8") as file:
                count = sum(bool(file.write(f"{line}\n")) for line in database_checks.read_rows(tables))
        except OSError as error:
            fail(f"{options['output']} cannot be written: {error.strerror}. Nothing was removed.")
        passwords_alone = database_checks.drop_tables(name, tables)
        self.write(f"{count:,} rows of {', '.join(tables)} written to {options['output']}; the tables are dropped.")
        if passwords_alone:
            self.write(f"Accounts that sign in with their passwords alone from now on: {passwords_alone:,}.")
