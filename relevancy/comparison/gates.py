"""The release gate: whether a run is worse than its baseline by more than is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError

from relevancy import scores
from relevancy.models import QueryScore, Run, ScorerVersion
from relevancy.scoring.rounding import format_rounded, format_signed
from relevancy.statistics import ALPHA, Interval, find_interval, list_too_few
from relevancy.wording import counted

from .comparisons import Comparison, compare

DEFAULT_ALPHA = ALPHA
TOLERANCE = 1e-9  # points
MAX_NAMED = 30  # failed queries in a message


@dataclass(frozen=True)
class Drop:
    """A difference and what it says about a drop.

    independent: the queries that the test counts. interval: of the difference, at the level 1 − alpha: the whole interval is on one
    side of 0 exactly if p of the comparison is below alpha. max_drop: allowed drop, in points.
    """

    difference: float
    independent: int
    interval: Interval
    max_drop: float
    alpha: float

    @property
    def is_too_few(self) -> bool:
        """Whether so few queries cannot show any drop, because p is never below alpha."""
        return list_too_few([self.independent], self.alpha)[0]

    @property
    def has_dropped(self) -> bool:
        """Whether the score fell by more than is allowed, and the fall is not noise: p is below alpha."""
        return not self.is_too_few and self.difference < -self.max_drop - TOLERANCE and self.interval.high < 0

    @property
    def is_non_inferior(self) -> bool:
        """Whether a drop by more than is allowed can be excluded: the whole interval is above −max_drop."""
        return not self.is_too_few and self.interval.low >= -self.max_drop - TOLERANCE

    def conclude(self) -> str:
        """Returns the end of a sentence: whether a drop is shown or excluded."""
        if self.is_too_few:
            return "too few queries to tell"
        allowed = f"a drop of more than {self.max_drop:g} points"
        if self.has_dropped:
            return f"{allowed} that is not noise"
        if self.is_non_inferior:
            return f"{allowed} can be excluded"
        return f"{allowed} can neither be shown nor excluded with so many queries"


@dataclass(frozen=True)
class DropCheck(Drop):
    """A run against a baseline, under one scorer version. comparison: the baseline is its first run."""

    comparison: Comparison

    def describe(self) -> str:
        """Returns one sentence with the difference, the interval and the conclusion."""
        low, high = (format_rounded(bound, 1) for bound in (self.interval.low, self.interval.high))
        queries = len(self.comparison.table)
        figures = (
            f"{format_signed(self.difference, 1)} points ({100 * (1 - self.alpha):g} %: {low} to {high}) against "
            f"{self.comparison.runs[0]} on the same {counted(queries, 'query', 'queries')}"
        )
        if self.independent < queries:
            figures += f", {self.independent:,} independent"
        return f"{self.comparison.version.scorer}: {figures}: {self.conclude()}."


def format_difference(difference: float | None) -> str:
    """Returns a difference in points with its sign; “–” without one."""
    return "–" if difference is None else format_signed(difference, 1)


def check_limits(*, max_drop: float, alpha: float) -> None:
    """Raises ValidationError if the allowed drop or alpha is out of range."""
    if not 0 <= max_drop <= 100:
        raise ValidationError(f"The allowed drop is {max_drop:g}. It must be between 0 and 100 points.")
    if not 0 < alpha < 1:
        raise ValidationError(f"Alpha is {alpha:g}. It must be between 0 and 1.")


def check_drop(
    *, run: Run, baseline: Run, version: ScorerVersion, max_drop: float = 0.0, alpha: float = DEFAULT_ALPHA
) -> DropCheck:
    """Compares a run with its baseline and checks the drop of its score.

    max_drop: points, from 0 to 100.
    alpha: the interval has the level 1 − alpha.

    Raises ValidationError if a limit is out of range, the runs cannot be compared, or fewer than two queries are scored in
    both: then nothing can be said about noise.
    """
    check_limits(max_drop=max_drop, alpha=alpha)
    comparison = compare(runs=[baseline, run], version=version)
    paired = comparison.pairs[0].paired
    interval = paired.interval if alpha == ALPHA else find_interval(paired.differences, alpha=alpha)
    if interval is None:
        raise ValidationError(
            f"{run} cannot be checked against {baseline} under {version.scorer}: "
            f"{counted(len(comparison.table), 'query is', 'queries are')} scored in both, and at least two are needed."
        )
    return DropCheck(paired.differences.mean, comparison.table.independent, interval, max_drop, alpha, comparison)


def find_run_errors(run: Run, versions: Sequence[ScorerVersion]) -> list[str]:
    """Returns why the scores are not reliable: failed searches, or failed scripts, whose queries the mean excludes."""
    present = {"query__case_queries__case": run.case, "query__case_queries__removed_at": None}
    in_order = ("query__case_queries__position", "query_id")
    if run.status != Run.Status.COMPLETE:
        failed_rankings = (
            run.rankings.filter(**present).exclude(error_kind="").select_related("query").order_by(*in_order)
        )
        named = [f"“{ranking.text[:80]}”" for ranking in failed_rankings[: MAX_NAMED + 1]]
        more = f" and {run.failed - MAX_NAMED:,} more" if len(named) > MAX_NAMED else ""
        failures = f" Failed: {', '.join(named[:MAX_NAMED])}{more}." if named else ""
        return [f"Run {run.number} is {run.status}: {run.reason}{failures}"]
    failed = QueryScore.objects.filter(run=run, version__in=versions, **present).exclude(error="").order_by(*in_order)
    first = failed.select_related("query", "version__scorer").first()
    if first is None:
        return []
    count = failed.values("query").distinct().order_by().count()
    queries = f"{count:,} of {counted(run.queries, 'query', 'queries')}"
    message = f"A scorer failed for {queries}. {first.version.scorer} on “{first.query}”: {first.error}"
    for off in scores.switched_off_scorers(run, versions):
        message += (
            f". {off.version.scorer} was switched off for the rest of run {run.number}: {off.unscored:,} not scored"
        )
    return [message]
