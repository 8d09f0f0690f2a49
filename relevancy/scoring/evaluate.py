"""Scores of runs and relevance judgements given as plain dictionaries, as trec_eval and pytrec_eval take them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from .arrays import FloatArray, IntArray
from .batch import Batch
from .errors import GradeError
from .known import Known
from .lookup import known_grades, lengths_of, looked_up, repeats_in, spread
from .measure import Measure, parse_measure
from .scale import Scale
from .score import chunks, values

Ranking = Sequence[str] | Mapping[str, float]


def evaluate(
    measures: Sequence[str],
    qrels: Mapping[str, Mapping[str, float]],
    run: Mapping[str, Ranking],
    scale: Scale | str | None = None,
) -> dict[str, dict[str, float | None]]:
    """{measure as written: {query of `qrels`: value, or None where it is not scoreable}}.

    `qrels`: {query: {document: grade}}; a grade below 0 gains nothing. `run`: {query: documents in rank order, or
    {document: engine score}}; scores are sorted as trec_eval does, descending, ties by document id descending. A
    query missing from `run` has nothing returned. Values are 0…1, of CG and DCG the sum. `rel` left out is 1,
    whatever the scale. `scale`: left out, 0 up to the highest grade present, rounded up, at least 1; it counts for
    ERR and ideal='max'. Measures without a cutoff look at whole rankings, and their ideal lists are not cut.
    """
    parsed = {text: parse_measure(text) for text in measures}
    rankings, known = [run.get(query, ()) for query in qrels], list(qrels.values())
    batch = _batch(list(qrels), rankings, known, scale, list(parsed.values()))
    shown = max(1, int(batch.returned.max(initial=0)), int(batch.known.counts.max(initial=0)))
    parts = chunks(batch)
    found: dict[str, dict[str, float | None]] = {}
    for text, measure in parsed.items():
        flat = np.concatenate([values(measure, part, shown) for part in parts]).tolist()
        found[text] = dict(zip(qrels, [None if math.isnan(value) else value for value in flat], strict=True))
    return found


def _batch(
    queries: list[str],
    rankings: list[Ranking],
    known: list[Mapping[str, float]],
    scale: Scale | str | None,
    measures: list[Measure],
) -> Batch:
    every, small = known_grades(known)
    lengths = lengths_of(rankings)
    if any(isinstance(ranking, Mapping) for ranking in rankings):
        grades = spread(looked_up(rankings, known, small), lengths)
        grades = _by_score(grades, _engine_scores(queries, rankings, lengths), rankings, known)
    else:
        reaches = [measure.reach() for measure in measures]
        deepest = max((reach for reach in reaches if reach), default=0)
        if None not in reaches and deepest < int(lengths.max(initial=0)):
            rankings = [ranking[:deepest] for ranking in rankings if not isinstance(ranking, Mapping)]
            lengths = np.minimum(lengths, deepest)
        grades = spread(looked_up(rankings, known, small), lengths)
    # Elsewhere a repeat may pass for an unrated document: neither gains anything.
    telling = any(measure.name == "Judged" or measure.parameters.get("unrated") == "skip" for measure in measures)
    repeats = repeats_in(rankings, grades.shape[1]) if telling else np.zeros(grades.shape, dtype=np.bool_)
    return Batch(grades, lengths, repeats, every, _scale(scale, every))


def _scale(given: Scale | str | None, known: Known) -> Scale:
    if given is None:
        return Scale((0.0, max(1.0, float(np.ceil(known.grades.max(initial=0.0))))), relevant_from=1.0)
    return replace(Scale.parse(given) if isinstance(given, str) else given, relevant_from=1.0)


def _engine_scores(queries: list[str], rankings: list[Ranking], lengths: IntArray) -> FloatArray:
    """[queries × longest], NaN beyond the end; documents given in rank order have descending numbers."""
    rows = [row.values() if isinstance(row, Mapping) else range(len(row), 0, -1) for row in rankings]
    try:
        flat = np.fromiter(chain.from_iterable(rows), dtype=np.float64, count=int(lengths.sum()))
    except (TypeError, ValueError):
        flat = None
    if flat is None or np.isnan(flat).any():
        raise GradeError(_not_a_number(queries, rankings))
    return spread(flat, lengths)


def _not_a_number(queries: list[str], rankings: list[Ranking]) -> str:
    for query, ranking in zip(queries, rankings, strict=True):
        for document, score in ranking.items() if isinstance(ranking, Mapping) else ():
            if not isinstance(score, int | float | np.number) or math.isnan(score):
                return f"The engine score of document {document!r} for query {query!r} must be a number, not {score!r}."
    return "An engine score is not a number."


def _by_score(
    grades: FloatArray, scores: FloatArray, rankings: list[Ranking], known: list[Mapping[str, float]]
) -> FloatArray:
    """The grades of each row in descending order of score, ties in descending order of document id."""
    falling = -scores
    order = np.argsort(falling, axis=1)
    sorted_grades = np.take_along_axis(grades, order, axis=1)
    falling.sort(axis=1)
    tied = falling[:, 1:] == falling[:, :-1]
    if not tied.any():
        return sorted_grades
    # Ids are compared only where it matters: where neighbours of one score differ in grade.
    left, right = sorted_grades[:, 1:], sorted_grades[:, :-1]
    differ = (left != right) & ~(np.isnan(left) & np.isnan(right))
    for row in np.flatnonzero((tied & differ).any(axis=1)):
        ranking = rankings[row]
        if isinstance(ranking, Mapping):
            documents = sorted(sorted(ranking, reverse=True), key=_score_in(ranking), reverse=True)
            sorted_grades[row, : len(documents)] = [known[row].get(document, np.nan) for document in documents]
    return sorted_grades


def _score_in(ranking: Mapping[str, float]) -> Callable[[str], float]:
    return lambda document: float(ranking[document])
