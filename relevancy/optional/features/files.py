"""Files of logged features for training elsewhere: RankLib and SVM-rank lines, CSV, and a manifest that says what they hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from relevancy.formats.cells import Cell, write_rows
from relevancy.formats.exports import CSV, JSON, TEXT
from relevancy.statistics import SEED

from .dataset import FOLDS, Dataset
from .models import FeatureLog

MISSING_IN_LINES = 0.0


@dataclass(frozen=True)
class FeatureFile:
    """A kind of file. suffix: the end of its name. label, hint: what it is, for people. write: returns the parts of the text."""

    suffix: str
    content_type: str
    label: str
    hint: str
    write: Callable[[FeatureLog, Dataset], Iterator[str]]


def write_ranklib(log: FeatureLog, dataset: Dataset) -> Iterator[str]:
    """Yields `grade qid:N 1:v 2:v # docid query`, of rated documents. Grades are whole numbers; a value that is missing is 0."""
    grades = whole_grades(dataset)
    for document in np.flatnonzero(dataset.is_rated).tolist():
        query = int(dataset.queries[document])
        values = " ".join(
            f"{number}:{_number(value)}" for number, value in enumerate(dataset.filled[document].tolist(), 1)
        )
        comment = " ".join(f"{dataset.doc_ids[document]} {dataset.texts[query]}".split())
        yield f"{grades[document]} qid:{query + 1} {values} # {comment}\n"


def write_csv(log: FeatureLog, dataset: Dataset) -> Iterator[str]:
    """Returns the lines of a table: one for each logged document, the unrated ones included.

    A value that is missing is empty, which is not 0.
    """
    folds = dataset.folds(SEED)

    def rows() -> Iterator[list[Cell]]:
        for document, query in enumerate(dataset.queries.tolist()):
            grade = dataset.grades[document]
            values = [None if np.isnan(value) else float(_number(value)) for value in dataset.values[document].tolist()]
            about = [dataset.query_ids[query], dataset.texts[query], int(folds[query]) + 1, dataset.doc_ids[document]]
            yield [*about, None if np.isnan(grade) else float(grade), *values]

    return write_rows(["query_id", "query", "fold", "doc_id", "grade", *dataset.names], rows())


def write_manifest(log: FeatureLog, dataset: Dataset) -> Iterator[str]:
    """Yields JSON: the features in order, the scale, how grades and missing values were written, and the folds."""
    yield json.dumps(build_manifest(log, dataset), ensure_ascii=False, indent=2) + "\n"


def build_manifest(log: FeatureLog, dataset: Dataset) -> dict[str, Any]:
    """Returns what the other files hold."""
    feature_set, folds = log.feature_set, dataset.folds(SEED)
    book = feature_set.case.book
    return {
        "case": feature_set.case.name,
        "feature_set": feature_set.version,
        "log": log.pk,
        "engine": log.config["engine"],
        "logged_at": log.finished_at.isoformat() if log.finished_at else None,
        "run": log.run.number if log.run else None,
        "features": [
            {"number": number, "name": feature.name, "kind": feature.kind, "text": feature.text}
            for number, feature in enumerate(feature_set.items, 1)
        ],
        "scale": list(dataset.scale.grades),
        "ratings_rule": book.rule,
        "grades_in_lines": {f"{grade:g}": number for number, grade in enumerate(dataset.scale.grades)},
        "missing": {
            "means": "the query does not match the document, or the document has no such number",
            "in_lines": MISSING_IN_LINES,
            "in_csv": "empty",
        },
        "documents": len(dataset.doc_ids),
        "rated": int(dataset.is_rated.sum()),
        "not_in_the_index": dataset.gone,
        "failed_queries": dataset.failed,
        "seed": SEED,
        "folds": [
            {
                "qid": position + 1,
                "query_id": query_id,
                "query": dataset.texts[position],
                "fold": int(folds[position]) + 1,
                "unit": int(dataset.units[position]) + 1,
            }
            for position, query_id in enumerate(dataset.query_ids)
        ],
        "folds_rule": f"{FOLDS} folds of whole queries, linked queries in the same fold",
    }


FILES: Mapping[str, FeatureFile] = {
    "ranklib": FeatureFile(
        "-features.txt", TEXT, "RankLib, SVM-rank", "Rated documents, one a line; a missing value is 0.", write_ranklib
    ),
    "csv": FeatureFile(
        "-features.csv", CSV, "CSV", "All logged documents; a missing value is empty, which is not 0.", write_csv
    ),
    "manifest": FeatureFile(
        "-features.json", JSON, "Manifest", "Features in order, scale, missing values, folds, seed.", write_manifest
    ),
}


def whole_grades(dataset: Dataset) -> list[int]:
    """Returns [D] the place of each grade in the scale, 0 for the lowest, which trainers expect; the nearest one for a mean of
    several ratings; 0 for unrated documents, which files of lines do not have."""
    scale = np.array(dataset.scale.grades, np.float64)
    nearest = np.abs(np.where(dataset.is_rated, dataset.grades, scale[0])[:, None] - scale).argmin(axis=1)
    return [int(place) for place in nearest]


def _number(value: float) -> str:
    """Returns a logged value, which has four bytes, in as few digits as tell it apart."""
    return str(np.float32(value))
