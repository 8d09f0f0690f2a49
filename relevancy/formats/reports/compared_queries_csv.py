"""The queries of a comparison as CSV."""

from collections.abc import Iterable, Iterator, Sequence

from relevancy.comparison import QueryRow, name_runs
from relevancy.formats.cells import rounded, write_rows
from relevancy.models import Run

CHANGES = {0: "same", 1: "order", 2: "documents"}


def export_lines(rows: Iterable[QueryRow], runs: Sequence[Run]) -> Iterator[str]:
    """Yields the rows in parts. runs: the baseline and the other run, which name the columns of scores.

    Scores and differences have four decimals, overlaps six; missing values are empty. `changed`: whether the first k results are the
    same, the same documents in another order, or other documents. `to gain`: points between the score and that of the best order.
    """
    first, second = (f"{name[:1].lower()}{name[1:]}" for name in name_runs(runs))
    header = ["query", first, second, "difference", "weight", "jaccard", "rbo", "changed"]
    header += [f"unrated {first}", f"unrated {second}", f"ms {first}", f"ms {second}", f"to gain {second}"]
    cells = (
        (
            row.text,
            *map(rounded, (row.score_a, row.score_b, row.difference)),
            row.weight,
            *(rounded(value, 6) for value in (row.jaccard, row.rbo)),
            None if row.change is None else CHANGES[row.change],
            *(row.unrated_a, row.unrated_b, row.took_a, row.took_b),
            rounded(row.gain),
        )
        for row in rows
    )
    return write_rows(header, cells)
