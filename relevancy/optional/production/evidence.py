"""Two attempts and what their comparison says, as Markdown for a pull request. Every figure is that of the comparison page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from relevancy import comparison
from relevancy.formats.evaluation.evaluation_markdown import escape_markdown
from relevancy.models import Attempt, Run, ScorerVersion
from relevancy.scoring.rounding import format_p, format_rounded, format_signed
from relevancy.statistics.generators import SEED
from relevancy.wording import counted

MAX_WORST = 10
MISSING = "–"


@dataclass(frozen=True)
class Pair:
    """The runs that are evidence. baseline: of the other attempt."""

    baseline: Run
    run: Run

    @property
    def runs(self) -> list[Run]:
        return [self.baseline, self.run]


def find_attempt_in_use(attempt: Attempt) -> Attempt | None:
    """Returns what an attempt is compared with unless another one is chosen: that of the last complete run before its own, or else its
    parent."""
    run = _last_complete(attempt)
    others = Run.objects.complete_before(run).exclude(attempt=attempt) if run else Run.objects.none()
    baseline = others.select_related("attempt__endpoint").first()
    other: Attempt | None = baseline.attempt if baseline else attempt.parent
    if other:
        other.case = attempt.case
    return other


def _last_complete(attempt: Attempt) -> Run | None:
    complete = Run.objects.newest_for(attempt.case_id).filter(attempt=attempt, status=Run.Status.COMPLETE)
    run: Run | None = complete.select_related("attempt").first()
    if run:
        run.case = attempt.case
    return run


def find_pair(attempt: Attempt, other: Attempt) -> tuple[Pair | None, str]:
    """Returns the last complete runs of both attempts, or what is missing, in a sentence."""
    baseline, run = _last_complete(other), _last_complete(attempt)
    if baseline and run:
        return Pair(baseline, run), ""
    missing = " and ".join(
        f"attempt {number}" for found, number in ((baseline, other.number), (run, attempt.number)) if found is None
    )
    have = "have" if baseline is None and run is None else "has"
    return (
        None,
        f"There is no comparison, because {missing} {have} no complete run. Run {missing}, then open this again.",
    )


def comparison_path(pair: Pair, version: ScorerVersion) -> str:
    """Returns the path of the comparison page."""
    query = {"run": [pair.baseline.number, pair.run.number], "scorer": version.scorer_id}
    return reverse("compare", args=[pair.run.case_id], query=query)


def build_evidence(
    *,
    pair: Pair,
    version: ScorerVersion,
    figures: comparison.ComparisonFigures | comparison.LargeFigures,
    site: str,
) -> str:
    """Returns the evidence.

    figures: of the comparison of the pair under the version. site: the address of this server without a slash at the end; without it
    there are no links.
    """
    baseline, run = pair.runs
    case = run.case
    lines = [
        f"### {escape_markdown(case.name)}: attempt {run.attempt.number} against attempt {baseline.attempt.number}",
        "",
    ]
    if isinstance(figures, comparison.LargeFigures):
        large = figures.pairs[0]
        sentence, details, warnings = large.sentence, large.details, figures.warnings
        means, difference, tags = figures.means, large.difference, figures.tags
        rows: Sequence[comparison.QueryRow] = ()
        facts = [
            ("Better · the same · worse", f"{large.wins:,} · {large.ties:,} · {large.losses:,}"),
            ("p", _p(large.p)),
        ]
        if interval := large.interval:
            span = f"{format_signed(interval.low, 1)} to {format_signed(interval.high, 1)}"
            facts.insert(0, ("95 % interval", span))
    else:
        result, summary = figures.comparison, comparison.summarize_pair(figures, 1)
        rows = comparison.list_rows(figures)
        sentence, details, warnings = summary.sentence, summary.details, [*result.warnings, *summary.warnings]
        means, difference, tags = result.means, summary.difference, result.tags
        facts = [(item.label, item.value) for item in comparison.list_figures(figures, 1, rows) if item.value]
    lines += [f"**{escape_markdown(sentence)}**", *(f"\n{escape_markdown(text)}" for text in details), ""]
    lines += [f"- Warning: {escape_markdown(text)}" for text in warnings] + ([""] if warnings else [])
    lines += [
        f"| {escape_markdown(str(version.scorer))} | Attempt {baseline.attempt.number} | Attempt {run.attempt.number} | Difference |"
    ]
    lines += [
        "|---|---:|---:|---:|",
        f"| all compared queries | {_score(means[0])} | {_score(means[1])} | {_signed(difference)} |",
    ]
    for tag in sorted((tag for tag in tags if tag.other == 1), key=lambda tag: tag.difference):
        p = f"p {_p(tag.p_holm)}" if tag.p is not None else tag.reason
        name = f"{escape_markdown(tag.tag)} ({counted(tag.queries, 'query', 'queries')}, {p})"
        lines.append(f"| {name} | {_score(tag.score_a)} | {_score(tag.score_b)} | {_signed(tag.difference)} |")
    lines += [
        "",
        "| Figure | |",
        "|---|---|",
        *(f"| {escape_markdown(label)} | {escape_markdown(value)} |" for label, value in facts),
    ]
    worst = comparison.select_rows([*rows], state="worse", sort="difference")[:MAX_WORST]
    if worst:
        lines += ["", "| Queries that lose most | Before | After | Difference |", "|---|---:|---:|---:|"]
        lines += [
            f"| {escape_markdown(row.text)} | {_score(row.score_a)} | {_score(row.score_b)} | {_signed(row.difference)} |"
            for row in worst
        ]
    lines += ["", f"Scorer {escape_markdown(str(version.scorer))}; seed {SEED}."]
    for each in pair.runs:
        engine = f", {escape_markdown(each.version)}" if each.version else ""
        at = f", {each.finished_at:%Y-%m-%d %H:%M} UTC" if each.finished_at else ""
        searched = f"{counted(each.queries, 'query', 'queries')}, {each.failed:,} failed"
        lines.append(f"{escape_markdown(each.label)} of attempt {each.attempt.number}: {searched}{engine}{at}.")
    if site:
        lines += ["", f"[The comparison, query by query]({site}{comparison_path(pair, version)})"]
    return "\n".join(lines) + "\n"


def _score(value: float | None) -> str:
    return MISSING if value is None else format_rounded(value, 1)


def _signed(value: float | None) -> str:
    return MISSING if value is None else format_signed(value, 1)


def _p(value: float | None) -> str:
    return MISSING if value is None else format_p(value)
