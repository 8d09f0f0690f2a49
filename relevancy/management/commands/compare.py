"""`compare RUN RUN…`: tells which run is better, and how sure that is. `compare RUN ideal`: tells which queries can gain most."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from relevancy import comparison, scores
from relevancy.formats.reports import comparison_html, comparison_json
from relevancy.management.command import Command as Base
from relevancy.management.command import fail, find_run, find_versions, write_text
from relevancy.models import Case, ScorerVersion
from relevancy.templatetags import numbers
from relevancy.wording import counted, listed

MAX_NAMED = 5  # queries that are named in a sentence
MAX_GAINING = 20  # queries that are listed
IDEAL = "ideal"


class Command(Base):
    help = (
        "Compares two to five runs of cases on the same book; the first one is the baseline. Or one run with the best order that "
        "today’s ratings allow: compare RUN ideal."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("runs", nargs="+", metavar="RUN", help="id, or CASE:NUMBER; ideal after one run")
        parser.add_argument(
            "--scorer", default="", metavar="NAME", help="default: the primary scorer of the first run's case"
        )
        parser.add_argument("--json", action="store_true", help="print the figures as JSON")
        parser.add_argument("--html", metavar="FILE", help="write a report that is read without a server; - is stdout")

    def run(self, **options: Any) -> None:
        if options["json"] and options["html"] == "-":
            fail("Only one of --json and --html can be written to stdout.")
        if IDEAL in options["runs"]:
            self._show_gain(options)
            return
        runs = [find_run(text) for text in options["runs"]]
        result = comparison.compare(runs=runs, version=_find_version(runs[0].case, options["scorer"]))
        if comparison.has_large(runs):
            self._print_large(comparison.build_large(result), options)
            return
        figures = comparison.compute_figures(result)
        if options["html"]:
            report = comparison_html.build_report(figures, computed_at=timezone.now())
            write_text(options["html"], report, self.stdout)
        if options["json"]:
            self.write_json(comparison_json.build_comparison(figures))
        elif options["html"] != "-":
            self._print(figures)

    def _print_large(self, figures: comparison.LargeFigures, options: Mapping[str, Any]) -> None:
        """Prints the figures of runs of large cases, for which no result lists are compared."""
        if options["html"]:
            fail(comparison.ONLY_FIGURES)
        if options["json"]:
            self.write_json(comparison.dump_large(figures))
            return
        for pair in figures.pairs:
            self.write(" ".join([pair.sentence, *pair.details]))
            interval = f"{pair.interval.low:+.2f} to {pair.interval.high:+.2f}" if pair.interval else "–"
            self.write(
                f"  95 % interval {interval}, {pair.wins:,} better, {pair.ties:,} the same, {pair.losses:,} worse"
            )

    def _show_gain(self, options: Mapping[str, Any]) -> None:
        named = [text for text in options["runs"] if text != IDEAL]
        if len(named) != 1 or len(options["runs"]) != 2:
            fail("The best order is compared with one run: compare RUN ideal.")
        if options["html"]:
            fail("A report compares two runs or more, and says what each can gain: compare RUN RUN --html FILE.")
        run = find_run(named[0])
        version = _find_version(run.case, options["scorer"])
        comparison.check_best_order(version)
        scores.rescore_run(run, [version])
        table = comparison.read_score_table([run], version)
        gain = comparison.find_gain(table.present)
        rows = zip(table.query_ids, table.texts, table.scores[:, 0].tolist(), table.best[:, 0].tolist(), strict=True)
        gaining = sorted((row for row in rows if row[3] - row[2] >= comparison.TIE), key=lambda row: row[2] - row[3])
        if options["json"]:
            gains = [
                {"query": text, "score": score, "ideal": best, "gain": best - score} for _, text, score, best in gaining
            ]
            self.write_json(
                {
                    "run": run.pk,
                    "scorer": version.scorer.name,
                    "score": gain.score,
                    "left_out_queries": table.left_out,
                    "query_gains": gains,
                    **comparison_json.build_gain(gain),
                }
            )
            return
        self.write(f"{version.scorer} on {counted(gain.queries, 'query', 'queries')}, {len(table.left_out):,} left out")
        for sentence in gain.describe(str(run)):
            self.write(sentence)
        listed = gaining[:MAX_GAINING]
        if listed:
            self.write()
            self.write("Most to gain; by a better order of what the run fetched, by documents that it did not fetch:")
        splits = comparison.split_gains(run, version, {pk: (score, best) for pk, _, score, best in listed})
        for pk, text, score, best in listed:
            split = splits.get(pk)
            parts = (split.by_order, split.by_documents) if split else (None, None)
            columns = " ".join(f"{numbers.score(points):>5}" for points in (best - score, *parts))
            self.write(f"  {columns}  {text}")
        for warning in comparison.list_warnings([run], version):
            self.stderr.write(f"Warning: {warning}")

    def _print(self, figures: comparison.ComparisonFigures) -> None:
        result = figures.comparison
        left_out = result.table.left_out
        queries, independent = len(result.table), result.table.independent
        count = counted(queries, "query", "queries") + (
            f", {independent:,} independent" if independent < queries else ""
        )
        self.write(f"{result.version.scorer} on the same {count}, {len(left_out):,} left out")
        if left_out:
            self.write(f"  left out: {listed([f'“{text}”' for text in left_out], MAX_NAMED)}")
        for run, mean in zip(result.runs, result.means, strict=True):
            self.write(f"  {numbers.score(mean):>5}  {run} of {run.case}, attempt {run.attempt.number}")
        for pair in result.pairs:
            self.write()
            self._print_pair(pair)
        groups = comparison.describe_groups(result)
        if groups:
            self.write()
            for sentence in groups:
                self.write(sentence)
        if result.tags:
            self.write()
            self._print_tags(result)
        for warning in [*result.warnings, *self._list_cautions(figures)]:
            self.stderr.write(f"Warning: {warning}")

    def _list_cautions(self, figures: comparison.ComparisonFigures) -> list[str]:
        """Returns what the ratings of each run other than the baseline may do to its comparison, in sentences."""
        return [
            warning
            for other in range(1, len(figures.comparison.runs))
            for warning in comparison.list_rating_warnings(figures, other)
        ]

    def _print_pair(self, pair: comparison.RunPair) -> None:
        self.write(comparison.describe_verdict(pair))
        differences, interval = pair.by_query, pair.paired.interval
        self.write(f"  {differences.wins:,} better, {differences.losses:,} worse, {differences.ties:,} the same")
        if carried := comparison.describe_carriers(pair):
            self.write(f"  {carried}")
        if interval is not None and not interval.is_reliable:
            self.write("  Too few queries for an interval you can rely on.")
        if pair.paired.detectable:
            points = comparison.format_detectable(pair)
            self.write(f"  A true difference of {points} points would be found four times in five.")
        lists = pair.lists
        if lists.queries:
            self.write(
                f"  Result lists: Jaccard@{lists.k} {numbers.coefficient(lists.jaccard)}, "
                f"RBO {numbers.coefficient(lists.rbo)}, {(lists.changed or 0) * 100:.0f} % of {lists.queries:,} changed"
            )

    def _print_tags(self, result: comparison.Comparison) -> None:
        self.write("By tag, p corrected by Holm's method:")
        for tag in result.tags:
            other = f"{result.runs[tag.other]}: " if len(result.runs) > 2 else ""
            self.write(
                f"  {other}{tag.tag}: {numbers.difference(tag.difference)} on {tag.queries:,}, "
                + (tag.reason or f"p {numbers.pvalue(tag.p_holm)}")
            )


def _find_version(case: Case, name: str) -> ScorerVersion:
    """Returns the version of the named scorer; without a name, that of the primary scorer of the case."""
    versions = find_versions(case, [name] if name else [])
    if not versions:
        fail(f"Case {case} has no scorer. Name one: --scorer NAME.")
    return versions[0]
