"""The scores of several runs, query by query, as a table without gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from relevancy.models import CaseQuery, QueryScore, Run, ScorerVersion

CHUNK_SIZE = 20_000  # rows that the database sends at a time: a million at once would need a gigabyte

Floats = NDArray[np.float64]
Units = NDArray[np.int64]


@dataclass(frozen=True)
class PresentScores:
    """Scores of all queries that are present in the cases of all runs, in the order of the first run's case.

    query_ids, texts: [n]. weights: [n] of the first run's case.
    scores: [n × runs] points; NaN where there are none.
    best: [n × runs] points of the best order that today's ratings allow; NaN where it is not known.
    tags: [n] the tags of each query; empty for figures that were stored.
    links: [n] the id of the link that each query belongs to, None for a query without linked queries; empty if there are no links.
    """

    query_ids: list[int]
    texts: list[str]
    weights: Floats
    scores: Floats
    best: Floats
    tags: list[list[str]] = field(default_factory=list)
    links: list[int | None] = field(default_factory=list)

    @cached_property
    def is_compared(self) -> NDArray[np.bool_]:
        """[n] whether a query counts in the comparison: it has a score in every run and a weight above 0."""
        return np.isfinite(self.scores).all(axis=1) & (self.weights > 0)


@dataclass(frozen=True)
class ScoreTable:
    """Scores of the queries that were scored in every run, under one scorer version and today's ratings.

    query_ids, texts: [n], in the order of the first run's case.
    weights: [n] of that case.
    scores: [n × runs] points.
    left_out: texts of the present queries that have no score in at least one run, or the weight 0.
    stale: how many of the scores were computed from older ratings. Differences are only meaningful if this is 0.
    present: the same for all queries, those left out included.
    units: [n] the number of the unit that each query belongs to, in the order of the units' first queries: linked queries are one
        unit, every other query is one of its own. None if no two queries of the table are linked.
    """

    query_ids: list[int]
    texts: list[str]
    weights: Floats
    scores: Floats
    left_out: list[str]
    stale: int
    present: PresentScores
    units: Units | None

    @classmethod
    def build(cls, present: PresentScores, stale: int = 0) -> ScoreTable:
        """Returns the table of the queries that count."""
        is_compared = present.is_compared
        positions = np.flatnonzero(is_compared)
        return cls(
            query_ids=[present.query_ids[position] for position in positions],
            texts=[present.texts[position] for position in positions],
            weights=present.weights[is_compared],
            scores=present.scores[is_compared],
            left_out=[present.texts[position] for position in np.flatnonzero(~is_compared)],
            stale=stale,
            present=present,
            units=_number_units([present.links[position] for position in positions]) if present.links else None,
        )

    @property
    def independent(self) -> int:
        """The number of units: what tests count."""
        return len(self) if self.units is None else int(self.units.max(initial=-1)) + 1

    def name_units(self, units: Sequence[int]) -> list[str]:
        """Returns the names of units: the text of a query, or of the first one with the number of those that are linked with it."""
        if self.units is None:
            return [self.texts[unit] for unit in units]
        names = []
        for unit in units:
            first, *others = np.flatnonzero(self.units == unit)
            names.append(self.texts[first] + (f" (and {len(others)} linked)" if others else ""))
        return names

    @property
    def best(self) -> Floats:
        """[n × runs] points of the best order that today's ratings allow; NaN where it is not known."""
        return self.present.best[self.present.is_compared]

    @property
    def tags(self) -> list[list[str]]:
        """[n] the tags of each query; empty for figures that were stored."""
        if not self.present.tags:
            return []
        return [self.present.tags[position] for position in np.flatnonzero(self.present.is_compared)]

    def __len__(self) -> int:
        return len(self.query_ids)


def _number_units(links: Sequence[int | None]) -> Units | None:
    """Returns the number of each query's unit; None if every query is one of its own."""
    numbers: dict[int, int] = {}
    units: list[int] = []
    count = 0
    for link in links:
        if link is not None and link in numbers:
            units.append(numbers[link])
            continue
        if link is not None:
            numbers[link] = count
        units.append(count)
        count += 1
    return np.array(units, dtype=np.int64) if count < len(units) else None


def read_score_table(runs: Sequence[Run], version: ScorerVersion) -> ScoreTable:
    """Reads the stored scores of the runs. Two SQL statements for each case.

    Queries that were removed from the case of any run are not part of the table.
    """
    case_queries = list(
        CaseQuery.objects.filter(case=runs[0].case_id)
        .present()
        .order_by("position", "id")
        .values_list("query_id", "query__text", "weight", "query__tags", "query__link_id")
        .iterator(chunk_size=CHUNK_SIZE)
    )
    present = {query_id for query_id, *_ in case_queries}
    for case_id in {run.case_id for run in runs} - {runs[0].case_id}:
        present &= set(CaseQuery.objects.filter(case=case_id).present().values_list("query_id", flat=True))
    case_queries = [row for row in case_queries if row[0] in present]
    columns = {run.pk: column for column, run in enumerate(runs)}
    rows = {query_id: row for row, (query_id, *_) in enumerate(case_queries)}
    scores, best = np.full((2, len(case_queries), len(runs)), np.nan)
    stale = 0
    stored = QueryScore.objects.filter(run__in=columns, version=version)
    # One statement: scores and revisions belong to the same moment.
    columns_read = stored.values_list("run_id", "query_id", "score", "ideal", "revision", "query__revision")
    for run_id, query_id, score, ideal, revision, newest_revision in columns_read.iterator(chunk_size=CHUNK_SIZE):
        if query_id in rows:
            stale += revision < newest_revision
            position = rows[query_id], columns[run_id]
            scores[position] = np.nan if score is None else score
            best[position] = np.nan if ideal is None else ideal
    links: list[int | None] = [link for *_, link in case_queries]
    return ScoreTable.build(
        PresentScores(
            query_ids=[query_id for query_id, *_ in case_queries],
            texts=[text for _, text, *_ in case_queries],
            weights=np.array([weight for _, _, weight, *_ in case_queries], dtype=np.float64),
            scores=scores,
            best=best,
            tags=[tags for *_, tags, _ in case_queries],
            links=links if any(link is not None for link in links) else [],
        ),
        stale,
    )
