"""`query_classes CASE [--apply]`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy.management.command import Command as BaseCommand
from relevancy.management.command import add_owner, fail, find_case, find_owner
from relevancy.optional.query_classes import rules
from relevancy.optional.query_classes.applying import apply_rules
from relevancy.optional.query_classes.conditions import describe
from relevancy.wording import counted

MAX_REPEATS = 5  # while others change queries


class Command(BaseCommand):
    help = "Lists the rules that set tags on the queries of a case, with how many match, and applies them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", help="name or id of the case")
        parser.add_argument("--apply", action="store_true", help="apply the rules now, without a worker")
        parser.add_argument("--usual", action="store_true", help="create the usual rules that the case does not have")
        add_owner(parser, help="who creates the usual rules; default: the case's owner")

    def run(self, **options: Any) -> None:
        case = find_case(options["case"])
        if options["usual"]:
            by = find_owner(options["owner"]) if options["owner"] else case.owner
            created = rules.create_presets(case=case, by=by)
            self.write(f"{counted(len(created), 'rule')} created.")
        if options["apply"]:
            rules.mark_outdated([case.pk])
            if not any(apply_rules(case) for _ in range(MAX_REPEATS)):
                fail("The queries or rules of the case were changed while the rules were applied. Repeat the command.")
        state = rules.read_state(case)
        for rule in rules.list_rules(case):
            matches = "not applied yet" if rule.matches is None else counted(rule.matches, "query", "queries")
            self.write(f"{rule.tag}: {describe(rule.kind, rule.settings)} – {rule.error or matches}")
        if state is not None and state.is_outdated:
            self.write("The rules have yet to be applied to the queries as they are.")
