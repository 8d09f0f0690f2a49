"""`agreement BOOK`: how far the raters of a book agree."""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import judgments, transfer
from relevancy.management.command import Command as Base
from relevancy.management.command import find_book
from relevancy.statistics.types import Coefficient
from relevancy.templatetags import numbers


class Command(Base):
    help = "Prints how far the raters of a book agree, with 95 % intervals."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("book", help="id, name, or the name of its only case")
        parser.add_argument("--json", action="store_true", help="print the figures as JSON")

    def run(self, **options: Any) -> None:
        book = find_book(options["book"])
        result = judgments.measure_agreement(book=book)
        if options["json"]:
            self.write_json(transfer.agreement_json.build_agreement(result))
            return
        agreement = result.agreement
        self.write(
            f"{book}: {len(result.raters):,} raters, {result.documents:,} rated documents, {agreement.items:,} of them "
            f"with two ratings or more"
        )
        if not agreement.items:
            self.write("No document has two ratings, so there is no agreement to measure.")
            return
        self.write(f"  Agreement             {_describe(agreement.agreement)}")
        self.write(f"  Always the commonest  {numbers.coefficient(agreement.commonest)}")
        self.write(f"  Fleiss' kappa         {_describe(agreement.fleiss_kappa)}")
        for level, coefficient in agreement.alpha.items():
            self.write(f"  {f'Alpha, {level}':<20}  {_describe(coefficient)}")
        if agreement.alpha["nominal"].value is None:
            self.write("  Alpha needs at least 30 documents with two ratings, and more than one grade.")
        for pair in result.pairs:
            kappas = " · ".join(
                numbers.coefficient(pair.figures.kappa(weights)) for weights in ("none", "linear", "quadratic")
            )
            self.write(f"  {pair.a} and {pair.b}: {pair.figures.items:,} documents, kappa {kappas}")
        if result.pairs:
            self.write("  Kappa: unweighted · linear · quadratic weights")


def _describe(coefficient: Coefficient) -> str:
    """Returns a coefficient with its interval: `.74 (.69 to .79)`."""
    text = f"{numbers.coefficient(coefficient.value):>4}"
    if coefficient.low is None:
        return text
    return f"{text} ({numbers.coefficient(coefficient.low)} to {numbers.coefficient(coefficient.high)})"
