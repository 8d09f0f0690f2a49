"""What a run can gain: its scores against those of the best order that today's ratings allow.

See docs/decisions/0081.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.core.exceptions import ValidationError

from relevancy import scores
from relevancy.models import Run, ScorerVersion, read_hits
from relevancy.scoring.rounding import format_rounded
from relevancy.statistics import TIE, Differences
from relevancy.wording import counted

from .score_tables import PresentScores, ScoreTable

BEST_ORDER = "Best order"


@dataclass(frozen=True)
class Gain:
    """What a run can gain on the compared queries whose best order is known. A script has none.

    queries: how many they are. at_best: how many of them have their best order already, within 0.05 points.
    score, best: their weighted means, of the run and of the best orders; None without queries.
    carriers: texts of the queries that make up 80 % of the gain, largest first. Linked queries are one of them.
    """

    queries: int
    at_best: int
    score: float | None
    best: float | None
    carriers: list[str]

    @property
    def points(self) -> float | None:
        """The difference of the means."""
        return None if self.score is None or self.best is None else self.best - self.score

    def describe(self, name: str) -> list[str]:
        """Returns sentences. name: of the run."""
        if self.score is None or self.best is None or self.points is None:
            return [
                f"{name} has no query with a score and a known best order, so nothing can be said of what it can gain."
            ]
        on_queries = f"on {counted(self.queries, 'query', 'queries')}"
        if self.points < TIE:
            return [
                f"{name} has the best order that today’s ratings allow: {format_rounded(self.score, 1)} {on_queries}."
            ]
        sentences = [
            f"With the best order that today’s ratings allow, {name} would score {format_rounded(self.best, 1)} instead of "
            f"{format_rounded(self.score, 1)}: {format_rounded(self.points, 1)} points can be gained {on_queries}."
        ]
        if len(self.carriers) == 1:
            sentences.append(f"One query, “{self.carriers[0]}”, makes up 80 % of that.")
        elif self.carriers:
            sentences.append(f"{len(self.carriers):,} queries make up 80 % of that.")
        return sentences


def find_gain(present: PresentScores, run: int = 0) -> Gain:
    """Returns what the run at a position of the comparison can gain."""
    points = np.column_stack([present.scores[:, run], present.best[:, run]])
    table = ScoreTable.build(replace(present, scores=np.where(present.is_compared[:, None], points, np.nan)))
    gains = Differences.build(table.scores[:, 1] - table.scores[:, 0], table.weights)
    queries = len(table)
    score, best = np.average(table.scores, axis=0, weights=table.weights).tolist() if queries else (None, None)
    return Gain(
        queries=queries,
        at_best=int((gains.values < TIE).sum()),
        score=score,
        best=best,
        carriers=table.name_units(gains.merged(table.units).list_carriers()),
    )


def check_best_order(version: ScorerVersion) -> None:
    """Raises ValidationError if the best order of a scorer is not known."""
    if version.script:
        raise ValidationError(
            f"{version.scorer} is a script, so its best order is not known. Choose a scorer with a measure, such as nDCG@10."
        )


@dataclass(frozen=True)
class GainSplit:
    """What a query can gain, in points.

    by_order: if the documents that the run fetched stood in their best order. by_documents: the rest, if it also returned the rated
    documents that it did not fetch.
    """

    by_order: float
    by_documents: float


def split_gains(
    run: Run, version: ScorerVersion, points: Mapping[int, tuple[float | None, float | None]]
) -> dict[int, GainSplit]:
    """Returns `{query id: what it can gain}` of the queries of which both points are known, and whose search did not fail.

    points: `{query id: (its score in the run, that of its best order)}`. Reads the hits: ask for few queries at a time. Five SQL
    statements at most for up to 500 queries.
    """
    known = {pk: (score, best) for pk, (score, best) in points.items() if score is not None and best is not None}
    rankings = read_hits(list(run.rankings.for_scoring().filter(query__in=known)))
    grades = scores.known_grades(run.case.book, list(known))
    for ranking in rankings:
        hits = {hit[0]: hit for hit in reversed(ranking.hits)}
        ranking.hits = [hits[doc_id] for doc_id in best_order(ranking.doc_ids, grades[ranking.query_id])]
    splits = {}
    for scored in scores.score_known(run, rankings, [version], scores.GradedQueries(run.case.book, grades)):
        if scored.score is not None:
            score, best = known[scored.query_id]
            by_order = min(max(scored.score - score, 0.0), best - score)
            splits[scored.query_id] = GainSplit(by_order, best - score - by_order)
    return splits


def best_order(doc_ids: Sequence[str], grades: Mapping[str, float]) -> list[str]:
    """Returns the documents once each, those with the best grades first. Unrated documents count as grade 0; documents with the same
    grade keep their order."""
    return sorted(dict.fromkeys(doc_ids), key=lambda doc_id: -grades.get(doc_id, 0.0))
