"""The table of a comparison of three to five runs: each one against the baseline, and all against each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from relevancy import comparison
from relevancy.models import Case, Run


@dataclass(frozen=True)
class RunRow:
    """A run of the comparison. pair: against the baseline; None for the baseline itself.

    p_hsd: against each run in order; None for itself, and without scores.
    numbers: of all runs with it as the baseline; empty if it is that already, or belongs to another case.
    """

    position: int
    run: Run
    name: str
    score: float | None
    pair: comparison.RunPair | None
    p_hsd: Sequence[float | None]
    is_shown: bool
    numbers: Sequence[str]


@dataclass(frozen=True)
class SeveralRuns:
    """rows: in the order of the address, the baseline first. names: of all runs. groups: which cannot be told apart, in sentences."""

    rows: Sequence[RunRow]
    names: Sequence[str]
    groups: Sequence[str]


def build_several(result: comparison.Comparison, numbers: Sequence[str], shown: int, case: Case) -> SeveralRuns:
    """Returns the table. numbers: of the runs, as addresses name them. shown: position of the run that the page shows against the
    baseline. case: of the page."""
    names = comparison.name_runs(result.runs)
    p = _p_of_pairs(result)
    rows = [
        RunRow(
            position=position,
            run=run,
            name=names[position],
            score=result.means[position],
            pair=result.pairs[position - 1] if position else None,  # those with the baseline come first
            p_hsd=p[position],
            is_shown=position == shown,
            numbers=[numbers[position], *numbers[:position], *numbers[position + 1 :]]
            if position and run.case_id == case.pk
            else [],
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
