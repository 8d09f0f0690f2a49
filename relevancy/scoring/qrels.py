"""Scores of runs and relevance judgments given as plain dictionaries, as in trec_eval and pytrec_eval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from .arrays import FloatArray, IntArray
from .batch import Batch
from .errors import GradeError
from .grade_lookup import find_repeats, flatten_grades, look_up_grades, ranking_lengths, to_matrix
from .measure import Measure
from .notation import parse_measure
from .scale import Scale
from .scores import score

Ranking = Sequence[str] | Mapping[str, float]


def evaluate(
    measures: Sequence[str],
    qrels: Mapping[str, Mapping[str, float]],
    run: Mapping[str, Ranking],
    scale: Scale | str | None = None,
) -> dict[str, dict[str, float | None]]:
    """Returns {measure as written: {query in `qrels`: value, or None if it is not scoreable}}.

    Values are 0 to 1; those of CG and DCG are sums.

    `qrels`: {query: {document: grade}}; a grade below 0 has no gain and counts as unjudged, as in trec_eval. `run`:
    {query: documents in rank order, or {document: engine score}}. Engine scores are sorted as in trec_eval:
    descending, ties by document id descending. A query that is missing from `run` has no results. `scale`: for ERR and
    ideal='max'; left out, 0 to the highest grade in `qrels`, rounded up, at least 1. A `rel` that is left out is 1,
    whatever the scale. Measures without a cutoff look at whole rankings, and their ideal lists are not cut.

    Raises `MeasureError`, `ScaleError`, and `GradeError` for grades and engine scores that are not numbers.
    """
    parsed = {text: parse_measure(text) for text in measures}
    rankings, known = [run.get(query, ()) for query in qrels], list(qrels.values())
    batch = _build_batch(list(qrels), rankings, known, scale, list(parsed.values()))
    depth = max(1, int(batch.returned.max(initial=0)), int(batch.known.counts.max(initial=0)))
    values_by_measure: dict[str, dict[str, float | None]] = {}
    for text, measure in parsed.items():
        values = score(measure, batch, depth, bounds=False).value.tolist()
        optional = [None if math.isnan(value) else value for value in values]
        values_by_measure[text] = dict(zip(qrels, optional, strict=True))
    return values_by_measure


def mean_value(values: Iterable[float | None], *, count_unscoreable_as_zero: bool = False) -> float | None:
    """Returns the mean over the scoreable queries (those that are not None); None if there is none.

    `count_unscoreable_as_zero`: the mean over all queries, as in trec_eval.
    """
    counted = [value or 0.0 for value in values if value is not None or count_unscoreable_as_zero]
    return sum(counted) / len(counted) if counted else None


def _build_batch(
    queries: list[str],
    rankings: list[Ranking],
    known: list[Mapping[str, float]],
    scale: Scale | str | None,
    measures: list[Measure],
) -> Batch:
    known_grades, are_bytes = flatten_grades(known)
    lengths = ranking_lengths(rankings)
    if any(isinstance(ranking, Mapping) for ranking in rankings):
        grades = look_up_grades(rankings, known, are_bytes, lengths)
        grades = _sort_by_score(grades, _engine_scores(queries, rankings, lengths), rankings, known)
    else:
        depths = [measure.required_depth() for measure in measures]
        deepest = max((depth for depth in depths if depth), default=0)
        if None not in depths and deepest < int(lengths.max(initial=0)):
            rankings = [ranking[:deepest] for ranking in rankings if not isinstance(ranking, Mapping)]
            lengths = np.minimum(lengths, deepest)
        grades = look_up_grades(rankings, known, are_bytes, lengths)
    # For other measures a repeat is the same as an unrated document: neither has a gain.
    need_repeats = any(measure.name == "Judged" or measure.parameters.get("unrated") == "skip" for measure in measures)
    repeats = find_repeats(rankings, grades.shape[1]) if need_repeats else np.zeros(grades.shape, dtype=np.bool_)
    if scale is None:
        chosen = Scale((0.0, max(1.0, float(np.ceil(known_grades.grades.max(initial=0.0))))))
    else:
        chosen = Scale.parse(scale) if isinstance(scale, str) else scale
    return Batch(grades, lengths, repeats, known_grades, replace(chosen, relevant_from=1.0))


def _engine_scores(queries: list[str], rankings: list[Ranking], lengths: IntArray) -> FloatArray:
    """Returns [queries × longest], NaN beyond the end; documents given in rank order have descending numbers."""
    rows = [row.values() if isinstance(row, Mapping) else range(len(row), 0, -1) for row in rankings]
    try:
        flat = np.fromiter(chain.from_iterable(rows), dtype=np.float64, count=int(lengths.sum()))
    except (TypeError, ValueError):
        flat = None
    if flat is None or np.isnan(flat).any():
        raise GradeError(_describe_invalid_score(queries, rankings))
    return to_matrix(flat, lengths)


def _describe_invalid_score(queries: list[str], rankings: list[Ranking]) -> str:
    for query, ranking in zip(queries, rankings, strict=True):
        for document, given in ranking.items() if isinstance(ranking, Mapping) else ():
            if not isinstance(given, int | float | np.number) or math.isnan(given):
                return f"The engine score of document {document!r} for query {query!r} must be a number, not {given!r}."
    return "An engine score is not a number."


def _sort_by_score(
    grades: FloatArray, scores: FloatArray, rankings: list[Ranking], known: list[Mapping[str, float]]
) -> FloatArray:
    """Returns the grades of each row in descending order of score, ties in descending order of document id."""
    negated = -scores
    order = np.argsort(negated, axis=1)
    sorted_grades = np.take_along_axis(grades, order, axis=1)
    negated.sort(axis=1)
    is_tied = negated[:, 1:] == negated[:, :-1]
    if not is_tied.any():
        return sorted_grades
    # Ids are only compared where it matters: where neighbors of the same score have different grades.
    left, right = sorted_grades[:, 1:], sorted_grades[:, :-1]
    differ = (left != right) & ~(np.isnan(left) & np.isnan(right))
    for row in np.flatnonzero((is_tied & differ).any(axis=1)):
        ranking = rankings[row]
        if isinstance(ranking, Mapping):
            scored = sorted(((float(given), document) for document, given in ranking.items()), reverse=True)
            sorted_grades[row, : len(scored)] = [known[row].get(document, np.nan) for _, document in scored]
    return sorted_grades
