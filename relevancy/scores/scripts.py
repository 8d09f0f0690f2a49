"""Scores rankings by a script, in the sandbox. A script that was stopped for too many queries of a run is switched off for the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Count, Q

from relevancy import sandbox, scoring
from relevancy.models import Book, QueryScore, Ranking, Run, ScorerDefinition, ScorerVersion
from relevancy.slow_requests import slow_request

from .definitions import Range, considered_depth, mapped_scales
from .ranking_scores import MAX_ERROR_LENGTH, RankingScore

MAX_STOPS = 3  # queries of a run for which a script is stopped before it is switched off for the rest of the run


def score_by_script(
    definition: ScorerDefinition | ScorerVersion,
    rankings: Sequence[Ranking],
    grades_of_rankings: Sequence[Mapping[str, float]],
    book: Book,
    config: Mapping[str, Any],
    *,
    console: bool,
    stops: int,
) -> list[RankingScore]:
    """Scores rankings by the script of a definition; arguments as of `score_definition`.

    Raises `Busy` if too many requests of this process are slow.
    """
    depth = considered_depth(definition, int(config["depth"]))
    # The hits that a script can read do not depend on the other scorers of the case.
    readable = max(depth, int(config["depth"]))
    scales = mapped_scales(definition, book)
    queries = [
        _build_script_query(ranking, grades, scales, config, readable)
        for ranking, grades in zip(rankings, grades_of_rankings, strict=True)
    ]
    try:
        with slow_request(settings.SLOW_THREADS):  # a worker and a command have one thread, so they always may
            outcomes = sandbox.score(
                definition.script,
                queries,
                scale=definition.grades,
                depth=depth,
                output_range=definition.output_range,
                console=console,
                limits=sandbox.Limits(stops=MAX_STOPS - stops),
            )
    except sandbox.SandboxError as error:
        outcomes = [sandbox.Outcome(None, str(error), getattr(error, "line", None), ())] * len(queries)
    as_zero = definition.count_unscoreable_as_zero
    scores = [0.0 if as_zero and outcome.score is None and not outcome.error else outcome.score for outcome in outcomes]
    return [
        RankingScore(
            value=score,
            score=score,
            unrated=len({hit[0] for hit in ranking.hits[:depth]} - grades.keys()),
            error=outcome.error[:MAX_ERROR_LENGTH],
            error_kind=outcome.stopped,
            line=outcome.line,
            console=outcome.console,
        )
        for ranking, grades, score, outcome in zip(rankings, grades_of_rankings, scores, outcomes, strict=True)
    ]


def _build_script_query(
    ranking: Ranking,
    all_grades: Mapping[str, float],
    scales: tuple[Range, Range] | None,
    config: Mapping[str, Any],
    readable: int,
) -> sandbox.ScriptQuery:
    """`readable`: the number of hits that the script can read."""
    grades = dict(all_grades)
    if scales is not None:
        from_scale, to_scale = map(scoring.Scale, scales)
        grades = {doc_id: scoring.map_grades(grade, from_scale, to_scale) for doc_id, grade in all_grades.items()}
    hits = ranking.hits[:readable]
    first_index = {hit[0]: index for index, hit in reversed(list(enumerate(hits)))}
    return sandbox.ScriptQuery(
        text=ranking.text,
        docs=[{**hit[2], "id": hit[0]} for hit in hits],
        # As for measures, a document counts at its first rank; a repeat keeps its rank without a gain.
        ratings=[grades.get(hit[0]) if first_index[hit[0]] == index else None for index, hit in enumerate(hits)],
        known=grades,
        total=ranking.total,
        options={**config["options"], **ranking.options},
    )


@dataclass(frozen=True)
class SwitchedOffScorer:
    """A script that was switched off in a run. `unscored`: the number of queries for which it was not run."""

    version: ScorerVersion
    unscored: int


def count_stops(run: Run, versions: Iterable[ScorerVersion]) -> dict[int, int]:
    """Returns for how many queries of the run each script has been stopped, at least `MAX_STOPS` for one that is switched off,
    by version id. Scripts that were never stopped are absent. One SQL statement; none without scripts."""
    rows = _count(
        run, versions, stopped=Count("query"), off=Count("query", filter=Q(error_kind=QueryScore.SWITCHED_OFF))
    )
    return {row["version"]: max(row["stopped"], MAX_STOPS if row["off"] else 0) for row in rows}


def switched_off_scorers(run: Run, versions: Iterable[ScorerVersion]) -> list[SwitchedOffScorer]:
    """Returns the scripts that were switched off in the run, in their order. One SQL statement; none without scripts."""
    versions = list(versions)
    rows = _count(run, versions, off=Count("query", filter=Q(error_kind=QueryScore.SWITCHED_OFF)))
    unscored = {row["version"]: row["off"] for row in rows}
    return [SwitchedOffScorer(version, unscored[version.pk]) for version in versions if unscored.get(version.pk)]


def _count(run: Run, versions: Iterable[ScorerVersion], **counts: Count) -> list[Any]:
    scripts = [version.pk for version in versions if version.script]
    if not scripts:
        return []
    rows = QueryScore.objects.filter(run=run, version__in=scripts).exclude(error_kind="").order_by()
    return list(rows.values("version").annotate(**counts))
