"""The verdict of a comparison and the figures it rests on, in words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from relevancy import comparison
from relevancy.models import Run
from relevancy.templatetags import numbers

PENDING = "…"
COVERAGE_WARNING = 0.1  # between the rated shares of two runs
MAX_NAMED = 3


@dataclass(frozen=True)
class Figure:
    """A figure with its label. key: its stable name; title: what it means; url: of the queries it counts, or empty."""

    key: str
    label: str
    value: str
    title: str = ""
    url: str = ""
    is_muted: bool = False


@dataclass(frozen=True)
class Summary:
    """What stands at the top of the comparison.

    sentence: the verdict. details: what follows from it, in sentences.
    score_a, score_b, difference: means over the compared queries; None if there are none.
    warnings: what makes the figures less than they seem.
    """

    a: Run
    b: Run
    sentence: str
    figures: Sequence[Figure]
    details: Sequence[str] = ()
    warnings: Sequence[str] = ()
    score_a: float | None = None
    score_b: float | None = None
    difference: float | None = None
    is_pending: bool = False


def pending_summary(a: Run, b: Run) -> Summary:
    """Returns a summary with the places of all numbers, as long as they are being computed."""
    figures = [Figure(key, label, PENDING) for key, label in LABELS.items()]
    return Summary(a, b, f"{' and '.join(comparison.name_runs([a, b]))} are being compared.", figures, is_pending=True)


LABELS = {
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
    "left_out": "Left out",
}


def summarize(
    figures: comparison.ComparisonFigures,
    other: int,
    tried: comparison.AttemptsTried,
    rows: Sequence[comparison.QueryRow],
    list_url: Callable[..., str],
) -> Summary:
    """Returns the summary of the baseline and the run at the position `other`.

    list_url: returns the address of the list with some parameters changed.
    """
    result = figures.comparison
    pair = result.pairs[other - 1]  # those with the baseline come first
    return Summary(
        a=pair.a,
        b=pair.b,
        sentence=comparison.describe_verdict(pair),
        figures=[
            *_test_figures(pair, tried),
            *_count_figures(pair, list_url),
            *_list_figures(figures, other, rows, list_url),
        ],
        details=_details(figures, other, tried, rows),
        warnings=[*result.warnings, *_coverage_warnings(figures, other)],
        score_a=result.means[0],
        score_b=result.means[other],
        difference=pair.difference,
    )


def _test_figures(pair: comparison.RunPair, tried: comparison.AttemptsTried) -> list[Figure]:
    paired, interval = pair.paired, pair.paired.interval
    p_t = f"Paired t test: {_p_text(paired.p_t)}" if paired.p_t is not None else ""
    unreliable = interval is not None and not interval.is_reliable
    return [
        Figure(
            "interval",
            LABELS["interval"],
            _range(interval.low, interval.high) if interval else numbers.MISSING,
            "Too few queries for an interval you can rely on" if unreliable else "",
            is_muted=unreliable,
        ),
        Figure("p", LABELS["p"], _p_text(paired.p), p_t),
        Figure(
            "effect",
            LABELS["effect"],
            numbers.effect(paired.differences.effect),
            "Mean of the differences divided by their standard deviation",
        ),
    ]


def _count_figures(pair: comparison.RunPair, list_url: Callable[..., str]) -> list[Figure]:
    differences, detectable = pair.by_query, pair.paired.detectable
    counts = f"{differences.wins:,} · {differences.ties:,} · {differences.losses:,}"
    carriers = len(pair.carriers)
    return [
        Figure("counts", LABELS["counts"], counts, url=list_url(state="worse", up="1", page="")),
        Figure(
            "detectable",
            LABELS["detectable"],
            numbers.MISSING if detectable is None else numbers.score(detectable),
            "The smallest true difference that so many queries find four times in five",
        ),
        Figure(
            "carriers",
            LABELS["carriers"],
            f"{carriers:,} quer{'y' if carriers == 1 else 'ies'}" if carriers else numbers.MISSING,
            ", ".join(f"“{text}”" for text in pair.carriers[:MAX_NAMED]),
        ),
    ]


def _list_figures(
    figures: comparison.ComparisonFigures,
    other: int,
    rows: Sequence[comparison.QueryRow],
    list_url: Callable[..., str],
) -> list[Figure]:
    overlap, bounds = figures.columns.overlaps[other - 1], figures.bounds[other - 1]
    of_pair = [figures.columns.coverage[0], figures.columns.coverage[other]]
    changed = sum(bool(row.change) for row in rows)
    coverage = " → ".join(_percent(each.share) for each in of_pair)
    considered = max(each.k for each in of_pair)
    left_out = len(figures.comparison.table.left_out)
    return [
        Figure("jaccard", f"Jaccard@{overlap.k}", numbers.coefficient(overlap.jaccard), "Mean over the queries"),
        Figure("rbo", LABELS["rbo"], numbers.coefficient(overlap.rbo), "Mean over the queries"),
        Figure(
            "changed",
            f"First {overlap.k} changed",
            f"{changed:,} of {overlap.queries:,}",
            url=list_url(state="changed", page=""),
        ),
        Figure("coverage", f"Rated of the first {considered}", coverage, "Share of rated documents, before → after"),
        Figure(
            "bounds",
            LABELS["bounds"],
            _range(bounds.low, bounds.high) if bounds else numbers.MISSING,
            "The difference lies between these, whatever grades the unrated documents get"
            if bounds
            else "This scorer gives no bounds",
        ),
        Figure(
            "left_out", LABELS["left_out"], f"{left_out:,}", url=list_url(state="left_out", page="") if left_out else ""
        ),
    ]


def _details(
    figures: comparison.ComparisonFigures,
    other: int,
    tried: comparison.AttemptsTried,
    rows: Sequence[comparison.QueryRow],
) -> list[str]:
    """Returns sentences that belong to the verdict."""
    pair = figures.comparison.pairs[other - 1]
    sentences = []
    if pair.carriers:
        total = "gain" if (pair.difference or 0) > 0 else "loss"
        count = len(pair.carriers)
        if count == 1:
            sentences.append(f"One query, “{pair.carriers[0]}”, makes up 80 % of the {total}.")
        else:
            sentences.append(f"{count:,} queries make up 80 % of the {total}.")
    if tried.count > 1 and tried.p is not None:
        sentences.append(
            f"{tried.count:,} attempts have been compared with {pair.names[0]}: corrected for that, {_p_text(tried.p)}."
        )
    interval = pair.paired.interval
    if interval is not None and not interval.is_reliable:
        sentences.append("These are too few queries for an interval you can rely on.")
    reordered = sum(row.change == 1 for row in rows)
    changed = sum(row.change == 2 for row in rows)
    overlap = figures.columns.overlaps[other - 1]
    if overlap.queries:
        sentences.append(
            f"Of {overlap.queries:,} queries, {changed:,} returned other documents among the first {overlap.k}, and "
            f"{reordered:,} the same in another order."
        )
    return sentences


def _coverage_warnings(figures: comparison.ComparisonFigures, other: int) -> list[str]:
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
    return f"{numbers.difference(low)} to {numbers.difference(high)}"


def _p_text(p: float | None) -> str:
    if p is None:
        return numbers.MISSING
    text = numbers.pvalue(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def _percent(share: float | None) -> str:
    return numbers.MISSING if share is None else f"{numbers.whole(100 * share)} %"
