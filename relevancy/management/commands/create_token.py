"""`create_token --user ann@example.org --scope write --days 90`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy.accounts import api_tokens
from relevancy.management.command import Command as Base
from relevancy.management.command import fail, find_owner
from relevancy.models import ApiToken


class Command(Base):
    help = "Creates a token of the REST API for a user and prints it. It is not stored and cannot be shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", required=True, metavar="EMAIL", help="in whose name the token acts")
        parser.add_argument("--scope", choices=ApiToken.Scope.values, default=ApiToken.Scope.READ, help="default: read")
        parser.add_argument("--days", type=int, default=90, metavar="N", help="until the token expires; default: 90")
        parser.add_argument("--name", default="create_token", help="in the user's list of tokens")

    def run(self, **options: Any) -> None:
        user = find_owner(options["user"])
        if not user.is_active:
            fail(f"The account {user.email} is deactivated, so no token of it works. Activate it first.")
        _, text = api_tokens.create(
            user=user, name=options["name"], scope=ApiToken.Scope(options["scope"]), days=options["days"]
        )
        self.write(text)
