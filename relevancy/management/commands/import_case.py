"""`import_case case.json --endpoint shop`"""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import formats, scores
from relevancy.formats.cases import case_import
from relevancy.formats.cases.case_import import CasePlan
from relevancy.formats.file_formats import FileKind, products
from relevancy.management.command import Command as Base
from relevancy.management.command import fail, find_endpoint, find_owner, find_scorers, open_binary
from relevancy.models import Endpoint, ScorerVersion, User
from relevancy.wording import counted


class Command(Base):
    help = (
        f"Creates a case from a file that {products(FileKind.CASE)} exported. If anything is wrong, nothing is created."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="- is stdin")
        parser.add_argument("--name", default="", help="default: that of the file")
        parser.add_argument("--scorer", default="", metavar="NAME", help="instead of the scorer of the file")
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument("--endpoint", default="", metavar="NAME", help="which the attempt searches")
        choice.add_argument("--create-endpoint", action="store_true", help="creates the endpoint of the file")
        choice.add_argument("--without-attempt", action="store_true", help="imports queries and ratings only")
        parser.add_argument("--dry-run", action="store_true", help="says what would be created")
        parser.add_argument("--owner", default="", metavar="EMAIL", help="default: the only superuser")

    def run(self, **options: Any) -> None:
        owner = find_owner(options["owner"])
        scorer = find_scorers([options["scorer"]])[0] if options["scorer"] else None
        with open_binary(options["file"]) as file:
            content = formats.parse_case(file)
            plan = case_import.plan_case(content=content, by=owner, scorer=scorer)
            for remark in plan.remarks:
                self.stderr.write(remark)
            if not options["dry_run"]:
                endpoint = self._endpoint(plan, owner, options)
                case = case_import.import_case(
                    plan=plan, by=owner, endpoint=endpoint, name=options["name"], unrestricted=True
                )
                for run in case.runs.all():
                    scores.rescore_run(run, ScorerVersion.objects.used_by(case))
        counts = (
            f"{counted(len(content.queries), 'query', 'queries')} and "
            f"{counted(plan.ratings, 'rating')} of {counted(len(content.raters), 'rater')}"
        )
        scorers = ", ".join(scorer.name for scorer in plan.scorers) or "none: choose one by --scorer"
        if options["dry_run"]:
            self.write(f"Would create {options['name'] or content.name} with {counts}. Scorer: {scorers}.")
        else:
            next_step = f" Next: evaluate {case.pk}" if endpoint else ""
            self.write(f"Case {case.pk} {case.name} created with {counts}. Scorer: {scorers}.{next_step}")

    def _endpoint(self, plan: CasePlan, owner: User, options: dict[str, Any]) -> Endpoint | None:
        if plan.endpoint is None or options["without_attempt"]:
            return None
        if options["endpoint"]:
            return find_endpoint(options["endpoint"])
        if options["create_endpoint"]:
            return case_import.build_endpoint(content=plan.endpoint, by=owner)
        address = f" at {plan.endpoint.url}" if plan.endpoint.url else ""
        return fail(
            f"The attempt searches {plan.endpoint.engine}{address}. Say which endpoint it uses: --endpoint NAME, "
            "--create-endpoint, or --without-attempt."
        )
