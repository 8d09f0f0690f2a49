"""The table of a comparison of three to five runs: each one against the baseline, and all against each other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from relevancy import comparison
from relevancy.models import Run


@dataclass(frozen=True)
class RunRow:
    """A run of the comparison. pair: against the baseline; None for the baseline itself.

    p_hsd: against each run in order; None for itself, and without scores.
    show_url: shows it against the baseline. baseline_url: makes it the baseline; empty if it belongs to another case.
    """

    run: Run
    name: str
    score: float | None
    pair: comparison.RunPair | None
    p_hsd: Sequence[float | None]
    is_shown: bool
    show_url: str
    baseline_url: str


@dataclass(frozen=True)
class SeveralRuns:
    """rows: in the order of the address, the baseline first. names: of all runs. groups: which cannot be told apart, in sentences."""

    rows: Sequence[RunRow]
    names: Sequence[str]
    groups: Sequence[str]


def build_several(
    result: comparison.Comparison, shown: int, show_url: Callable[[int], str], baseline_url: Callable[[int], str]
) -> SeveralRuns:
    """Returns the table. shown: position of the run that the page shows against the baseline."""
    names = comparison.name_runs(result.runs)
    p = _p_of_pairs(result)
    rows = [
        RunRow(
            run=run,
            name=names[position],
            score=result.means[position],
            pair=result.pairs[position - 1] if position else None,  # those with the baseline come first
            p_hsd=p[position],
            is_shown=position == shown,
            show_url=show_url(position) if position else "",
            baseline_url=baseline_url(position) if position else "",
        )
        for position, run in enumerate(result.runs)
    ]
    return SeveralRuns(rows, names, comparison.describe_groups(result))


def _p_of_pairs(result: comparison.Comparison) -> list[list[float | None]]:
    """Returns the corrected p of each run against each other run."""
    p: list[list[float | None]] = [[None] * len(result.runs) for _ in result.runs]
    for pair, (first, second) in zip(result.pairs, combinations(range(len(result.runs)), 2), strict=True):
        p[first][second] = p[second][first] = pair.p_hsd
    return p
