"""Scores rankings by a script, in the sandbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from relevancy import sandbox, scoring
from relevancy.models import ScorerDefinition
from relevancy.slow_requests import slow_request

from .columns import MAX_ERROR_LENGTH, RankingInput, ScoreColumns
from .cutoffs import considered_depth
from .scale_mapping import Range

MAX_STOPS = 3  # queries of a run for which a script is stopped before it is switched off for the rest of the run


def score_by_script(
    definition: ScorerDefinition,
    rankings: Sequence[RankingInput],
    grades_of_rankings: Sequence[Mapping[str, float]],
    scales: tuple[Range, Range] | None,
    config: Mapping[str, Any],
    *,
    console: bool,
    stops: int = 0,
) -> ScoreColumns:
    """Scores rankings by the script of a definition; arguments as of `score_columns`.

    Raises `Busy` if too many requests of this process are slow.
    scales: the ranges of the book and of the script if grades are mapped.
    stops: for how many queries of the run the script has been stopped already.
    """
    depth = considered_depth(definition, int(config["depth"]))
    # The hits that a script can read do not depend on the other scorers of the case.
    readable = max(depth, int(config["depth"]))
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
    nothing: list[float | None] = [None] * len(rankings)
    return ScoreColumns(
        value=scores,
        score=scores,
        low=nothing,
        high=nothing,
        ideal=nothing,
        unrated=[
            len({hit[0] for hit in ranking.hits[:depth]} - grades.keys())
            for ranking, grades in zip(rankings, grades_of_rankings, strict=True)
        ],
        error=[outcome.error[:MAX_ERROR_LENGTH] for outcome in outcomes],
        error_kind=[outcome.stopped for outcome in outcomes],
        line=[outcome.line for outcome in outcomes],
        console=[outcome.console for outcome in outcomes],
    )


def _build_script_query(
    ranking: RankingInput,
    all_grades: Mapping[str, float],
    scales: tuple[Range, Range] | None,
    config: Mapping[str, Any],
    readable: int,
) -> sandbox.ScriptQuery:
    """`readable`: the number of hits that the script can read."""
    grades = all_grades if scales is None else _map_grades(all_grades, *scales)
    hits = ranking.hits[:readable]
    first_index = {hit[0]: index for index, hit in reversed(list(enumerate(hits)))}
    return sandbox.ScriptQuery(
        text=ranking.text,
        docs=[{**hit[2], "id": hit[0]} for hit in hits],
        # As for measures, a document counts at its first rank; a repeat keeps its rank without a gain.
        ratings=[grades.get(hit[0]) if first_index[hit[0]] == index else None for index, hit in enumerate(hits)],
        known=dict(grades),
        total=ranking.total,
        options={**config["options"], **ranking.options},
    )


def _map_grades(grades: Mapping[str, float], from_range: Range, to_range: Range) -> dict[str, float]:
    from_scale, to_scale = scoring.Scale(from_range), scoring.Scale(to_range)
    return {doc_id: scoring.map_grades(grade, from_scale, to_scale) for doc_id, grade in grades.items()}
