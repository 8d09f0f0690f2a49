"""The queries of a run against the best order as CSV."""

from collections.abc import Iterator, Sequence
from itertools import batched

from relevancy.comparison import IdealComparison, QueryRow, split_gains
from relevancy.formats.cells import format_row

BATCH = 500  # queries whose result lists are read at a time


def export_lines(result: IdealComparison, rows: Sequence[QueryRow]) -> Iterator[str]:
    """Yields the rows line by line. Points have four decimals; missing values are empty.

    `by order` and `by documents`: what a query can gain by a better order of the documents that the run fetched, and by rated
    documents that it did not fetch. Reads the result lists.
    """
    name = f"run {result.run.number}"
    yield format_row(("query", name, "best", "to gain", "by order", "by documents", "weight", "unrated"))
    for batch in batched(rows, BATCH):
        splits = split_gains(result.run, result.version, batch)
        for row in batch:
            split = splits.get(row.query_id)
            points = (row.score_a, row.score_b, row.difference)
            of_split = (split.by_order, split.by_documents) if split else (None, None)
            yield format_row(
                (
                    row.text,
                    *("" if value is None else round(value, 4) + 0.0 for value in (*points, *of_split)),
                    row.weight,
                    "" if row.unrated_a is None else row.unrated_a,
                )
            )
