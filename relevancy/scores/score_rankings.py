"""Computes scores of rankings: measures by arithmetic, scripts in the sandbox.

Nothing here writes to the database or holds a lock: a script may take its time.

See docs/decisions/0012.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from relevancy import scoring
from relevancy.models import Book, Query, QueryScore, Ranking, Run, ScorerDefinition, ScorerVersion
from relevancy.scoring.arrays import FloatArray

from .columns import RankingInput, ScoreColumns, failed_columns
from .grades import known_grades, scale_of
from .scale_mapping import mapped_scales
from .scripts import score_by_script
from .switched_off import count_stops

UNEXPECTED_ERROR = "The score could not be computed because of an unexpected error; the server log has the details."
log = logging.getLogger("relevancy.scores")


def ranking_inputs(rankings: Iterable[Ranking]) -> list[RankingInput]:
    """Returns the inputs of all rankings whose search did not fail."""
    return [
        RankingInput(row.pk, row.query_id, row.text, row.options, row.total, row.hits)
        for row in rankings
        if not row.error_kind
    ]


def compute_scores(
    run: Run,
    rankings: Sequence[RankingInput],
    versions: Sequence[ScorerVersion],
    *,
    before_each: Callable[[], object] = lambda: None,
) -> list[QueryScore]:
    """Scores rankings of one run under each version. Returns unsaved rows.

    `before_each` is called before each version, which may take as long as a script is allowed to. Scripts are left out if
    the displayed fields of the run have been removed.

    The queries' revisions are read before the book and the ratings: a change that arrives in between leaves a score that is
    stale, never a wrong score that looks current.
    """
    versions = scoreable_versions(run, versions)
    if not rankings or not versions:
        return []
    query_ids = [ranking.query_id for ranking in rankings]
    revisions = dict(Query.objects.filter(pk__in=query_ids).values_list("pk", "revision"))
    run.case.book.refresh_settings()
    grades = known_grades(run.case.book, query_ids)
    return score_known(
        run,
        rankings,
        versions,
        grades=grades,
        revisions=revisions,
        stops=count_stops(run, versions),
        before_each=before_each,
    )


def score_known(
    run: Run,
    rankings: Sequence[RankingInput],
    versions: Sequence[ScorerVersion],
    *,
    grades: Mapping[int, Mapping[str, float]],
    revisions: Mapping[int, int],
    stops: Mapping[int, int] | None = None,
    before_each: Callable[[], object] = lambda: None,
) -> list[QueryScore]:
    """Does what `compute_scores` does, with grades and revisions that have been read already, by query id. No SQL.

    `stops`: see `count_stops`.

    A version that cannot be computed, such as one of an uninstalled measure, gives its rows an error. This never raises an
    exception because of a scorer: a failure to score must not fail a run or a rating.
    """
    grades_of_rankings = [grades[ranking.query_id] for ranking in rankings]
    rows: list[QueryScore] = []
    batch: scoring.Batch | None = None
    for version in versions:
        before_each()
        try:
            batch = batch or build_batch(rankings, grades_of_rankings, run.case.book)
            definition = ScorerDefinition.of(version)
            stopped = (stops or {}).get(version.pk, 0)
            columns = score_columns(
                definition, rankings, grades_of_rankings, batch, run.case.book, run.config, stops=stopped
            )
        except Exception:
            log.exception("Scorer %s could not score rankings of run %s.", version, run.pk)
            columns = failed_columns(rankings, UNEXPECTED_ERROR)
        rows.extend(_build_rows(run, rankings, version, columns, revisions))
    return rows


def build_batch(
    rankings: Sequence[RankingInput], grades_of_rankings: Sequence[Mapping[str, float]], book: Book
) -> scoring.Batch:
    """Returns rankings and known grades as a matrix."""
    return scoring.Batch.build([ranking.doc_ids for ranking in rankings], grades_of_rankings, scale_of(book))


def _build_rows(
    run: Run,
    rankings: Sequence[RankingInput],
    version: ScorerVersion,
    columns: ScoreColumns,
    revisions: Mapping[int, int],
) -> list[QueryScore]:
    return [
        QueryScore(
            ranking_id=ranking.ranking_id,  # type: ignore[misc]  # None until a worker stores the ranking
            run=run,
            query_id=ranking.query_id,
            version=version,
            value=columns.value[index],
            score=columns.score[index],
            low=columns.low[index],
            high=columns.high[index],
            ideal=columns.ideal[index],
            unrated=columns.unrated[index],
            error=columns.error[index],
            error_kind=columns.error_kind[index],
            revision=revisions[ranking.query_id],
        )
        for index, ranking in enumerate(rankings)
    ]


def score_columns(
    definition: ScorerDefinition,
    rankings: Sequence[RankingInput],
    grades_of_rankings: Sequence[Mapping[str, float]],
    batch: scoring.Batch,
    book: Book,
    config: Mapping[str, Any],
    *,
    console: bool = False,
    stops: int = 0,
) -> ScoreColumns:
    """Scores rankings of one book under one definition.

    batch: the same rankings and known grades as a matrix.
    config: of the run, for its depth and options.
    stops: for how many queries of the run a script has been stopped already.

    A measure that cannot be read gives every ranking an error.
    """
    if definition.script:
        scales = mapped_scales(definition, book)
        return score_by_script(definition, rankings, grades_of_rankings, scales, config, console=console, stops=stops)
    try:
        measure = scoring.parse_measure(definition.measure)
    except scoring.MeasureError as error:
        return failed_columns(rankings, f"Cannot be computed. {error}")
    assessment = scoring.assess(
        measure, batch, int(config["depth"]), count_unscoreable_as_zero=definition.count_unscoreable_as_zero
    )
    scores = assessment.scores
    return ScoreColumns(
        value=_none_for_nan(scores.value),
        score=_none_for_nan(scores.score),
        low=_none_for_nan(scores.low),
        high=_none_for_nan(scores.high),
        ideal=_none_for_nan(scores.ideal),
        unrated=scores.unrated.tolist(),
        error=[""] * len(rankings),
        error_kind=[""] * len(rankings),
        line=[None] * len(rankings),
        console=[()] * len(rankings),
        assessment=assessment,
    )


def _none_for_nan(array: FloatArray) -> list[float | None]:
    return [None if math.isnan(number) else number for number in array.tolist()]


def scoreable_versions(run: Run, versions: Iterable[ScorerVersion]) -> list[ScorerVersion]:
    """Returns the versions that a run can be scored under: all, but no scripts once its displayed fields have been removed.

    Reads the current state of the run. Call it after reading the hits: a run is marked before its fields are removed.
    """
    versions = list(versions)
    if not any(version.script for version in versions):
        return versions
    if run.fields_dropped_at is None and Run.objects.filter(pk=run.pk, fields_dropped_at=None).exists():
        return versions
    return [version for version in versions if not version.script]
