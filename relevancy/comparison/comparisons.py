"""Compares two runs or more: scores made with the same ratings and scorer version, on the queries scored in all of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from django.core.exceptions import ValidationError

from relevancy import scores
from relevancy.models import Run, ScorerVersion
from relevancy.statistics import (
    Differences,
    PairedComparison,
    RunMeans,
    Verdict,
    compare_means,
    compare_paired,
    correct_holm,
    list_too_few,
    merge_units,
)
from relevancy.wording import counted

from .bounds import Outlook
from .result_lists import NOT_COMPARED, ListOverlap
from .score_tables import ScoreTable, read_score_table
from .tag_figures import TagFigures, compare_tags

MAX_RUNS = 5
MAX_PASSES = 5
RESCORE_SECONDS = 10.0  # between two heartbeats


@dataclass(frozen=True)
class RunPair:
    """Run `b` against run `a`.

    by_query: the differences `b − a` of the queries that were scored in all runs; its wins, ties and losses are queries.
    paired: figures of these differences, in which linked queries count once.
    p_holm: corrected for the number of comparisons with the baseline; None unless `a` is the baseline.
    p_hsd: corrected for all pairs, by the randomised Tukey HSD; None for two runs.
    verdict: from the interval and the p that is corrected for what was compared.
    carriers: texts of the queries that make up 80 % of the difference, largest first. Linked queries are one of them.
    lists: how much the result lists differ. outlook: what the difference can become. bounds: it lies between these, in points, whatever
        grades the unrated documents of the compared queries get; None for scorers without bounds. None of them is known before
        `compute_figures` reads the result lists, and then the verdict does not know of unrated documents either.
    """

    a: Run
    b: Run
    by_query: Differences
    paired: PairedComparison
    p_holm: float | None
    p_hsd: float | None
    verdict: Verdict
    carriers: list[str]
    lists: ListOverlap = NOT_COMPARED
    outlook: Outlook | None = None
    bounds: tuple[float, float] | None = None

    @cached_property
    def names(self) -> tuple[str, str]:
        """The names of `a` and `b`: `Run 3`, or `Run 3 of Movies` if their cases differ."""
        first, second = name_runs([self.a, self.b])
        return first, second

    @property
    def difference(self) -> float | None:
        """In points; None if no query was scored in all runs."""
        return self.paired.differences.mean if len(self.paired.differences) else None


@dataclass(frozen=True)
class Comparison:
    """Runs compared under one scorer version; the first one is the baseline.

    means: of each run, on the queries of the table; None if it is empty.
    pairs: the pairs with the baseline first, then all others.
    tags: the pairs with the baseline, for each tag.
    warnings: what makes the figures less than they seem, in sentences.
    """

    version: ScorerVersion
    runs: Sequence[Run]
    table: ScoreTable
    means: list[float | None]
    pairs: list[RunPair]
    warnings: list[str]
    tags: list[TagFigures]


def compare(
    *, runs: Sequence[Run], version: ScorerVersion, heartbeat: Callable[[], object] = lambda: None
) -> Comparison:
    """Compares two to five runs of cases on the same book.

    version: the scorer version that scores all of them. heartbeat: called every few seconds.

    Brings the scores of all runs up to date first. Raises ValidationError if the runs cannot be compared.
    """
    check_runs(runs)
    table = _read_current_scores(runs, version, heartbeat)
    heartbeat()
    positions = list(itertools.combinations(range(len(runs)), 2))
    by_query = [Differences.build(table.scores[:, b] - table.scores[:, a], table.weights) for a, b in positions]
    paired = [compare_paired(differences.merged(table.units)) for differences in by_query]
    p_of_baseline = [
        figures.p for figures, (a, _) in zip(paired, positions, strict=True) if a == 0 and figures.p is not None
    ]
    p_holm = iter(correct_holm(p_of_baseline))
    hsd: RunMeans | None = None
    if len(runs) > 2 and len(table) > 1:
        points = (table.scores, table.weights)
        hsd = compare_means(*(points if table.units is None else merge_units(*points, table.units)))
    pairs = []
    for (a, b), differences, figures in zip(positions, by_query, paired, strict=True):
        holm = next(p_holm) if a == 0 and figures.p is not None else None
        p_hsd = None if hsd is None else float(hsd.p[a, b])
        is_too_few = list_too_few([table.independent] * (1 if a else len(runs) - 1))[0]
        pairs.append(
            RunPair(
                a=runs[a],
                b=runs[b],
                by_query=differences,
                paired=figures,
                p_holm=holm,
                p_hsd=p_hsd,
                verdict=figures.decide(holm if holm is not None else p_hsd, is_too_few=is_too_few),
                carriers=table.name_units(figures.carriers),
            )
        )
    means = np.average(table.scores, axis=0, weights=table.weights).tolist() if len(table) else [None] * len(runs)
    return Comparison(version, runs, table, means, pairs, list_warnings(runs, version), compare_tags(table, len(runs)))


def name_runs(runs: Sequence[Run]) -> list[str]:
    """Returns the names of runs: `Run 3`, or `Run 3 of Movies` if they do not all belong to one case."""
    if len({run.case_id for run in runs}) == 1:
        return [str(run) for run in runs]
    return [f"{run} of {run.case}" for run in runs]


def check_runs(runs: Sequence[Run]) -> None:
    """Raises ValidationError if the runs cannot be compared: too few, too many, of different books, or not finished."""
    if not 2 <= len(runs) <= MAX_RUNS:
        count = counted(len(runs), "run")
        raise ValidationError(f"{count} cannot be compared. Name two to {MAX_RUNS} runs.")
    if len({run.pk for run in runs}) < len(runs):
        raise ValidationError("A run cannot be compared with itself. Name each run once.")
    if len({run.case.book_id for run in runs}) > 1:
        books = ", ".join(f"{run} of {run.case} uses the book “{run.case.book}”" for run in runs)
        raise ValidationError(f"Only runs on the same book can be compared: {books}.")
    for run in runs:
        if run.is_active:
            raise ValidationError(f"{run} of {run.case} is not finished. Wait until it is complete, or stop it.")


def _read_current_scores(runs: Sequence[Run], version: ScorerVersion, heartbeat: Callable[[], object]) -> ScoreTable:
    """Returns scores that were all made with the same ratings. Ratings that arrive meanwhile are taken in by another pass."""
    for _ in range(MAX_PASSES):
        for run in runs:
            # To look for stale scores of a large case takes longer than to read all of them.
            if not run.is_large or scores.has_outdated([(run, version)]):
                while not scores.continue_rescore(run, [version], seconds=RESCORE_SECONDS):
                    heartbeat()
        table = read_score_table(runs, version)
        if not table.stale:
            return table
    raise ValidationError("Ratings of these queries are being changed right now. Compare the runs again in a minute.")


def list_warnings(runs: Sequence[Run], version: ScorerVersion) -> list[str]:
    """Returns sentences about runs that are incomplete, too shallow for the scorer, or without the fields that a script needs."""
    warnings = []
    cutoff = scores.cutoff_of(version)
    for run in runs:
        if run.status != Run.Status.COMPLETE:
            warnings.append(f"{run} of {run.case} is {run.status}: {run.reason or 'some queries have no results'}")
        if cutoff is not None and cutoff > run.rows:
            warnings.append(
                f"{version.scorer} considers {cutoff:,} results, but {run} of {run.case} fetched {run.rows:,} per query."
            )
        if version not in scores.scoreable_versions(run, [version]):
            warnings.append(f"{run} of {run.case} no longer has the displayed fields that the script needs.")
    return warnings
