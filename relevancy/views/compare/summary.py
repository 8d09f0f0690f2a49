"""The verdict of a comparison and the figures it rests on, in words, with links to the queries that are counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from relevancy import comparison
from relevancy.models import Run

PENDING = "…"
# Parameters of the list of the queries that a figure counts.
COUNTED = {
    "counts": {"state": "worse", "sort": "difference"},
    "changed": {"state": "changed"},
    "gain": {"best": "1", "sort": "-gain"},
    "left_out": {"state": "left_out"},
}


@dataclass(frozen=True)
class LinkedFigure:
    """A figure with the parameters of the list of the queries that it counts; without any if it counts none."""

    figure: comparison.Figure
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Summary:
    """What stands at the top of the comparison.

    sentence: the verdict. details: what follows from it, in sentences.
    score_a, score_b, difference: means over the compared queries; None if there are none.
    warnings: what makes the figures less than they seem.
    """

    sentence: str
    figures: Sequence[LinkedFigure]
    details: Sequence[str] = ()
    warnings: Sequence[str] = ()
    score_a: float | None = None
    score_b: float | None = None
    difference: float | None = None
    is_pending: bool = False


def pending_summary(a: Run, b: Run) -> Summary:
    """Returns a summary with the places of all numbers, as long as they are being computed."""
    figures = [LinkedFigure(comparison.Figure(key, label, PENDING)) for key, label in comparison.FIGURE_LABELS.items()]
    return Summary(f"{' and '.join(comparison.name_runs([a, b]))} are being compared.", figures, is_pending=True)


def summarize(
    figures: comparison.ComparisonFigures,
    other: int,
    tried: comparison.AttemptsTried,
    rows: Sequence[comparison.QueryRow],
) -> Summary:
    """Returns the summary of the baseline and the run at the position `other`."""
    result = figures.comparison
    pair = result.pairs[other - 1]  # those with the baseline come first
    summary = comparison.summarize_pair(figures, other, tried, rows)
    counted = COUNTED if result.table.left_out else COUNTED | {"left_out": {}}
    return Summary(
        sentence=comparison.describe_verdict(pair),
        figures=[LinkedFigure(figure, counted.get(figure.key, {})) for figure in summary.figures],
        details=summary.details,
        warnings=[*result.warnings, *summary.warnings],
        score_a=result.means[0],
        score_b=result.means[other],
        difference=pair.difference,
    )
