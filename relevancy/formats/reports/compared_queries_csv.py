"""The queries of a comparison as CSV."""

from collections.abc import Iterator, Sequence

from relevancy.comparison import QueryRow, name_runs
from relevancy.formats.cells import format_row
from relevancy.models import Run

CHANGES = {0: "same", 1: "order", 2: "documents"}


def export_lines(rows: Sequence[QueryRow], runs: Sequence[Run]) -> Iterator[str]:
    """Yields the rows line by line. runs: the baseline and the other run, which name the columns of scores.

    Scores and differences have four decimals, overlaps six; missing values are empty. `changed`: whether the first k results are the
    same, the same documents in another order, or other documents. `to gain`: points between the score and that of the best order.
    """
    first, second = (f"{name[:1].lower()}{name[1:]}" for name in name_runs(runs))
    header = ("query", first, second, "difference", "weight", "jaccard", "rbo", "changed")
    yield format_row(
        (*header, f"unrated {first}", f"unrated {second}", f"ms {first}", f"ms {second}", f"to gain {second}")
    )
    for row in rows:
        yield format_row(
            (
                row.text,
                *(_rounded(value, 4) for value in (row.score_a, row.score_b, row.difference)),
                row.weight,
                *(_rounded(value, 6) for value in (row.jaccard, row.rbo)),
                "" if row.change is None else CHANGES[row.change],
                *("" if value is None else value for value in (row.unrated_a, row.unrated_b, row.took_a, row.took_b)),
                _rounded(row.gain, 4),
            )
        )


def _rounded(value: float | None, places: int) -> float | str:
    # Adding zero turns −0.0 into 0.0.
    return "" if value is None else round(value, places) + 0.0
