"""Scorer previews: one ranking scored by a saved or unsaved scorer, with reasons and working. Nothing is stored."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from relevancy import engines, scoring
from relevancy.models import Book, Ranking, Run, ScorerDefinition, ScorerVersion

from .definitions import Range, considered_depth, mapped_scales
from .grades import known_grades, scale_of
from .ranking_scores import RankingScore
from .score_rankings import build_batch, score_definition

_EXAMPLE_LENGTH = 10  # documents in the rankings of `suggest_output_range`
_UNLIMITED_MEASURES = {"CG", "DCG"}  # sums, which have no maximum of their own


@dataclass(frozen=True)
class PreviewDocument:
    """A document of the ranking. `grade` is None if it is unrated; `repeat`: it was already returned at a better rank."""

    rank: int
    doc_id: str
    title: str
    grade: float | None
    repeat: bool = False


@dataclass(frozen=True, kw_only=True)
class ScorerPreview(RankingScore):
    """The scores of one ranking under one scorer, and what explains them.

    best: the known grades in their best order.
    scale: of the grades.
    working: the table behind the score; None for scripts.
    mapped: the ranges of both scales if grades are mapped for a script.
    most: the value that corresponds to a score of 100, for measures without a maximum of their own.
    """

    seconds: float
    documents: Sequence[PreviewDocument]
    best: Sequence[float]
    scale: scoring.Scale
    reasons: scoring.ScoreReasons
    working: scoring.Working | None = None
    mapped: tuple[Range, Range] | None = None
    text: str = ""
    most: float | None = None


def preview_grades(definition: ScorerDefinition, *, grades: str, known: str = "", scale: str = "") -> ScorerPreview:
    """Scores grades in rank order, such as `3 0 - 2`, with `-` or `–` for an unrated document.

    known: grades of further rated documents.
    scale: "LOWEST:HIGHEST"; the scale of the definition unless given.

    Raises `ScoringError` for an unknown measure, for a grade that is not a number, and for one that is not on the scale.
    """
    if not definition.script:
        scoring.parse_measure(definition.measure)
    returned = scoring.parse_grades(grades)
    others = [grade for grade in scoring.parse_grades(known) if grade is not None]
    rating_scale = scoring.Scale.parse(scale) if scale else scoring.Scale(definition.grades)
    for grade in [*returned, *others]:
        if grade is not None and not rating_scale.contains(grade):
            raise scoring.GradeError(f"{grade:g} is not on the scale {rating_scale.lowest:g}–{rating_scale.top:g}.")
    ids = [f"document {rank}" for rank in range(1, len(returned) + 1)]
    rated = {doc_id: grade for doc_id, grade in zip(ids, returned, strict=True) if grade is not None}
    rated |= {f"further document {number}": grade for number, grade in enumerate(others, 1)}
    ranking = Ranking.with_hits([[doc_id, None, {}] for doc_id in ids], former_text="typed grades", total=len(ids))
    book = Book(
        scale=[[grade, ""] for grade in rating_scale.grades], relevant_from=rating_scale.relevant_from, name="typed"
    )
    config = {"depth": max(1, len(ids)), "options": {}}
    return _preview(definition, ranking, rated, book, config, titles={doc_id: doc_id for doc_id in ids})


def suggest_output_range(definition: ScorerDefinition) -> str:
    """Returns what a script probably gives, by its scores for a few rankings: "1" if all lie between 0 and 1 and one is above 0,
    "100" if one is above 1. Empty for a measure, and if no ranking tells.

    A ranking of only top grades tells for nearly every script: it has the score 1 or 100.
    """
    if not definition.script:
        return ""
    grades = [f"{grade:g}" for grade in definition.grades]
    falling = (grades[::-1] * _EXAMPLE_LENGTH)[:_EXAMPLE_LENGTH]
    rankings = ([grades[-1]] * _EXAMPLE_LENGTH, sorted(falling, key=float, reverse=True), falling[::-1])
    values: list[float] = []
    for ranking in rankings:
        try:
            preview = preview_grades(replace(definition, output_range="100"), grades=" ".join(ranking))
        except scoring.ScoringError:
            return ""
        if preview.error:
            return ""
        if preview.score is not None:
            values.append(preview.score)
    if not values or max(values) <= 0:
        return ""
    return "1" if max(values) <= 1 else "100"


def preview_query(definition: ScorerDefinition | ScorerVersion, *, run: Run, query_id: int) -> ScorerPreview | None:
    """Scores what a run returned for one query. Returns None if it has no ranking for the query, or a failed one."""
    ranking = run.rankings.filter(query_id=query_id, error_kind="").first()
    if ranking is None:
        return None
    book = run.case.book
    grades = known_grades(book, [query_id])[query_id]
    return _preview(definition, ranking, grades, book, run.config, titles=_titles(run, ranking))


def _titles(run: Run, ranking: Ranking) -> dict[str, str]:
    engine = engines.find(run.config["engine"])
    if engine is None:  # its package has been uninstalled
        return {}
    spec = engines.parse_fields(run.config["fields"], engine.default_id_field)
    return {
        doc_id: spec.display({**fields, spec.id: fields.get(spec.id, doc_id)}).title
        for doc_id, _, fields, *_ in reversed(ranking.hits)
    }


def give_reasons(
    version: ScorerVersion, *, ranking: Ranking, grades: Mapping[str, float], book: Book, depth: int
) -> str:
    """Returns why a ranking has its score, as a sentence. `grades` of the query by document id; `depth`: number of results displayed.
    A script is not run for that. No SQL."""
    if version.script:
        return "Scored by a script. Its working shows the input and output of the script."
    try:
        measure = scoring.parse_measure(version.measure)
    except scoring.MeasureError:
        return f"The measure {version.measure} is not installed, so its score cannot be explained."
    return scoring.give_reasons(measure, build_batch([ranking], [grades], book), depth).sentence


def _preview(
    definition: ScorerDefinition | ScorerVersion,
    ranking: Ranking,
    grades_by_id: Mapping[str, float],
    book: Book,
    config: Mapping[str, Any],
    *,
    titles: Mapping[str, str],
) -> ScorerPreview:
    depth = int(config["depth"])
    batch = build_batch([ranking], [grades_by_id], book)
    started = time.perf_counter()
    (scored,) = score_definition(definition, [ranking], [grades_by_id], batch, book, config, console=True)
    seconds = time.perf_counter() - started
    working = None
    if definition.script:
        reasons = scoring.describe_ranking(scored.score, batch, considered_depth(definition, depth))
    elif scored.error:
        reasons = scoring.ScoreReasons(scored.error, ())
    else:
        measure = scoring.parse_measure(definition.measure)
        reasons, working = scoring.give_reasons(measure, batch, depth), scoring.show_working(measure, batch, depth)
    return ScorerPreview(
        **vars(scored),
        seconds=seconds,
        documents=_documents(ranking.doc_ids, grades_by_id, titles),
        best=sorted(grades_by_id.values(), reverse=True),
        scale=scale_of(book),
        reasons=reasons,
        working=working,
        mapped=mapped_scales(definition, book),
        text=ranking.text,
        most=_value_of_100(definition, scored.value, scored.score),
    )


def _documents(
    doc_ids: Iterable[str], grades_by_id: Mapping[str, float], titles: Mapping[str, str]
) -> list[PreviewDocument]:
    documents = []
    returned: set[str] = set()
    for rank, doc_id in enumerate(doc_ids, 1):
        is_repeat = doc_id in returned
        grade = None if is_repeat else grades_by_id.get(doc_id)
        documents.append(PreviewDocument(rank, doc_id, titles.get(doc_id) or doc_id, grade, is_repeat))
        returned.add(doc_id)
    return documents


def _value_of_100(
    definition: ScorerDefinition | ScorerVersion, value: float | None, score: float | None
) -> float | None:
    """For CG and DCG, the value of the top grade at every rank; None for others, and if a value of 0 does not tell it."""
    if definition.script or not value or not score:
        return None
    if scoring.parse_measure(definition.measure).name not in _UNLIMITED_MEASURES:
        return None
    return 100 * value / score


def infer_scale(grades: str, known: str = "") -> str:
    """Returns the scale "0:TOP" of typed grades. TOP is the highest grade rounded up, at least 1."""
    return scoring.smallest_scale([*scoring.parse_grades(grades), *scoring.parse_grades(known)])
