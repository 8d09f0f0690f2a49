"""`agreement BOOK`: how far the raters of a book agree."""

from typing import Any

from django.core.management.base import CommandParser

from relevancy.management.command import Command as Base
from relevancy.management.command import find_book
from relevancy.models import Case
from relevancy.optional.agreement.agreement import BookAgreement, RaterRow, measure_agreement, measure_query_agreement
from relevancy.optional.agreement.rater_scores import RaterScore, measure_rater_scores
from relevancy.optional.agreement.result_json import build_agreement
from relevancy.optional.agreement.sentences import describe
from relevancy.templatetags import numbers
from relevancy.wording import counted


class Command(Base):
    help = "Prints how far the raters of a book agree, with 95 % intervals."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("book", help="id, name, or the name of its only case")
        parser.add_argument(
            "--scores", action="store_true", help="also how far the scores of the cases move if only one rater counts"
        )
        parser.add_argument("--json", action="store_true", help="print the figures as JSON")

    def run(self, **options: Any) -> None:
        book = find_book(options["book"])
        result = measure_agreement(book=book)
        scored = None
        if options["scores"]:
            cases = list(Case.objects.live().filter(book=book).order_by("pk"))
            scored = {row.rater.pk: measure_rater_scores(cases, book, row.rater) for row in result.by_rater}
        if options["json"]:
            queries = measure_query_agreement(book=book)
            self.write_json(build_agreement(result, queries, book.grades, scored).model_dump())
            return
        agreement = result.agreement
        self.write(
            f"{book}: {counted(len(result.raters), 'rater')}, {counted(result.documents, 'rated document')}, "
            f"{agreement.items:,} of them with two ratings or more"
        )
        if agreement.items:
            self._write_agreement(result)
        else:
            self.write("No document has two ratings, so there is no agreement to measure.")
        for row in result.by_rater if scored is not None else ():
            for score in (scored or {})[row.rater.pk]:
                self._write_score(row, score)

    def _write_agreement(self, result: BookAgreement) -> None:
        agreement = result.agreement
        self.write(f"  Agreement             {describe(agreement.agreement)}")
        self.write(f"  Always the commonest  {numbers.coefficient(agreement.commonest)}")
        self.write(f"  Fleiss' kappa         {describe(agreement.fleiss_kappa)}")
        for level, coefficient in agreement.alpha.items():
            self.write(f"  {f'Alpha, {level}':<20}  {describe(coefficient)}")
        if agreement.alpha["nominal"].value is None:
            self.write("  Alpha needs at least 30 documents with two ratings, and more than one grade.")
        for pair in result.pairs:
            kappas = " · ".join(
                numbers.coefficient(pair.figures.kappa(weights)) for weights in ("none", "linear", "quadratic")
            )
            self.write(f"  {pair.a} and {pair.b}: {counted(pair.figures.items, 'document')}, kappa {kappas}")
        if result.pairs:
            self.write("  Kappa: unweighted · linear · quadratic weights")
        for counts in result.agreeing:
            self.write(f"  {counts.agreeing} of {counts.raters} agree: {counted(counts.items, 'document')}")
        for row in result.by_rater:
            bias = row.figures.bias
            text = "no document in common" if bias.value is None else f"bias {numbers.effect(bias.value)}"
            if bias.low is not None:
                text += f" ({numbers.effect(bias.low)} to {numbers.effect(bias.high)})"
            pace = "" if row.pace is None else f", {row.pace:.0f} s for each"
            self.write(f"  {row.rater}: {counted(row.figures.ratings, 'rating')}, {text}{pace}")
        self.write("  Bias: grades above the mean of the others, on the same documents")

    def _write_score(self, row: RaterRow, score: RaterScore) -> None:
        name = f"{score.case}, {score.version.scorer.name}, run {score.run.number}"
        if score.is_script:
            self.write(f"  {row.rater} alone, {name}: a script, which is not run")
            return
        interval = score.find_interval()
        between = f" ({numbers.difference(interval.low)} to {numbers.difference(interval.high)})" if interval else ""
        self.write(
            f"  {row.rater} alone, {name}: {numbers.score(score.alone)} instead of {numbers.score(score.everyone)}, "
            f"{numbers.difference(score.difference)}{between}, on {counted(len(score.queries), 'query', 'queries')}"
        )
