"""The figures of a comparison with their labels, and what follows from them in words: for the page and for the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from relevancy.models import Run
from relevancy.scoring.rounding import format_coefficient, format_p, format_rounded, format_signed
from relevancy.wording import counted

from .attempts_tried import AttemptsTried, count_attempts_tried
from .best_order import find_gain
from .comparisons import RunPair, name_runs
from .figures import ComparisonFigures
from .query_rows import QueryRow
from .result_lists import OTHER_DOCUMENTS, REORDERED
from .sentences import describe_carriers, describe_verdict, format_detectable

MISSING = "–"
COVERAGE_WARNING = 0.1  # between the rated shares of two runs
MAX_NAMED = 3
SMALLEST_GAIN = 0.05  # points that ratings must add to a score to be worth a sentence
FIGURE_LABELS = {
    "interval": "95 % interval",
    "p": "Randomisation test",
    "effect": "Effect size",
    "counts": "Better · same · worse",
    "detectable": "Detectable from",
    "carriers": "80 % carried by",
    "jaccard": "Jaccard",
    "rbo": "Rank-biased overlap",
    "changed": "Results changed",
    "coverage": "Rated",
    "bounds": "Once all is rated",
    "pool": "Without own ratings",
    "gain": "To gain",
    "left_out": "Left out",
}


@dataclass(frozen=True)
class Figure:
    """A figure with its label. key: its stable name. title: what it means; may be empty. is_muted: whether it is not reliable."""

    key: str
    label: str
    value: str
    title: str = ""
    is_muted: bool = False


def _figure(key: str, value: str, title: str = "", *, is_muted: bool = False) -> Figure:
    return Figure(key, FIGURE_LABELS[key], value, title, is_muted)


@dataclass(frozen=True)
class PairSummary:
    """A run against the baseline, in words.

    sentence: the verdict. figures: with their labels. details: what follows from them, in sentences. warnings: what makes the figures
    less than they seem. score_a, score_b, difference: means over the compared queries; None if there are none.
    """

    sentence: str
    figures: Sequence[Figure]
    details: Sequence[str] = ()
    warnings: Sequence[str] = ()
    score_a: float | None = None
    score_b: float | None = None
    difference: float | None = None


def summarize_pair(figures: ComparisonFigures, other: int, rows: Sequence[QueryRow]) -> PairSummary:
    """Returns the summary of the run at the position `other` against the baseline. One SQL statement.

    rows: all queries of the comparison; `list_rows` returns them.
    """
    result = figures.comparison
    pair = result.pairs[other - 1]  # those with the baseline come first
    tried = count_attempts_tried(pair.a, pair.b, result.version, pair.paired.p)
    return PairSummary(
        sentence=describe_verdict(pair),
        figures=[*_test_figures(pair), *_count_figures(pair), *_list_figures(figures, other, rows)],
        details=_details(figures, other, tried, rows),
        warnings=list_rating_warnings(figures, other),
        score_a=result.means[0],
        score_b=result.means[other],
        difference=pair.difference,
    )


def summarize_pending(pair: Sequence[Run]) -> PairSummary:
    """Returns a summary with the places of all figures, as long as they are being computed."""
    figures = [_figure(key, "…") for key in FIGURE_LABELS]
    return PairSummary(f"{' and '.join(name_runs(pair))} are being compared.", figures)


def list_rating_warnings(figures: ComparisonFigures, other: int) -> list[str]:
    """Returns what makes the ratings unfair to the baseline or to the run at the position `other`, in sentences."""
    return [*_coverage_warnings(figures, other), *_pool_warnings(figures, other)]


def _test_figures(pair: RunPair) -> list[Figure]:
    paired, interval = pair.paired, pair.paired.interval
    p_t = f"Paired t test: {_p_text(paired.p_t)}" if paired.p_t is not None else ""
    unreliable = interval is not None and not interval.is_reliable
    return [
        _figure(
            "interval",
            _range(interval.low, interval.high) if interval else MISSING,
            "Too few queries for an interval you can rely on" if unreliable else "",
            is_muted=unreliable,
        ),
        _figure("p", _p_text(paired.p), p_t),
        _figure(
            "effect",
            _or_missing(paired.differences.effect, lambda effect: format_signed(effect, 2)),
            "Difference divided by the standard deviation of the differences, both with the weights of the queries",
        ),
    ]


def _count_figures(pair: RunPair) -> list[Figure]:
    differences = pair.by_query
    counts = f"{differences.wins:,} · {differences.ties:,} · {differences.losses:,}"
    carriers = len(pair.carriers)
    return [
        _figure("counts", counts),
        _figure(
            "detectable",
            format_detectable(pair),
            "The smallest true difference that so many queries find four times in five",
        ),
        _figure(
            "carriers",
            counted(carriers, "query", "queries") if carriers else MISSING,
            ", ".join([f"“{text}”" for text in pair.carriers[:MAX_NAMED]]),
        ),
    ]


def _list_figures(
    figures: ComparisonFigures,
    other: int,
    rows: Sequence[QueryRow],
) -> list[Figure]:
    pair = figures.comparison.pairs[other - 1]
    overlap, bounds = pair.lists, pair.bounds
    coverage = [figures.columns.coverage[run] for run in (0, other)]
    gains = [find_gain(figures.comparison.table.present, run).points for run in (0, other)]
    without_own = [
        MISSING if bias.score_without is None else format_signed(-bias.gain, 1)
        for bias in (figures.pool[0], figures.pool[other])
    ]
    changed = len([row for row in rows if row.change])
    left_out = len(figures.comparison.table.left_out)
    return [
        Figure(
            "jaccard", f"Jaccard@{overlap.k}", _or_missing(overlap.jaccard, format_coefficient), "Mean over the queries"
        ),
        _figure("rbo", _or_missing(overlap.rbo, format_coefficient), "Mean over the queries"),
        Figure(
            "changed",
            f"First {overlap.k} changed",
            f"{changed:,} of {overlap.queries:,}",
        ),
        Figure(
            "coverage",
            f"Rated of the first {max([coverage_of_run.k for coverage_of_run in coverage])}",
            " → ".join([_percent(coverage_of_run.share) for coverage_of_run in coverage]),
            "Share of rated documents, before → after",
        ),
        _figure(
            "bounds",
            _range(*bounds) if bounds else MISSING,
            "The difference lies between these, whatever grades the unrated documents get"
            if bounds
            else "This scorer gives no bounds",
        ),
        _figure(
            "pool",
            " · ".join(without_own),
            "How each score changes without the ratings of documents that no other run returned among the first k",
        ),
        _figure(
            "gain",
            " → ".join([MISSING if points is None else format_rounded(points, 1) for points in gains]),
            "Points between each score and that of the best order that today’s ratings allow, before → after",
        ),
        _figure("left_out", f"{left_out:,}"),
    ]


def _details(
    figures: ComparisonFigures,
    other: int,
    tried: AttemptsTried,
    rows: Sequence[QueryRow],
) -> list[str]:
    """Returns sentences that belong to the verdict."""
    pair = figures.comparison.pairs[other - 1]
    sentences = [carried] if (carried := describe_carriers(pair)) else []
    if tried.count > 1 and tried.p is not None:
        sentences.append(
            f"{tried.count:,} attempts have been compared with {pair.names[0]}: corrected for that, {_p_text(tried.p)}."
        )
    interval = pair.paired.interval
    if interval is not None and not interval.is_reliable:
        sentences.append("These are too few queries for an interval you can rely on.")
    changes = [row.change for row in rows]
    overlap = pair.lists
    if overlap.queries:
        sentences.append(
            f"Of {overlap.queries:,} queries, {changes.count(OTHER_DOCUMENTS):,} returned other documents among the first "
            f"{overlap.k}, and {changes.count(REORDERED):,} the same in another order."
        )
    for bias, name in zip((figures.pool[0], figures.pool[other]), pair.names, strict=True):
        if bias.score is not None and bias.score_without is not None and abs(bias.gain) >= SMALLEST_GAIN:
            on_queries = (
                ""
                if bias.queries == len(pair.by_query)
                else f" on the {bias.queries:,} queries that still have a score"
            )
            sentences.append(
                f"Without the ratings of the {counted(bias.documents, 'document')} that only {name} returned, it would score "
                f"{format_rounded(bias.score_without, 1)} instead of {format_rounded(bias.score, 1)}{on_queries}."
            )
    return sentences


def _pool_warnings(figures: ComparisonFigures, other: int) -> list[str]:
    """Warns if documents were rated for one of both runs only, and the other one has documents that nobody has rated."""
    names, warnings = figures.comparison.pairs[other - 1].names, []
    for run, name, against, other_name in ((0, names[0], other, names[1]), (other, names[1], 0, names[0])):
        documents, coverage = figures.pool[run].documents, figures.columns.coverage[against]
        unrated = coverage.documents - coverage.rated
        if documents and not figures.pool[against].documents and unrated:
            warnings.append(
                f"{counted(documents, 'rated document')} stand{'s' if documents == 1 else ''} only in the results of {name} and none "
                f"only in those of {other_name}, which has {unrated:,} unrated: the ratings favour {name}."
            )
    return warnings


def _coverage_warnings(figures: ComparisonFigures, other: int) -> list[str]:
    first, second = figures.columns.coverage[0], figures.columns.coverage[other]
    if first.share is None or second.share is None or abs(first.share - second.share) <= COVERAGE_WARNING:
        return []
    name_a, name_b = figures.comparison.pairs[other - 1].names
    fewer = name_a if first.share < second.share else name_b
    return [
        f"Of the documents that the scorer considers, {_percent(first.share)} are rated in {name_a} and {_percent(second.share)} "
        f"in {name_b}. Unrated documents score nothing, so rate those of {fewer} before you decide."
    ]


def _range(low: float, high: float) -> str:
    return f"{format_signed(low, 1)} to {format_signed(high, 1)}"


def _p_text(p: float | None) -> str:
    if p is None:
        return MISSING
    text = format_p(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def _percent(share: float | None) -> str:
    return MISSING if share is None else f"{format_rounded(100 * share, 0)} %"


def _or_missing(number: float | None, formatted: Callable[[float], str]) -> str:
    return MISSING if number is None else formatted(number)
