"""What the charts of a comparison show: the same on the page and in the report, however they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from relevancy.scoring.rounding import format_rounded, format_signed
from relevancy.wording import counted

from .distributions import Distribution, distribute_scores, distribute_search_times
from .query_rows import QueryRow


@dataclass(frozen=True)
class ChartContent:
    """A chart. key: stable name. text: what it shows, in a sentence.

    distribution: what it draws; None for the differences and the scores of the compared queries.
    columns, table: its numbers; empty for those that the list of queries has.
    """

    key: str
    title: str
    text: str
    distribution: Distribution | None = None
    columns: Sequence[str] = ()
    table: Sequence[Sequence[str]] = ()


def list_charts(rows: Sequence[QueryRow], first: str, second: str) -> list[ChartContent]:
    """Returns the charts: differences, scores before and after, distributions; each one only if there is something to draw.

    first, second: the names of the baseline and of the other run.
    """
    charts = []
    compared = [row for row in rows if row.difference is not None]
    if compared:
        queries = counted(len(compared), "query", "queries")
        above = len([row for row in compared if (row.difference or 0.0) > 0])
        below = len([row for row in compared if (row.difference or 0.0) < 0])
        lie = "lies" if above == 1 else "lie"
        scores = distribute_scores(compared)
        low_before, low_after = sum(scores.before[:5]), sum(scores.after[:5])
        charts = [
            ChartContent(
                "differences",
                "Difference per query",
                f"Differences of {queries}, largest gain first: {above:,} above zero, {below:,} below.",
            ),
            ChartContent(
                "scatter",
                f"{second} against {first}",
                f"Score in {first} against score in {second}: {above:,} of {queries} {lie} above the diagonal.",
            ),
            ChartContent(
                "scores",
                "Distribution of scores",
                f"Scores of {queries}: {low_before:,} below 50 in {first}, {low_after:,} in {second}.",
                scores,
                (scores.unit, first, second),
                scores.table,
            ),
        ]
    times = distribute_search_times(rows)
    if times is not None:
        text = (
            f"Search times of {counted(times.queries, 'query', 'queries')}. {first}: median {times.median[0]:,} ms, 95 % within "
            f"{times.p95[0]:,} ms. {second}: median {times.median[1]:,} ms, 95 % within {times.p95[1]:,} ms."
        )
        shown = times.distribution
        charts.append(ChartContent("times", "Search times", text, shown, (shown.unit, first, second), shown.table))
    return charts


def describe_change(row: QueryRow, first: str, second: str) -> str:
    """Describes a compared query: `Run 1 10.0 → Run 2 70.5 (+60.5)`."""
    before, after = format_rounded(row.score_a or 0.0, 1), format_rounded(row.score_b or 0.0, 1)
    return f"{first} {before} → {second} {after} ({format_signed(row.difference or 0.0, 1)})"
