"""Computes scores of rankings: measures by arithmetic, scripts in the sandbox.

Nothing here writes to the database or holds a lock: a script may take its time.

See docs/decisions/0012.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from relevancy import scoring
from relevancy.models import Book, QueryScore, Ranking, Run, ScorerDefinition, ScorerVersion, read_doc_ids, read_hits

from .grades import GradedQueries, scale_of
from .ranking_scores import MAX_ERROR_LENGTH, RankingScore
from .scripts import count_stops, score_by_script

UNEXPECTED_ERROR = "The score could not be computed because of an unexpected error; the server log has the details."
log = logging.getLogger("relevancy.scores")


def compute_scores(
    run: Run,
    rankings: Sequence[Ranking],
    versions: Sequence[ScorerVersion],
    *,
    before_each: Callable[[], object] = lambda: None,
) -> list[QueryScore]:
    """Scores rankings of one run, stored or not, under each version. Returns unsaved rows. Rankings whose search failed are left out.

    `before_each` is called before each version, which may take as long as a script is allowed to. Scripts are left out if
    the displayed fields of the run have been removed.
    """
    versions = scoreable_versions(run, versions)
    rankings = [ranking for ranking in rankings if not ranking.error_kind]
    if not rankings or not versions:
        return []
    graded = GradedQueries.read(run.case.book, [ranking.query_id for ranking in rankings])
    return score_known(run, rankings, versions, graded, stops=count_stops(run, versions), before_each=before_each)


def score_known(
    run: Run,
    rankings: Sequence[Ranking],
    versions: Sequence[ScorerVersion],
    graded: GradedQueries,
    *,
    stops: Mapping[int, int] = MappingProxyType({}),
    before_each: Callable[[], object] = lambda: None,
) -> list[QueryScore]:
    """Does what `compute_scores` does with grades that have been read already. One SQL statement, none if the hits have been read.

    stops: see `count_stops`.

    A version that cannot be computed, such as one of an uninstalled measure, gives its rows an error. This never raises an
    exception because of a scorer: a failure to score must not fail a run or a rating.
    """
    rankings = read_doc_ids([ranking for ranking in rankings if not ranking.error_kind])
    grades = [graded.grades[ranking.query_id] for ranking in rankings]
    rows: list[QueryScore] = []
    batch: scoring.Batch | None = None
    for version in versions:
        before_each()
        try:
            batch = batch or build_batch(rankings, grades, graded.book)
            stopped = stops.get(version.pk, 0)
            scored = score_definition(version, rankings, grades, batch, graded.book, run.config, stops=stopped)
        except Exception:
            log.exception("Scorer %s could not score rankings of run %s.", version, run.pk)
            scored = [RankingScore(error=UNEXPECTED_ERROR)] * len(rankings)
        new = [
            QueryScore(
                run=run,
                query_id=ranking.query_id,
                version=version,
                value=score.value,
                score=score.score,
                low=score.low,
                high=score.high,
                ideal=score.ideal,
                unrated=score.unrated,
                error=score.error,
                error_kind=score.error_kind,
                revision=graded.revisions.get(ranking.query_id, 0),
            )
            for ranking, score in zip(rankings, scored, strict=True)
        ]
        for row, ranking in zip(new, rankings, strict=True):
            row.ranking_id = ranking.pk
        rows += new
    return rows


def build_batch(rankings: Sequence[Ranking], grades: Sequence[Mapping[str, float]], book: Book) -> scoring.Batch:
    """Returns rankings and the known grades of their queries as a matrix."""
    return scoring.Batch.build([ranking.doc_ids for ranking in rankings], grades, scale_of(book))


def score_definition(
    definition: ScorerDefinition | ScorerVersion,
    rankings: Sequence[Ranking],
    grades: Sequence[Mapping[str, float]],
    batch: scoring.Batch,
    book: Book,
    config: Mapping[str, Any],
    *,
    console: bool = False,
    stops: int = 0,
) -> list[RankingScore]:
    """Scores rankings of one book under one definition.

    batch: the same rankings and known grades as a matrix.
    config: of the run, for its depth and options.
    stops: for how many queries of the run a script has been stopped already.

    A measure that cannot be read gives every ranking an error.
    """
    if definition.script:
        return score_by_script(definition, read_hits(rankings), grades, book, config, console=console, stops=stops)
    try:
        measure = scoring.parse_measure(definition.measure)
    except scoring.MeasureError as error:
        return [RankingScore(error=f"Cannot be computed. {error}"[:MAX_ERROR_LENGTH])] * len(rankings)
    as_zero, depth = definition.count_unscoreable_as_zero, int(config["depth"])
    scores = scoring.score(measure, batch, depth, count_unscoreable_as_zero=as_zero, ideal=True)
    columns = [
        [None if math.isnan(number) else number for number in column.tolist()]
        for column in (scores.value, scores.score, scores.low, scores.high, scores.ideal)
    ]
    rows = zip(*columns, scores.unrated.tolist(), strict=True)
    return [RankingScore(*row) for row in rows]


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
