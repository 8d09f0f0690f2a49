"""`evaluate CASE`: run an attempt now and print its scores."""

import json
import sys
from typing import Any

from django.core.management.base import CommandParser

from relevancy import evaluation, tasks, transfer
from relevancy.management.command import Command as Base
from relevancy.management.command import fail, find_case, find_owner, find_scorers, write_text
from relevancy.models import Attempt, Case, Run
from relevancy.templatetags import numbers


class Command(Base):
    help = "Run an attempt of a case (default: the newest) and print its scores."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", help="id or exact name")
        parser.add_argument("--attempt", type=int, metavar="N")
        parser.add_argument("--scorer", action="append", default=[], metavar="NAME", help="default: all of the case")
        parser.add_argument("--json", metavar="FILE", help="the whole result as JSON; - is stdout")
        parser.add_argument("--owner", default="", metavar="EMAIL", help="who runs it; default: the case's owner")

    def work(self, **options: Any) -> None:
        case = find_case(options["case"])
        scorers = find_scorers(options["scorer"])
        _check_scorers(case, scorers)
        by = find_owner(options["owner"]) if options["owner"] else case.owner
        run = evaluation.start(attempt=_attempt(case, options["attempt"]), by=by)
        try:
            run = evaluation.finish_here(run, progress=self._progress)
        except KeyboardInterrupt:
            evaluation.cancel(run=run)
            run.refresh_from_db()
            fail(f"Stopped. Run {run.number} keeps its {run.done:,} searched queries.")
        finally:
            self._end_progress()
        for pk in evaluation.waiting_behind(run):
            tasks.run_chunk.enqueue(pk)
        report = transfer.report(run=run, scorers=[scorer.name for scorer in scorers])
        if options["json"]:
            write_text(options["json"], json.dumps(report, ensure_ascii=False, indent=2) + "\n", self.stdout)
        if options["json"] != "-":
            self._print(run, report)
        if run.status != Run.Status.COMPLETE:
            fail(f"Run {run.number} is {run.status}: {run.reason}")

    def _progress(self, done: int, failed: int, queries: int) -> None:
        if sys.stderr.isatty():
            width = 30
            filled = round(width * done / queries) if queries else width
            text = f"\r[{'#' * filled}{'.' * (width - filled)}] {done:,} of {queries:,}"
            self.stderr.write(text + (f", {failed:,} failed" if failed else ""), ending="")

    def _end_progress(self) -> None:
        if sys.stderr.isatty():
            self.stderr.write("")

    def _print(self, run: Run, report: dict[str, Any]) -> None:
        seconds = f" in {report['seconds']:.1f} s" if report["seconds"] is not None else ""
        engine = f" on {run.version}" if run.version else ""
        self.say(
            f"{run.case.name}: run {run.number} of attempt {run.attempt.number}, {run.done:,} queries{seconds}{engine}"
        )
        width = max((len(row["name"]) for row in report["scorers"]), default=0)
        for row in report["scorers"]:
            self.say(f"  {row['name']:<{width}}  {shown(row)}  {row['scored']:,} of {row['queries']:,} scored")


def shown(row: dict[str, Any]) -> str:
    """A score for a terminal: `61.0 (57–84)`; half up, as on the page."""
    span = numbers.span(row["low"], row["high"])
    return f"{numbers.score(row['score']):>5} {f'({span})' if span else '':<8}"


def _attempt(case: Case, number: int | None) -> Attempt:
    attempts = case.attempts.select_related("endpoint", "case__book")
    attempt = attempts.filter(number=number).first() if number is not None else attempts.first()
    if attempt is None:
        there = ", ".join(str(number) for number in case.attempts.values_list("number", flat=True))
        wanted = "attempt" if number is None else f"attempt {number}"
        fail(f"Case {case.name} has no {wanted}. Attempts: {there or 'none yet'}.")
    return attempt


def _check_scorers(case: Case, scorers: list[Any]) -> None:
    have = {version.scorer_id: version.scorer.name for version in evaluation.versions_of(case)}
    for scorer in scorers:
        if scorer.pk not in have:
            fail(f"Case {case.name} does not use scorer {scorer.name!r}. It uses: {', '.join(have.values())}.")
