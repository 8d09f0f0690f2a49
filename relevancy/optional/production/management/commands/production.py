"""`production CASE ATTEMPT`: what an attempt becomes in production."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from relevancy import comparison
from relevancy.management.command import Command as Base
from relevancy.management.command import fail, find_attempt, find_case, find_versions, write_text
from relevancy.optional.production.proposal import Proposal


class Command(Base):
    help = (
        "Prints an attempt in the form of its engine, its difference to another attempt, or the evidence of their comparison "
        "as Markdown."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", metavar="CASE", help="id or exact name")
        parser.add_argument("attempt", metavar="ATTEMPT", type=int, help="its number")
        parser.add_argument(
            "--against",
            type=int,
            metavar="N",
            help="number of the other attempt; default: that of the run before its last one, or its parent",
        )
        parser.add_argument(
            "--format", choices=("deploy", "diff", "evidence"), default="deploy", help="default: deploy"
        )
        parser.add_argument("--scorer", default="", metavar="NAME", help="default: the primary scorer of the case")
        parser.add_argument("--output", default="-", metavar="FILE", help="default: stdout")

    def run(self, **options: Any) -> None:
        case = find_case(options["case"])
        attempt = find_attempt(case, options["attempt"])
        if options["against"] == attempt.number:
            fail(f"--against {attempt.number}: an attempt is not compared with itself. Name another one.")
        against = find_attempt(case, options["against"]) if options["against"] is not None else None
        versions = find_versions(case, [options["scorer"]] if options["scorer"] else [])
        if not versions:
            fail(f"Case {case} has no scorer. Name one: --scorer NAME.")
        proposal = Proposal(attempt, against, version=versions[0], site=settings.SITE_URL)
        text = getattr(self, f"_{options['format']}")(proposal)
        write_text(options["output"], text, self.stdout)

    def _deploy(self, proposal: Proposal) -> str:
        deployment = proposal.deployment
        if deployment is None:
            fail(proposal.problem)
        for item in deployment.inputs:
            default = "" if item.default is None else f" (unless sent: “{item.default}”)"
            self.stderr.write(f"The application sends {item.name}: {item.text}{default}.")
        for note in deployment.notes:
            self.stderr.write(f"Note: {note}")
        return deployment.file

    def _diff(self, proposal: Proposal) -> str:
        if not proposal.difference:
            fail(proposal.no_difference)
        return proposal.difference

    def _evidence(self, proposal: Proposal) -> str:
        if proposal.is_pending and proposal.stored is not None:
            comparison.stored.compute(proposal.stored.pk)
            proposal = Proposal(proposal.attempt, proposal.against, version=proposal.version, site=proposal.site)
        if not proposal.evidence:
            fail(proposal.no_evidence or "Ratings change while the runs are compared. Start the command again.")
        if not proposal.site:
            self.stderr.write("Note: without RELEVANCY_SITE_URL there is no link to the comparison.")
        return proposal.evidence
