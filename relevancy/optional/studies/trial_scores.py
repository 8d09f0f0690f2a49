"""Scores of the trials of a study: of what the engine answered, with the ratings of now. Nothing here asks the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import batched

import numpy as np
from django.db import transaction

from relevancy import scores, scoring
from relevancy.models import CaseRevision, ScorerVersion
from relevancy.scoring.arrays import BoolArray, FloatArray, IntArray

from .choice import UNSEEN, Evidence, Guard
from .models import Study, StudyAnswer, StudyTrial

BATCH = 5_000  # answers that are read and scored together
SCORE, LOW, HIGH, UNRATED = range(4)  # the rows of `StudyTrial.values`

type Answered = tuple[int, int, Sequence[str]]
"""The id of an answer, the position of its query, and the ids of its documents in rank order."""


@dataclass
class TrialScorer:
    """Scores answers. It keeps the values of those that it has seen.

    grades: [queries] `{document id: grade}`. ceilings: [queries] the best score that the known documents of a query can have; 100 where
    that is not known. is_present: [queries] whether a query is in the case still. values: by id of an answer, as `StudyTrial.values`.
    """

    measure: scoring.Measure
    version: ScorerVersion
    depth: int
    scale: scoring.Scale
    grades: Sequence[Mapping[str, float]]
    ceilings: FloatArray
    is_present: BoolArray
    values: dict[int, FloatArray]

    @classmethod
    def read(cls, study: Study, query_ids: Sequence[int]) -> TrialScorer:
        """Reads the ratings of queries of a study."""
        version, book, depth = study.version, study.case.book, int(study.config["depth"])
        book.refresh_settings()
        by_query = scores.known_grades(book, query_ids)
        grades = [by_query[query_id] for query_id in query_ids]
        measure, scale = scoring.parse_measure(version.measure), scores.scale_of(book)
        scored = score_best(measure, version, depth, scale, grades)
        ceilings = np.where(np.isfinite(scored.ideal), scored.ideal, 100.0)
        in_case = set(study.case.case_queries.present().values_list("query_id", flat=True))
        is_present = np.array([query_id in in_case for query_id in query_ids], np.bool_)
        return cls(measure, version, depth, scale, grades, ceilings, is_present, {})

    def add(self, answered: Sequence[Answered]) -> None:
        """Scores answers."""
        if not answered:
            return
        batch = scoring.Batch.build(
            [doc_ids for *_, doc_ids in answered], [self.grades[position] for _, position, _ in answered], self.scale
        )
        as_zero = self.version.count_unscoreable_as_zero
        found = scoring.score(self.measure, batch, self.depth, count_unscoreable_as_zero=as_zero)
        low, high = (np.where(np.isfinite(bound), bound, found.score) for bound in (found.low, found.high))
        rows = np.column_stack((found.score, low, high, found.unrated))
        self.values.update(zip((pk for pk, *_ in answered), rows, strict=True))

    def score_grades(self, position: int, grades: FloatArray) -> FloatArray:
        """Returns [rankings] the points of rankings of a query. grades: [rankings × depth] at each rank; NaN if unrated."""
        rows, depth = grades.shape
        of_query = scoring.Batch.build([()], [self.grades[position]], self.scale).known
        batch = scoring.Batch(
            grades,
            np.full(rows, depth),
            np.zeros(grades.shape, np.bool_),
            of_query.take(np.zeros(rows, np.int64)),
            self.scale,
        )
        as_zero = self.version.count_unscoreable_as_zero
        return scoring.score(self.measure, batch, self.depth, count_unscoreable_as_zero=as_zero, bounds=False).score

    def columns(self, answer_ids: IntArray) -> FloatArray:
        """Returns [4 × queries] the values of answers; NaN where there is none."""
        nothing = np.full(4, np.nan)
        return np.array([self.values[pk] if pk else nothing for pk in answer_ids.tolist()]).T


def score_best(
    measure: scoring.Measure,
    version: ScorerVersion,
    depth: int,
    scale: scoring.Scale,
    grades: Sequence[Mapping[str, float]],
) -> scoring.Scores:
    """Returns the scores of the known documents of queries in the best order, and with them which queries are scoreable."""
    best = [sorted(known, key=lambda doc_id, known=known: -known[doc_id]) for known in grades]  # type: ignore[misc]
    as_zero = version.count_unscoreable_as_zero
    batch = scoring.Batch.build(best, grades, scale)
    return scoring.score(measure, batch, depth, count_unscoreable_as_zero=as_zero, bounds=False, ideal=True)


def considered_depth(study: Study) -> int:
    """Returns how many results of a query the scorer considers."""
    return min(study.rows, scores.considered_depth(study.version, int(study.config["depth"])))


def revision_of(case_id: int) -> int:
    """Returns the revision of the ratings of a case."""
    revision = CaseRevision.objects.filter(case=case_id).values_list("revision", flat=True).first()
    return revision or 0


def read_scored(study: Study) -> tuple[TrialScorer, list[StudyTrial]]:
    """Returns the trials of a study, scored with the ratings of now, and their scorer. What was scored with older ratings is scored
    again and stored; otherwise no answers are read."""
    revision = revision_of(study.case_id)  # before the ratings: what is newer than they is scored again
    scorer = TrialScorer.read(study, study.query_ids)
    trials = list(StudyTrial.objects.filter(study=study).order_by("number"))
    if study.scored_revision != revision:
        for pks in batched(sorted({pk for trial in trials for pk in trial.answer_ids.tolist() if pk}), BATCH):
            answers = StudyAnswer.objects.filter(pk__in=pks)
            scorer.add([(answer.pk, answer.position, answer.doc_ids) for answer in answers])
        for trial in trials:
            trial.columns = scorer.columns(trial.answer_ids).tobytes()
        with transaction.atomic():
            StudyTrial.objects.bulk_update(trials, ["columns"], batch_size=100)
            Study.objects.filter(pk=study.pk).update(scored_revision=revision)
        study.scored_revision = revision
    return scorer, trials


def used_queries(trials: Sequence[StudyTrial], scorer: TrialScorer) -> BoolArray:
    """Returns [queries] which queries count: those of the case that the parent has a score of."""
    return np.isfinite(trials[0].values[SCORE]) & scorer.is_present


def build_evidence(
    study: Study, trials: Sequence[StudyTrial], scorer: TrialScorer, tags: Mapping[str, Sequence[int]]
) -> Evidence:
    """Returns the scores of the trials, over the queries that count. tags: positions of queries by tag, for the guards."""
    is_used, space, parent = used_queries(trials, scorer), study.knobs, trials[0].settings
    return replace(
        evidence_of(study, np.array([trial.values[SCORE] for trial in trials]), is_used, tags),
        distances=np.array([space.distance(trial.settings, parent) for trial in trials]),
        folds_left_out=np.array([trial.fold_left_out for trial in trials]),
        allowed=np.array([_is_fast_enough(study, trial) for trial in trials]),
    )


def evidence_of(study: Study, points: FloatArray, is_used: BoolArray, tags: Mapping[str, Sequence[int]]) -> Evidence:
    """Returns scores of settings that no scores have led to, over the queries that count.

    points: [settings × queries of the study], the first of which are the parent's. tags: as for `build_evidence`.
    """
    place = np.cumsum(is_used) - 1  # of each query among those that count
    units = None
    if study.units is not None:
        _, units = np.unique(np.array(study.units)[is_used], return_inverse=True)
    guards = []
    for guard in study.guards:
        positions = np.array(tags.get(guard["tag"], ()) if guard["tag"] else range(len(is_used)), np.int64)
        guards.append(Guard(place[positions[is_used[positions]]], float(guard["max_fall"])))
    return Evidence(
        scores=points[:, is_used],
        weights=np.array(study.weights, np.float64)[is_used],
        units=units,
        distances=np.zeros(len(points)),
        folds_left_out=np.full(len(points), UNSEEN),
        allowed=np.ones(len(points), np.bool_),
        seed=study.seed,
        guards=guards,
    )


def _is_fast_enough(study: Study, trial: StudyTrial) -> bool:
    return study.max_ms is None or trial.took_ms is None or trial.took_ms <= study.max_ms


def positions_by_tag(study: Study) -> dict[str, list[int]]:
    """Returns the positions of the queries of a study by their tags of now. One SQL statement."""
    tags = dict(study.case.case_queries.values_list("query_id", "query__tags"))
    found: dict[str, list[int]] = {}
    for position, query_id in enumerate(study.query_ids):
        for tag in tags.get(query_id) or ():
            found.setdefault(tag, []).append(position)
    return found
