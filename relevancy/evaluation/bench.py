"""The test bench: one ranking through a scorer, saved or not, with its working and why it came out so."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relevancy import engines, scoring
from relevancy.models import Book, Run

from .figures import Ranked, figures, ranked
from .grades import known_grades, scale_of
from .scorers import Draft, mapped, measure_of

_SUMS = {"CG", "DCG"}  # scoring.md: the sums without a ceiling


@dataclass(frozen=True)
class Shown:
    """A document of the ranking looked at. `grade` None: unrated; `repeat`: it stood at a better rank already."""

    rank: int
    doc_id: str
    title: str
    grade: float | None
    repeat: bool = False


@dataclass(frozen=True)
class Tried:
    """What a scorer makes of one ranking. Scores 0–100, None: there is none. `best`: the known grades in their best order.

    `working` is None for scripts, whose `console` says what they did. `mapped`: the two scales where a script's grades were
    mapped. `scale` is the one the grades are on. `most`: what a sum without a ceiling is per cent of.
    """

    value: float | None
    score: float | None
    low: float | None
    high: float | None
    ideal: float | None
    unrated: int
    error: str
    line: int | None
    console: tuple[str, ...]
    seconds: float
    documents: Sequence[Shown]
    best: Sequence[float]
    scale: scoring.Scale
    explanation: scoring.Explanation
    working: scoring.Working | None = None
    mapped: tuple[tuple[float, float], tuple[float, float]] | None = None
    text: str = ""
    most: float | None = None


def try_typed(draft: Draft, *, grades: str, known: str = "", scale: str = "") -> Tried:
    """Score grades typed in rank order (`-` or `–`: unrated). `known`: grades of further rated documents.

    `scale`: "LOWEST:HIGHEST", default the draft's own. Raises `ScoringError` for an unknown measure, a word that is no grade,
    or a grade off the scale.
    """
    returned, others = typed(grades), [grade for grade in typed(known) if grade is not None]
    rating_scale = scoring.Scale.parse(scale) if scale else scoring.Scale(draft.grades)
    for grade in [*returned, *others]:
        if grade is not None and not rating_scale.contains(grade):
            raise scoring.GradeError(f"{grade:g} is not on the scale {rating_scale.lowest:g}–{rating_scale.top:g}.")
    ids = [f"document {rank}" for rank in range(1, len(returned) + 1)]
    rated = {doc_id: grade for doc_id, grade in zip(ids, returned, strict=True) if grade is not None}
    rated |= {f"further document {place}": grade for place, grade in enumerate(others, 1)}
    ranking = Ranked(None, 0, "typed grades", {}, len(ids), [[doc_id, None, {}] for doc_id in ids])
    book = Book(
        scale=[[grade, ""] for grade in rating_scale.grades], relevant_from=rating_scale.relevant_from, name="typed"
    )
    return _tried(
        draft, ranking, rated, book, {"depth": max(1, len(ids)), "options": {}}, dict(zip(ids, ids, strict=True))
    )


def try_query(draft: Draft, *, run: Run, query_id: int, working: bool = True) -> Tried | None:
    """Score what a run returned for one query; None where it has no ranking, or one that failed. Stores nothing. `working`:
    also the table behind the score."""
    found = ranked(run.rankings.filter(query_id=query_id))
    if not found:
        return None
    book = run.case.book
    spec = engines.parse_fields(run.asked["fields"], engines.get(run.asked["engine"]).default_id_field)
    titles = {
        doc_id: spec.display({**fields, spec.id: fields.get(spec.id, doc_id)}).title
        for doc_id, _, fields, *_ in reversed(found[0].hits)
    }
    return _tried(draft, found[0], known_grades(book, [query_id])[query_id], book, run.asked, titles, working)


def _tried(
    draft: Draft,
    ranking: Ranked,
    known: Mapping[str, float],
    book: Book,
    asked: Mapping[str, Any],
    titles: Mapping[str, str],
    with_working: bool = True,
) -> Tried:
    scale, shown = scale_of(book), int(asked["depth"])
    batch = scoring.Batch.build([ranking.doc_ids], [known], scale)
    began = time.perf_counter()
    found = figures(draft, [ranking], [known], batch, book, asked, console=True)
    seconds = time.perf_counter() - began
    score = found.score[0]
    if draft.script:
        explanation = scoring.explain_grades(score, batch, draft.looks_at(shown))
        working = None
    else:
        measure = measure_of(draft.measure)
        explanation = scoring.explain(measure, batch, shown)
        working = scoring.show_working(measure, batch, shown) if with_working else None
    seen: set[str] = set()
    documents = []
    for rank, doc_id in enumerate(ranking.doc_ids, 1):
        documents.append(
            Shown(
                rank,
                doc_id,
                titles.get(doc_id) or doc_id,
                None if doc_id in seen else known.get(doc_id),
                doc_id in seen,
            )
        )
        seen.add(doc_id)
    return Tried(
        value=found.value[0],
        score=score,
        low=found.low[0],
        high=found.high[0],
        ideal=found.ideal[0],
        unrated=found.unrated[0],
        error=found.error[0],
        line=found.line[0],
        console=found.console[0],
        seconds=seconds,
        documents=documents,
        best=sorted(known.values(), reverse=True),
        scale=scale,
        explanation=explanation,
        working=working,
        mapped=mapped(draft, book),
        text=ranking.text,
        most=_most(draft, found.value[0], score),
    )


def _most(draft: Draft, value: float | None, score: float | None) -> float | None:
    """What CG and DCG are shown as per cent of, the top grade at every rank; None for others, and where it cannot be told from a 0."""
    if draft.script or measure_of(draft.measure).name not in _SUMS or not value or not score:
        return None
    return 100 * value / score


def typed(text: str) -> list[float | None]:
    """Grades as somebody types them: numbers apart by blanks or commas, `-` for unrated. Raises `GradeError`."""
    found: list[float | None] = []
    for place, word in enumerate(text.replace(",", " ").split(), 1):
        if word in {"-", "–", "·"}:
            found.append(None)
            continue
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise scoring.GradeError(f"Grade {place} is {word!r}; write a number, or - for unrated.")
        found.append(value)
    return found


def scale_for(grades: str, known: str = "") -> str:
    """The scale that typed grades are on where nobody says: "0:top", with the highest grade typed rounded up, at least 1."""
    every = [grade for grade in [*typed(grades), *typed(known)] if grade is not None]
    return f"0:{max(1, math.ceil(max(every, default=1)))}"
