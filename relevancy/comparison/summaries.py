"""The figures of a comparison with their labels, and what follows from them in words: for the page and for the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from relevancy import glossary
from relevancy.models import Run
from relevancy.scoring.rounding import format_coefficient, format_p, format_rounded, format_signed
from relevancy.wording import counted

from .attempts_tried import AttemptsTried, count_attempts_tried
from .best_order import find_gain
from .comparisons import RunPair, name_runs
from .figures import ComparisonFigures
from .query_rows import QueryRow
from .result_lists import OTHER_DOCUMENTS, REORDERED
from .sentences import describe_carriers, describe_lopsided, describe_verdict, format_detectable

MISSING = "–"
COVERAGE_WARNING = 0.1  # between the rated shares of two runs
MAX_NAMED = 3
SMALLEST_GAIN = 0.05  # points that ratings must add to a score to be worth a sentence
KEY_FIGURES = ("interval", "p", "counts", "coverage")


@dataclass(frozen=True)
class Figure:
    """A figure with its label. key: its stable name, that of its word in the glossary. text: what it means, with its unit.

    value: empty if there is none. is_muted: whether it is not reliable.
    """

    key: str
    label: str
    value: str
    text: str
    is_muted: bool = False


def _figure(key: str, value: str, *, label: str = "", more: str = "", is_muted: bool = False) -> Figure:
    """Returns a figure. label: another one than the word of the glossary. more: a sentence about this figure alone."""
    term = glossary.terms[key]
    return Figure(key, label or term.word, value, " ".join(filter(None, [term.meaning, more])), is_muted)


@dataclass(frozen=True)
class PairSummary:
    """A run against the baseline, in words.

    sentence: the verdict. figures: those that matter most; `list_figures` returns all. details: what has to be known beside the
    verdict, in sentences. warnings: what makes the figures less than they seem. score_a, score_b, difference: means over the compared
    queries; None if there are none.
    """

    sentence: str
    figures: Sequence[Figure]
    details: Sequence[str] = ()
    warnings: Sequence[str] = ()
    score_a: float | None = None
    score_b: float | None = None
    difference: float | None = None


def summarize_pair(figures: ComparisonFigures, other: int) -> PairSummary:
    """Returns the summary of the run at the position `other` against the baseline. One SQL statement, and those of optional apps."""
    result = figures.comparison
    pair = result.pairs[other - 1]  # those with the baseline come first
    tried = count_attempts_tried(pair.a, pair.b, result.version, pair.paired.p)
    return PairSummary(
        sentence=describe_verdict(pair),
        figures=_key_figures(figures, other),
        details=_details(pair, tried),
        warnings=list_rating_warnings(figures, other),
        score_a=result.means[0],
        score_b=result.means[other],
        difference=pair.difference,
    )


def summarize_pending(pair: Sequence[Run]) -> PairSummary:
    """Returns a summary with the places of the key figures, as long as they are being computed."""
    figures = [_figure(key, "…") for key in KEY_FIGURES]
    return PairSummary(f"{' and '.join(name_runs(pair))} are being compared.", figures)


def list_rating_warnings(figures: ComparisonFigures, other: int) -> list[str]:
    """Returns what makes the ratings unfair to the baseline or to the run at the position `other`, in sentences."""
    return [*_coverage_warnings(figures, other), *_pool_warnings(figures, other)]


def _key_figures(figures: ComparisonFigures, other: int) -> list[Figure]:
    """Returns the figures of `KEY_FIGURES`, in that order."""
    pair = figures.comparison.pairs[other - 1]
    interval, differences = pair.paired.interval, pair.by_query
    coverage = [figures.columns.coverage[run] for run in (0, other)]
    unreliable = interval is not None and not interval.is_reliable
    p_t = pair.paired.p_t
    return [
        _figure(
            "interval",
            _range(interval.low, interval.high) if interval else "",
            more="These are too few queries for an interval you can rely on." if unreliable else "",
            is_muted=unreliable,
        ),
        _figure(
            "p",
            _p_text(pair.paired.p),
            more=f"Of the randomisation test; paired t test: {_p_text(p_t)}." if p_t is not None else "",
        ),
        _figure(
            "counts",
            f"{differences.wins:,} · {differences.ties:,} · {differences.losses:,}" if len(differences) else "",
        ),
        _figure(
            "coverage",
            " → ".join([_percent(coverage_of_run.share) for coverage_of_run in coverage]),
            label=f"Rated of the first {max([coverage_of_run.k for coverage_of_run in coverage])}",
        ),
    ]


def list_figures(figures: ComparisonFigures, other: int, rows: Sequence[QueryRow]) -> list[Figure]:
    """Returns all figures of the run at the position `other` against the baseline, with an empty value for those that there are not.

    rows: all queries of the comparison; `list_rows` returns them.
    """
    interval, p, counts, coverage = _key_figures(figures, other)
    pair = figures.comparison.pairs[other - 1]
    overlap, bounds, carriers = pair.lists, pair.bounds, len(pair.carriers)
    named = ", ".join([f"“{text}”" for text in pair.carriers[:MAX_NAMED]])
    gains = [find_gain(figures.comparison.table.present, run).points for run in (0, other)]
    without_own = [
        MISSING if bias.score_without is None else format_signed(-bias.gain, 1)
        for bias in (figures.pool[0], figures.pool[other])
    ]
    changes = [row.change for row in rows]
    others, reordered = changes.count(OTHER_DOCUMENTS), changes.count(REORDERED)
    left_out = len(figures.comparison.table.left_out)
    return [
        interval,
        p,
        _figure("effect", _or_empty(pair.paired.differences.effect, lambda effect: format_signed(effect, 2))),
        counts,
        _figure("detectable", format_detectable(pair) if pair.paired.detectable else ""),
        _figure(
            "carriers",
            counted(carriers, "query", "queries") if carriers else "",
            more=f"The largest: {named}." if carriers > 1 else f"It is {named}." if carriers else "",
        ),
        _figure("jaccard", _or_empty(overlap.jaccard, format_coefficient), label=f"Jaccard@{overlap.k}"),
        _figure("rbo", _or_empty(overlap.rbo, format_coefficient)),
        _figure(
            "changed",
            f"{others + reordered:,} of {overlap.queries:,}" if overlap.queries else "",
            label=f"First {overlap.k} changed",
            more=f"Of {overlap.queries:,} queries, {others:,} returned other documents among the first {overlap.k}, and "
            f"{reordered:,} the same in another order.",
        ),
        coverage,
        _figure("bounds", _range(*bounds) if bounds else ""),
        _figure(
            "pool",
            "" if without_own == [MISSING] * 2 else " · ".join(without_own),
            more=" ".join(_describe_pool(figures, other)),
        ),
        _figure(
            "gain",
            ""
            if gains == [None] * 2
            else " → ".join([MISSING if points is None else format_rounded(points, 1) for points in gains]),
        ),
        _figure("not-compared", f"{left_out:,}" if left_out else ""),
    ]


def _details(pair: RunPair, tried: AttemptsTried) -> list[str]:
    """Returns what has to be known beside the verdict, in sentences."""
    sentences = [sentence for sentence in (describe_carriers(pair), describe_lopsided(pair)) if sentence]
    if tried.count + tried.settings > 1 and tried.p is not None:
        attempts = counted(tried.count, "attempt has", "attempts have")
        searched = counted(tried.settings, "other setting was", "other settings were")
        to_find = f", and {searched} tried to find {'it' if tried.count == 1 else 'them'}" if tried.settings else ""
        sentences.append(
            f"{attempts} been compared with {pair.names[0]}{to_find}: corrected for that, {_p_text(tried.p)}."
        )
    interval = pair.paired.interval
    if interval is not None and not interval.is_reliable:
        sentences.append("These are too few queries for an interval you can rely on.")
    return sentences


def _describe_pool(figures: ComparisonFigures, other: int) -> list[str]:
    """Returns what the ratings of documents that only one run returned add to its score, in sentences."""
    pair, sentences = figures.comparison.pairs[other - 1], []
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
        return ""
    text = format_p(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def _percent(share: float | None) -> str:
    return MISSING if share is None else f"{format_rounded(100 * share, 0)} %"


def _or_empty(number: float | None, formatted: Callable[[float], str]) -> str:
    return "" if number is None else formatted(number)
