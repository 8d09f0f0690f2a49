"""`report CASE`: what a run of a case says about ratings, search times and failures, and what to do next."""

from typing import Any

from django.core.management.base import CommandParser

from relevancy import scores
from relevancy.management.command import Command as Base
from relevancy.management.command import fail, find_case, find_versions
from relevancy.models import Case, Run
from relevancy.optional.reports import report_csv, report_json
from relevancy.optional.reports.case_report import CaseReport, ReportQuery, build_report
from relevancy.optional.reports.planning import DEFAULT_DIFFERENCES, QueryPlan, find_planned_runs
from relevancy.templatetags import numbers
from relevancy.wording import listed

MAX_NAMED = 5  # queries that are named in a sentence


class Command(Base):
    help = (
        "Prints the report of a case: coverage, queries without results, failures, search times, what to rate next, and how many "
        "queries and ratings a difference needs."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("case", metavar="CASE", help="id or exact name")
        parser.add_argument("--run", type=int, metavar="NUMBER", help="default: the newest complete run")
        parser.add_argument("--scorer", default="", metavar="NAME", help="default: the primary scorer of the case")
        parser.add_argument(
            "--delta",
            type=float,
            nargs="+",
            action="extend",
            default=[],
            metavar="POINTS",
            help="differences to plan for",
        )
        parser.add_argument(
            "--compared",
            type=int,
            metavar="NUMBER",
            help="plan with the differences of this run to the one before; default: the largest deviation of the last five comparisons",
        )
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="print the report as JSON")
        form.add_argument("--csv", action="store_true", help="print its queries as CSV")

    def run(self, **options: Any) -> None:
        case = find_case(options["case"])
        for delta in options["delta"]:
            if not 0 < delta <= 100:
                fail(f"A difference of {delta:g} points cannot be planned for. Name one above 0, and at most 100.")
        run = _find_run(case, options["run"])
        versions = find_versions(case, [options["scorer"]] if options["scorer"] else [])
        if not versions:
            fail(f"Case {case} has no scorer. Name one: --scorer NAME.")
        version = versions[0]
        for planned in find_planned_runs(run, version):
            planned.case = case
            scores.rescore_run(planned, [version])
        differences = options["delta"] or DEFAULT_DIFFERENCES
        report = build_report(run, version, differences=differences, compared=options["compared"])
        _check_compared(report.plan, options["compared"])
        if options["json"]:
            self.write_json(report_json.build_report(report))
        elif options["csv"]:
            self.write(report_csv.format_queries(report).removesuffix("\n"))
        else:
            self._print(report)

    def _print(self, report: CaseReport) -> None:
        run = report.run
        between = numbers.span(report.low, report.high)
        score = f"{numbers.score(report.score)} ({between})" if between else numbers.score(report.score)
        self.write(f"{run.case}, {run.label}, attempt {run.attempt.number}: {report.version.scorer} {score}")
        self.write(f"  scored      {report.scored:,} of {len(report.queries):,} queries")
        self.write(f"  rated       {report.rated:,} of {report.documents:,} documents among the first {report.k:,}")
        self.write(f"  no results  {_list_queries(report.empty)}")
        self.write(f"  failed      {_list_queries(report.failed)}")
        for times in report.times[:1]:
            self.write(
                f"  times       median {times.p50:,} ms, 95 % within {times.p95:,} ms, slowest {times.slowest:,} ms"
            )
        if report.candidates:
            self.write("Rate next, with how much the range of the score narrows on average:")
            texts = {query.query_id: query.text for query in report.queries}
            for candidate in report.candidates[:MAX_NAMED]:
                self.write(
                    f"  {candidate.narrowing:.2f}  “{texts[candidate.query_id]}”: {candidate.doc_id}, rank {candidate.rank}"
                )
        if report.plan:
            self._print_plan(report.plan)

    def _print_plan(self, plan: QueryPlan) -> None:
        self.write(
            f"{plan.queries:,} queries find a true difference of {numbers.score(plan.detectable)} points four times in five."
        )
        basis = (
            f"differences between {plan.chosen.run.label} and {plan.chosen.baseline.label}, {plan.chosen.changed:,} queries differ"
            if plan.chosen
            else "scores, because none of the last five comparisons has five queries that differ"
        )
        self.write(f"  deviation {numbers.score(plan.deviation)} points ({basis})")
        for row in plan.rows:
            queries = "more than 10 million" if row.queries is None else f"{row.queries:,}"
            ratings = "" if row.ratings is None else f", about {row.ratings:,} more ratings"
            self.write(f"  {row.difference:g} points: {queries} queries{ratings}")


def _find_run(case: Case, number: int | None) -> Run:
    runs = Run.objects.newest_for(case).finished().select_related("attempt")
    run = (
        runs.filter(number=number).first()
        if number
        else runs.filter(status=Run.Status.COMPLETE).first() or runs.first()
    )
    if run is None:
        fail(
            f"Case {case} has no finished run {number}."
            if number
            else f"Case {case} has no finished run. Run it first."
        )
    run.case = case
    return run


def _check_compared(plan: QueryPlan | None, compared: int | None) -> None:
    comparisons = plan.comparisons if plan else []
    if compared is not None and all(comparison.run.number != compared for comparison in comparisons):
        listed = ", ".join(str(comparison.run.number) for comparison in comparisons) or "none"
        fail(
            f"--compared {compared}: this run is none of the last five comparisons in which at least five queries differ. "
            f"There are: {listed}."
        )


def _list_queries(queries: list[ReportQuery]) -> str:
    return listed([f"“{query.text}”" for query in queries], MAX_NAMED) or "none"
