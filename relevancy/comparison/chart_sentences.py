"""What the charts of a comparison show, in sentences: the same on the page and in the report."""

from __future__ import annotations

from collections.abc import Sequence

from relevancy.scoring.rounding import format_rounded, format_signed
from relevancy.wording import counted

from .distributions import Distribution, SearchTimes
from .query_rows import QueryRow


def describe_differences(rows: Sequence[QueryRow]) -> str:
    """Describes the bars of the differences of compared queries."""
    differences = [row.difference or 0.0 for row in rows]
    gains, losses = (
        len([value for value in differences if value > 0]),
        len([value for value in differences if value < 0]),
    )
    return f"Differences of {counted(len(rows), 'query', 'queries')}, largest gain first: {gains:,} above zero, {losses:,} below."


def describe_change(row: QueryRow, first: str, second: str) -> str:
    """Describes a compared query: `Run 1 10.0 → Run 2 70.5 (+60.5)`."""
    before, after = format_rounded(row.score_a or 0.0, 1), format_rounded(row.score_b or 0.0, 1)
    return f"{first} {before} → {second} {after} ({format_signed(row.difference or 0.0, 1)})"


def describe_scatter(rows: Sequence[QueryRow], first: str, second: str) -> str:
    """Describes the scores of compared queries in one run against those in the other."""
    above = len([row for row in rows if (row.difference or 0.0) > 0])
    queries, lie = counted(len(rows), "query", "queries"), "lies" if above == 1 else "lie"
    return f"Score in {first} against score in {second}: {above:,} of {queries} {lie} above the diagonal."


def describe_scores(rows: Sequence[QueryRow], distribution: Distribution, first: str, second: str) -> str:
    """Describes the distribution of the scores of compared queries."""
    low_before, low_after = sum(distribution.before[:5]), sum(distribution.after[:5])
    return f"Scores of {counted(len(rows), 'query', 'queries')}: {low_before:,} below 50 in {first}, {low_after:,} in {second}."


def describe_search_times(times: SearchTimes, first: str, second: str) -> str:
    """Describes the search times of both runs."""
    return (
        f"Search times of {counted(times.queries, 'query', 'queries')}. {first}: median {times.median[0]:,} ms, 95 % within "
        f"{times.p95[0]:,} ms. {second}: median {times.median[1]:,} ms, 95 % within {times.p95[1]:,} ms."
    )
