"""What has been logged, with the grades of now, as arrays: the input of figures, files and models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from relevancy import scores, scoring
from relevancy.models.ranking import unpack_doc_ids
from relevancy.scoring.arrays import BoolArray, FloatArray, IntArray

from .models import FeatureLog

FOLDS = 5


@dataclass(frozen=True, eq=False)
class Dataset:
    """Documents of queries with their features. Documents of one query stand together, queries in the order of the case.

    Attributes:
        names: [F] of the features.
        values: [D × F] NaN where a query does not match the document, or the document has no such number.
        grades: [D] by the rule of the book; NaN for unrated documents.
        doc_ids: [D].
        starts: [Q + 1] where the documents of each query begin; the last is D.
        query_ids, texts: [Q]. weights: [Q] of the queries in the case.
        units: [Q] the number of each query's unit, 0 to U − 1: linked queries are one.
        tags: `{tag: positions of queries}`.
        known: [Q] `{document id: grade}`, those included that were not logged.
        scale: of the grades.
    """

    names: Sequence[str]
    values: FloatArray
    grades: FloatArray
    doc_ids: Sequence[str]
    starts: IntArray
    query_ids: Sequence[int]
    texts: Sequence[str]
    weights: FloatArray
    units: IntArray
    tags: Mapping[str, Sequence[int]]
    known: Sequence[Mapping[str, float]]
    scale: scoring.Scale
    gone: int = 0
    failed: int = field(default=0)

    @cached_property
    def queries(self) -> IntArray:
        """[D] the position of each document's query."""
        return np.repeat(np.arange(len(self.query_ids)), np.diff(self.starts))

    @cached_property
    def filled(self) -> FloatArray:
        """[D × F] the values with 0 where there is none, as a sum of clauses counts them."""
        return np.where(np.isnan(self.values), 0.0, self.values)

    @property
    def is_rated(self) -> BoolArray:
        """[D] whether a document has a grade."""
        return np.isfinite(self.grades)

    def folds(self, seed: int) -> IntArray:
        """Returns [Q] the fold of each query, 0 to 4: whole units, drawn from the seed, so many to each."""
        count = int(self.units.max(initial=-1)) + 1
        order = np.random.Generator(np.random.PCG64(seed)).permutation(count)
        of_unit = np.empty(count, np.int64)
        of_unit[order] = np.arange(count) % FOLDS
        return of_unit[self.units]


def read_dataset(log: FeatureLog) -> Dataset:
    """Reads a log with the grades of now. Queries that are no longer in the case, or without a document, are left out."""
    feature_set = log.feature_set
    case, names = feature_set.case, [feature.name for feature in feature_set.items]
    present = case.case_queries.present().select_related("query").order_by("position", "pk")
    stored = {row.query_id: row for row in log.values.all()}
    kept = [
        (case_query, stored[case_query.query_id])
        for case_query in present
        if case_query.query_id in stored and len(stored[case_query.query_id].packed)
    ]
    book = case.book
    book.refresh_settings()
    query_ids = [case_query.query_id for case_query, _ in kept]
    by_query = scores.known_grades(book, query_ids)
    known = [by_query[query_id] for query_id in query_ids]
    doc_ids = [unpack_doc_ids(row.doc_ids) for _, row in kept]
    tags: dict[str, list[int]] = {}
    for position, (case_query, _) in enumerate(kept):
        for tag in case_query.query.tags or ():
            tags.setdefault(tag, []).append(position)
    matrices = [row.matrix(len(names)) for _, row in kept]
    return Dataset(
        names=names,
        values=np.concatenate([np.empty((0, len(names)), np.float32), *matrices]).astype(np.float64),
        grades=np.array(
            [grades.get(doc_id, np.nan) for ids, grades in zip(doc_ids, known, strict=True) for doc_id in ids],
            np.float64,
        ),
        doc_ids=[doc_id for ids in doc_ids for doc_id in ids],
        starts=np.cumsum([0, *map(len, doc_ids)]),
        query_ids=query_ids,
        texts=[case_query.query.text for case_query, _ in kept],
        weights=np.array([case_query.weight for case_query, _ in kept], np.float64),
        units=number_units([case_query.query.link_id for case_query, _ in kept]),
        tags=tags,
        known=known,
        scale=scores.scale_of(book),
        gone=sum(row.gone for _, row in kept),
        failed=sum(bool(row.error) for row in stored.values()),
    )


def number_units(links: Sequence[int | None]) -> IntArray:
    """Returns [Q] the number of each query's unit, those with the same link together."""
    numbers: dict[object, int] = {}
    units = [
        numbers.setdefault(("single", place) if link is None else link, len(numbers))
        for place, link in enumerate(links)
    ]
    return np.array(units, np.int64)
