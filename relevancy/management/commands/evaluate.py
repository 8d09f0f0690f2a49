"""`evaluate CASE`: runs an attempt now and prints its scores. `evaluate case.json --url ADDRESS` needs no database."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from relevancy import comparison, endpoints, formats, runs, scores, tasks
from relevancy.formats.cases import case_import
from relevancy.formats.evaluation import evaluation_gate, evaluation_junit, evaluation_markdown
from relevancy.formats.evaluation.evaluation_json import Check, Evaluation
from relevancy.management.command import Command as Base
from relevancy.management.command import (
    add_owner,
    describe_error,
    fail,
    find_attempt,
    find_case,
    find_owner,
    find_run,
    find_versions,
    open_binary,
    write_text,
)
from relevancy.management.endpoint_options import parse_options, store_address
from relevancy.management.progress import Progress
from relevancy.management.temporary_site import temporary_site
from relevancy.models import Attempt, Case, Run, ScorerVersion, User
from relevancy.templatetags import numbers
from relevancy.wording import counted

GATE_STATUS = 1


class GateFailed(CommandError):
    """A score does not meet a condition of the command line. Django prints the name of this class before the message."""


class Command(Base):
    help = (
        "Runs an attempt of a case (default: the newest) and prints its scores. Exit status 1: a score is too low or fell. With "
        "--url, CASE is a file of export_case, and no database is needed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", help="id or exact name; with --url, a file of export_case")
        parser.add_argument(
            "--url", default="", metavar="ADDRESS", help="of the search engine; of a file of rankings, its path"
        )
        parser.add_argument(
            "--option",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="of the endpoint at --url, as for create_endpoint: username, password, header.NAME, …",
        )
        parser.add_argument("--attempt", type=int, metavar="N", help="default: the newest")
        parser.add_argument(
            "--scorer",
            action="append",
            default=[],
            metavar="NAME",
            help="any scorer that the case's owner can use; may be repeated; default: all scorers of the case",
        )
        parser.add_argument("--json", metavar="FILE", help="write the result as JSON; - is stdout")
        parser.add_argument("--junit", metavar="FILE", help="write the checks as JUnit XML; - is stdout")
        parser.add_argument("--markdown", metavar="FILE", help="write a summary for a merge request; - is stdout")
        parser.add_argument(
            "--fail-under",
            type=float,
            metavar="X",
            help="exit with status 1 if any of the scorers gives less than X (0–100), or no score",
        )
        parser.add_argument(
            "--baseline",
            default="",
            metavar="RUN",
            help="exit with status 1 if a score falls against this run: its id, CASE:NUMBER, or attempt:N for the newest "
            "complete run of attempt N; with --url, the number of a run in the file",
        )
        parser.add_argument(
            "--max-drop", type=float, metavar="X", help="allowed drop against the baseline in points; default: 0"
        )
        parser.add_argument(
            "--alpha",
            type=float,
            metavar="P",
            help="a drop counts if the interval of the difference at the level 1 − P is below 0; default: 0.05",
        )
        parser.add_argument(
            "--strict",
            action="store_true",
            help="exit with status 1 as well if there are too few queries to tell whether a score fell",
        )
        add_owner(
            parser,
            help="the run's author, who must be allowed to use the endpoint; default: the case's owner, without this check",
        )

    junit_path = ""  # where the checks are still to be written

    def run(self, **options: Any) -> None:
        _check_options(options)
        self.junit_path = options["junit"] or ""
        try:
            self._run(options)
        except Exception as error:
            if self.junit_path:
                message = describe_error(error) or type(error).__name__
                check = evaluation_gate.build_check("the case is evaluated", message, is_error=True)
                junit = evaluation_junit.build_junit(case=options["case"], seconds=None, checks=[check])
                write_text(self.junit_path, junit, self.stdout)
            raise

    def _run(self, options: Mapping[str, Any]) -> None:
        if not options["url"]:
            case = find_case(options["case"])
            self._evaluate(case, find_attempt(case, options["attempt"]), options)
            return
        with temporary_site() as owner:
            case = _import_file(options["case"], owner)
            attempt = find_attempt(case, options["attempt"])
            _set_address(attempt, options["url"], options["option"], owner)
            self._evaluate(case, attempt, options)

    def _evaluate(self, case: Case, attempt: Attempt, options: Mapping[str, Any]) -> None:
        versions = find_versions(case, options["scorer"])
        baseline = _find_baseline(case, options["baseline"], is_file=bool(options["url"]))
        run = self._search(attempt, versions, find_owner(options["owner"]) if options["owner"] else None)
        if run.done:
            scores.rescore_run(run, versions)
        gate = evaluation_gate.check_run(
            run=run,
            versions=versions,
            fail_under=options["fail_under"],
            baseline=baseline,
            max_drop=options["max_drop"],
            alpha=options["alpha"],
            is_strict=options["strict"],
        )
        self._write_files(gate.evaluation, gate.checks, options)
        if "-" not in (options["json"], options["junit"], options["markdown"]):
            self._print(run, gate.evaluation)
            self._print_drops(gate.drops, is_strict=options["strict"])
        if gate.error:
            fail(gate.error)
        if not gate.evaluation["passed"]:
            messages = [check["message"] for check in gate.checks if not check["passed"]]
            raise GateFailed(" ".join(messages), returncode=GATE_STATUS)

    def _write_files(self, evaluation: Evaluation, checks: Sequence[Check], options: Mapping[str, Any]) -> None:
        if options["json"]:
            write_text(options["json"], json.dumps(evaluation, ensure_ascii=False, indent=2) + "\n", self.stdout)
        if options["junit"]:
            junit = evaluation_junit.build_junit(case=evaluation["case"], seconds=evaluation["seconds"], checks=checks)
            write_text(options["junit"], junit, self.stdout)
            self.junit_path = ""
        if options["markdown"]:
            write_text(options["markdown"], evaluation_markdown.build_markdown(evaluation, checks), self.stdout)

    def _print_drops(self, drops: Sequence[comparison.DropCheck], *, is_strict: bool) -> None:
        for drop in drops:
            self.write(f"  {drop.describe()}")
            if drop.is_too_few:
                self.write(f"  That {'fails with' if is_strict else 'passes without'} --strict.")
            for warning in drop.comparison.warnings:
                self.stderr.write(f"Warning: {warning}")

    def _search(self, attempt: Attempt, versions: Sequence[ScorerVersion], by: User | None) -> Run:
        """Runs the attempt in this process, showing its progress. Returns the finished run.

        by: the author, whose right to use the endpoint is checked; None for the owner of the case, unchecked.
        """
        with transaction.atomic():
            run = runs.start(attempt=attempt, by=by or attempt.case.owner, unrestricted=by is None)
            runs.deepen(run, versions)
        shown = Progress(self.stderr, "queries")
        try:
            run = runs.finish_here(
                run,
                progress=lambda done, failed, queries: shown.show(
                    done, queries, f"{failed:,} failed" if failed else ""
                ),
            )
        except KeyboardInterrupt:
            runs.cancel(run=run, by=by)
            run.refresh_from_db()
            fail(f"Stopped. Run {run.number} keeps the results of {counted(run.done, 'query', 'queries')}.")
        finally:
            shown.close()
        for run_id in runs.waiting_behind(run):
            tasks.enqueue_run(Run(pk=run_id))
        return run

    def _print(self, run: Run, evaluation: Evaluation) -> None:
        seconds = f" in {evaluation['seconds']:.1f} s" if evaluation["seconds"] is not None else ""
        engine = f" on {run.version}" if run.version else ""
        self.write(
            f"{run.case.name}: run {run.number} of attempt {run.attempt.number}, "
            f"{counted(run.done, 'query', 'queries')}{seconds}{engine}"
        )
        width = max((len(result["name"]) for result in evaluation["scorers"]), default=0)
        for result in evaluation["scorers"]:
            span = numbers.span(result["low"], result["high"])
            score = f"{numbers.score(result['score']):>5} {f'({span})' if span else '':<8}"
            self.write(f"  {result['name']:<{width}}  {score}  {result['scored']:,} of {result['queries']:,} scored")


def _check_options(options: dict[str, Any]) -> None:
    """Refuses options of the gate that cannot be used, before anything is searched, and sets the limits that are not given."""
    if options["url"] and options["owner"]:
        fail("--owner is for cases of a site; with --url there is none.")
    if options["option"] and not options["url"]:
        fail("--option describes the endpoint at --url. Name its address: --url ADDRESS.")
    if not options["baseline"] and (
        options["strict"] or any(options[name] is not None for name in ("max_drop", "alpha"))
    ):
        fail("--max-drop, --alpha and --strict describe a comparison. Name the run to compare with: --baseline RUN.")
    if [options["json"], options["junit"], options["markdown"]].count("-") > 1:
        fail("Only one of --json, --junit and --markdown can be written to stdout.")
    for name, default in (("max_drop", 0.0), ("alpha", comparison.DEFAULT_ALPHA)):
        options[name] = default if options[name] is None else options[name]
    comparison.check_limits(max_drop=options["max_drop"], alpha=options["alpha"])


def _import_file(path: str, by: User) -> Case:
    """Creates the case of a file. Its scorers are those of the file."""
    with open_binary(path) as file:
        content = formats.parse_case(file)
        plan = case_import.plan_case(content=content, by=by)
        for remark in plan.remarks:
            sys.stderr.write(f"{remark}\n")
        if not content.is_complete:
            fail(f"{path} is not a file of export_case. Import it into a site, and export it there.")
        return case_import.import_case(plan=plan, by=by, endpoint=None)


def _set_address(attempt: Attempt, url: str, words: Sequence[str], by: User) -> None:
    """Gives an attempt of a file an endpoint, with the engine and the options of the file and those of the command line."""
    engine = attempt.endpoint.engine
    fields = parse_options(words, engine=engine)
    fields["options"] = {**attempt.endpoint.options, **fields["options"]}
    attempt.endpoint = endpoints.create(
        name=f"{attempt.endpoint.name} (--url)"[:120],
        engine=engine,
        url=store_address(url, engine=engine, by=by),
        by=by,
        **fields,
    )
    attempt.save(update_fields=["endpoint"])


def _find_baseline(case: Case, text: str, *, is_file: bool) -> Run | None:
    """Returns the run that `--baseline` names; None without the option. is_file: whether runs are named by their numbers."""
    if not text:
        return None
    if is_file and not text.startswith("attempt:"):
        run = case.runs.select_related("case__book", "attempt").filter(number=text if text.isdecimal() else 0).first()
        if run is None:
            numbers = ", ".join(str(number) for number in case.runs.order_by("number").values_list("number", flat=True))
            fail(f"The file has no run {text!r}. Its pinned runs: {numbers or 'none'}.")
        return run
    if not text.startswith("attempt:"):
        return find_run(text)
    number = text.removeprefix("attempt:")
    complete = Run.objects.filter(case=case, status=Run.Status.COMPLETE).select_related("case__book", "attempt")
    run = complete.filter(attempt__number=int(number)).order_by("-number").first() if number.isdecimal() else None
    if run is None:
        fail(f"Case {case.name} has no complete run of {text!r}. Run the attempt first, or name a run: --baseline RUN.")
    return run
