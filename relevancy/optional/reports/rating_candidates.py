"""Which documents to rate next: those that narrow the range of the case score most."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched

import numpy as np
from numpy.typing import NDArray

from relevancy import scores, scoring
from relevancy.comparison import read_lists
from relevancy.models import Book, Run, ScorerVersion

MAX_LISTED = 20
MAX_QUERIES = 300  # whose documents are tried
BATCH = 30  # queries


@dataclass(frozen=True)
class OpenQuery:
    """A query whose score has a range. share: its weight divided by the sum of the weights of all scored queries. width: points."""

    query_id: int
    share: float
    width: float

    @property
    def contribution(self) -> float:
        """Points of the range of the case score."""
        return self.share * self.width


@dataclass(frozen=True)
class RatingCandidate:
    """An unrated document.

    narrowing: how many points narrower the range of the case score would be, on average over the grades of the scale.
    """

    query_id: int
    doc_id: str
    rank: int
    narrowing: float


def find_candidates(
    run: Run, version: ScorerVersion, queries: Sequence[OpenQuery], *, limit: int = MAX_LISTED
) -> list[RatingCandidate]:
    """Returns the unrated documents whose rating narrows the range of the case score most, best first.

    Each unrated document among those that the scorer considers is tried with each grade of the scale, and the query is scored with
    it. No document of a query can narrow the range by more than the query contributes to it, so the search ends as soon as no query
    that is left can change the list; at the latest after the 300 queries that contribute most. Empty for scripts, which have no range.
    """
    if version.script or scores.missing_measures([version]):
        return []
    measure = scoring.parse_measure(version.measure)
    ordered = sorted(queries, key=lambda query: (-query.contribution, query.query_id))[:MAX_QUERIES]
    candidates: list[RatingCandidate] = []
    for batch in batched(ordered, BATCH):
        if len(candidates) == limit and candidates[-1].narrowing >= batch[0].contribution:
            break
        candidates += _try_documents(run, version, measure, batch)
        candidates = sorted(candidates, key=lambda tried: (-tried.narrowing, tried.query_id, tried.rank))[:limit]
    return [candidate for candidate in candidates if candidate.narrowing > 1e-9]


type _Trial = tuple[OpenQuery, str, int, list[str], Mapping[str, float]]
"""A query, a document and its rank, which is tried with every grade; the ranking, and the grades that are known."""


def _try_documents(
    run: Run, version: ScorerVersion, measure: scoring.Measure, queries: Sequence[OpenQuery]
) -> list[RatingCandidate]:
    book, depth = run.case.book, int(run.config["depth"])
    considered = scores.considered_depth(version, depth)
    trials = list(_list_trials(run, book, queries, considered))
    if not trials:
        return []
    grades = [float(value) for value, _ in book.scale]
    scale = scores.scale_of(book)
    batch = scoring.Batch.build(
        [doc_ids for *_, doc_ids, _ in trials for _ in grades],
        [{**known, doc_id: grade} for _, doc_id, *_, known in trials for grade in grades],
        scale,
    )
    result = scoring.score(measure, batch, depth, count_unscoreable_as_zero=version.count_unscoreable_as_zero)
    widths: NDArray[np.float64] = np.nan_to_num(result.high - result.low)
    means = widths.reshape(len(trials), len(grades)).mean(axis=1)
    return [
        RatingCandidate(query.query_id, doc_id, rank, query.share * (query.width - float(mean)))
        for (query, doc_id, rank, *_), mean in zip(trials, means, strict=True)
    ]


def _list_trials(run: Run, book: Book, queries: Sequence[OpenQuery], considered: int) -> Iterator[_Trial]:
    query_ids = [query.query_id for query in queries]
    lists, known_grades = read_lists(run, query_ids), scores.known_grades(book, query_ids)
    for query in queries:
        if query.query_id not in lists:
            continue
        doc_ids, seen = lists[query.query_id].doc_ids, set[str]()
        for rank, doc_id in enumerate(doc_ids[:considered], 1):
            if doc_id not in seen and doc_id not in known_grades[query.query_id]:
                yield query, doc_id, rank, doc_ids, known_grades[query.query_id]
            seen.add(doc_id)
