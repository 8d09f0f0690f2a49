"""`import_case case.json --endpoint shop`"""

from collections.abc import Mapping
from typing import IO, Any

from django.core.management.base import CommandParser

from relevancy import formats, scores
from relevancy.formats.cases import case_import
from relevancy.formats.cases.case_content import EndpointContent
from relevancy.formats.file_formats import FileKind, products
from relevancy.management.command import fail, find_endpoint, find_scorers
from relevancy.management.files import ImportCommand
from relevancy.models import Endpoint, ScorerVersion, User
from relevancy.wording import counted


class Command(ImportCommand):
    help = (
        f"Creates a case from a file that {products(FileKind.CASE)} exported. If anything is wrong, nothing is created."
    )
    name_help = "default: that of the file"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--scorer", default="", metavar="NAME", help="instead of the scorer of the file")
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument("--endpoint", default="", metavar="NAME", help="which the attempt searches")
        choice.add_argument("--create-endpoint", action="store_true", help="creates the endpoint of the file")
        choice.add_argument("--without-attempt", action="store_true", help="imports queries and ratings only")

    def import_file(self, file: IO[bytes], *, by: User, options: Mapping[str, Any]) -> None:
        scorer = find_scorers([options["scorer"]])[0] if options["scorer"] else None
        content = formats.parse_case(file)
        plan = case_import.plan_case(content=content, by=by, scorer=scorer)
        for remark in plan.remarks:
            self.stderr.write(remark)
        scorers = ", ".join(scorer.name for scorer in plan.scorers) or "none: choose one by --scorer"
        ratings = content.book.ratings
        counts = (
            f"{counted(len(content.book.details), 'query', 'queries')} and "
            f"{counted(ratings.count, 'rating')} of {counted(len(ratings.names), 'rater')}. Scorer: {scorers}."
        )
        if options["dry_run"]:
            self.write(f"Would create {options['name'] or content.name} with {counts}")
            return
        endpoint = _choose_endpoint(plan.endpoint, by, options)
        case = case_import.import_case(plan=plan, by=by, endpoint=endpoint, name=options["name"], unrestricted=True)
        for run in case.runs.all():
            scores.rescore_run(run, ScorerVersion.objects.used_by(case))
        next_step = f" Next: evaluate {case.pk}" if endpoint else ""
        self.write(f"Case {case.pk} {case.name} created with {counts}{next_step}")


def _choose_endpoint(content: EndpointContent | None, by: User, options: Mapping[str, Any]) -> Endpoint | None:
    if content is None or options["without_attempt"]:
        return None
    if options["endpoint"]:
        return find_endpoint(options["endpoint"])
    if options["create_endpoint"]:
        return case_import.build_endpoint(content=content, by=by)
    address = f" at {content.url}" if content.url else ""
    return fail(
        f"The attempt searches {content.engine}{address}. Say which endpoint it uses: --endpoint NAME, --create-endpoint, or "
        "--without-attempt."
    )
