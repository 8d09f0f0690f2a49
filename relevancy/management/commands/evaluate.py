"""`evaluate CASE`: run an attempt now and print its scores."""

import json
import sys
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from relevancy import cases, evaluation, tasks, transfer
from relevancy.management.command import Command as Base
from relevancy.management.command import fail, find_case, find_owner, instead, write_text
from relevancy.models import Attempt, Case, QueryScore, Run, Scorer, ScorerVersion
from relevancy.templatetags import numbers


class Command(Base):
    help = "Run an attempt of a case (default: the newest) and print its scores."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", help="id or exact name")
        parser.add_argument("--attempt", type=int, metavar="N")
        parser.add_argument(
            "--scorer", action="append", default=[], metavar="NAME",
            help="a scorer that the case's owner sees, whether the case has it or not; default: all of the case",
        )  # fmt: skip
        parser.add_argument("--json", metavar="FILE", help="the whole result as JSON; - is stdout")
        parser.add_argument("--owner", default="", metavar="EMAIL", help="who runs it; default: the case's owner")

    def work(self, **options: Any) -> None:
        case = find_case(options["case"])
        versions = _versions(case, options["scorer"])
        by = find_owner(options["owner"]) if options["owner"] else case.owner
        with transaction.atomic():
            run = evaluation.start(attempt=_attempt(case, options["attempt"]), by=by)
            evaluation.deepen(run, versions)
        try:
            run = evaluation.finish_here(run, progress=self._progress)
        except KeyboardInterrupt:
            evaluation.cancel(run=run)
            run.refresh_from_db()
            fail(f"Stopped. Run {run.number} keeps its {run.done:,} searched queries.")
        finally:
            self._end_progress()
        for pk in evaluation.waiting_behind(run):
            tasks.send(tasks.run_chunk, pk)
        if run.done:
            evaluation.rescore_run(run, versions)
        report = transfer.report(run=run, versions=versions)
        if options["json"]:
            write_text(options["json"], json.dumps(report, ensure_ascii=False, indent=2) + "\n", self.stdout)
        if options["json"] != "-":
            self._print(run, report)
        if run.status != Run.Status.COMPLETE:
            fail(f"Run {run.number} is {run.status}: {run.reason}")
        _check_scripts(run, versions)

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


def _versions(case: Case, names: list[str]) -> list[ScorerVersion]:
    """The scorers named, each in the version the case is scored with, or in its newest where the case has not got it; all of the
    case where none is named."""
    used = {version.scorer.name: version for version in evaluation.versions_of(case)}
    offered = {scorer.name: scorer for scorer in Scorer.objects.offered(case.owner, case).exclude(versions=None)}
    for name in names:
        if name not in used and name not in offered:
            fail(f"There is no scorer {name!r} that {case.owner} could use. {instead(name, {*used, *offered})}")
    return [used.get(name) or cases.newest_version(offered[name]) for name in dict.fromkeys(names)] or [*used.values()]


def _check_scripts(run: Run, versions: list[ScorerVersion]) -> None:
    """A mean that leaves out the queries whose script failed is none to go by."""
    failed = (
        QueryScore.objects.filter(run=run, version__in=versions)
        .exclude(error="")
        .filter(query__case_queries__case=run.case, query__case_queries__removed_at=None)
        .order_by("query__case_queries__position", "id")
    )
    if first := failed.select_related("query", "version__scorer").first():
        count = failed.values("query").distinct().order_by().count()
        queries = f"{count:,} of {run.queries:,} quer{'y' if run.queries == 1 else 'ies'}"
        fail(f"The script failed for {queries}. {first.version.scorer} on “{first.query}”: {first.error}")
