"""Scores of rankings, computed and not yet stored: by arithmetic for measures, in the sandbox for scripts.

Nothing here writes or holds a lock: a script may take its time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relevancy import sandbox, scoring
from relevancy.models import Book, Query, QueryScore, Ranking, Run, ScorerVersion

from .forgetting import scoreable
from .grades import known_grades, scale_of
from .scorers import Draft, mapped, measure_of

LONGEST_ERROR = 500


@dataclass(frozen=True)
class Ranked:
    """What scoring needs of a ranking; `ranking_id` None until it is stored."""

    ranking_id: int | None
    query_id: int
    text: str
    options: Mapping[str, Any]
    total: int | None
    hits: Sequence[Sequence[Any]]

    @property
    def doc_ids(self) -> list[str]:
        return [hit[0] for hit in self.hits]


@dataclass(frozen=True)
class Figures:
    """One element per ranking; None: not scoreable, or there is none. `console`: what a script wrote, where asked for."""

    value: list[float | None]
    score: list[float | None]
    low: list[float | None]
    high: list[float | None]
    ideal: list[float | None]
    unrated: list[int]
    error: list[str]
    line: list[int | None]
    console: list[tuple[str, ...]]


def ranked(rankings: Iterable[Ranking]) -> list[Ranked]:
    """Rankings without an error, as scoring sees them."""
    return [
        Ranked(row.pk, row.query_id, row.text, row.options, row.total, row.hits)
        for row in rankings
        if not row.error_kind
    ]


def compute(
    run: Run,
    rankings: Sequence[Ranked],
    versions: Sequence[ScorerVersion],
    *,
    between: Callable[[], object] = lambda: None,
) -> list[QueryScore]:
    """Score rankings of one run under each version; rows that are not stored yet. `between`: called before each version, which
    may take as long as a script is allowed to.

    The queries' revisions are read before their ratings: a rating that arrives between the two leaves a score that is
    stale, never one that is wrong and looks fresh. Scripts are left out where the run's fields are gone.
    """
    versions = scoreable(run, versions)
    if not rankings or not versions:
        return []
    book = run.case.book
    query_ids = [item.query_id for item in rankings]
    revisions = dict(Query.objects.filter(pk__in=query_ids).values_list("pk", "revision"))
    grades = known_grades(book, query_ids)
    known = [grades[item.query_id] for item in rankings]
    batch = scoring.Batch.build([item.doc_ids for item in rankings], known, scale_of(book))
    rows: list[QueryScore] = []
    for version in versions:
        between()
        found = figures(Draft.of(version), rankings, known, batch, book, run.asked)
        for index, item in enumerate(rankings):
            rows.append(
                QueryScore(
                    ranking_id=item.ranking_id,  # type: ignore[misc]  # not stored yet, where a worker just searched
                    run=run,
                    query_id=item.query_id,
                    version=version,
                    value=found.value[index],
                    score=found.score[index],
                    low=found.low[index],
                    high=found.high[index],
                    ideal=found.ideal[index],
                    unrated=found.unrated[index],
                    error=found.error[index],
                    revision=revisions[item.query_id],
                )
            )
    return rows


def figures(
    draft: Draft,
    rankings: Sequence[Ranked],
    known: Sequence[Mapping[str, float]],
    batch: scoring.Batch,
    book: Book,
    asked: Mapping[str, Any],
    *,
    console: bool = False,
) -> Figures:
    """Rankings of one book under one definition. `asked`: of the run, for its depth and options; `batch`: the same rankings
    and known grades as a matrix."""
    if draft.script:
        return _by_script(draft, rankings, known, mapped(draft, book), asked, console=console)
    measure, shown = measure_of(draft.measure), int(asked["depth"])
    scores = scoring.score(measure, batch, shown=shown, zero_unscoreable=draft.count_unscoreable_as_zero)
    columns = (scores.value, scores.score, scores.low, scores.high, scoring.ideal_scores(measure, batch, shown))
    value, score, low, high, ideal = (_numbers(column) for column in columns)
    return Figures(
        value=value,
        score=score,
        low=low,
        high=high,
        # Counted as 0 without being scoreable: no order of the documents would change that.
        ideal=[own if best is None else best for best, own in zip(ideal, score, strict=True)],
        unrated=scores.unrated.tolist(),
        error=[""] * len(rankings),
        line=[None] * len(rankings),
        console=[()] * len(rankings),
    )


def _by_script(
    draft: Draft,
    rankings: Sequence[Ranked],
    known: Sequence[Mapping[str, float]],
    scales: tuple[tuple[float, float], tuple[float, float]] | None,
    asked: Mapping[str, Any],
    *,
    console: bool,
) -> Figures:
    shown = draft.looks_at(int(asked["depth"]))
    seen = max(shown, int(asked["depth"]))  # what a script may look at does not depend on the other scorers of the case
    queries = []
    for item, all_grades in zip(rankings, known, strict=True):
        grades = all_grades if scales is None else _mapped(all_grades, *scales)
        hits = item.hits[:seen]
        first = {hit[0]: place for place, hit in reversed(list(enumerate(hits)))}
        queries.append(
            sandbox.Scored(
                text=item.text,
                docs=[{**hit[2], "id": hit[0]} for hit in hits],
                # As for measures: a document counts at its first rank, a repeat keeps its slot without a gain.
                ratings=[grades.get(hit[0]) if first[hit[0]] == place else None for place, hit in enumerate(hits)],
                known=grades,
                total=item.total,
                options={**asked["options"], **item.options},
            )
        )
    try:
        outcomes = sandbox.score(
            draft.script, queries, scale=draft.grades, shown=shown, gives=draft.gives, console=console
        )
    except sandbox.SandboxError as error:
        outcomes = [sandbox.Outcome(None, str(error), getattr(error, "line", None), ())] * len(queries)
    zero = draft.count_unscoreable_as_zero
    scores = [0.0 if zero and each.score is None and not each.error else each.score for each in outcomes]
    nothing: list[float | None] = [None] * len(rankings)
    return Figures(
        value=scores,
        score=scores,
        low=nothing,
        high=nothing,
        ideal=nothing,
        unrated=[
            len({hit[0] for hit in item.hits[:shown]} - grades.keys())
            for item, grades in zip(rankings, known, strict=True)
        ],
        error=[each.error[:LONGEST_ERROR] for each in outcomes],
        line=[each.line for each in outcomes],
        console=[each.console for each in outcomes],
    )


def _mapped(grades: Mapping[str, float], ours: tuple[float, float], theirs: tuple[float, float]) -> dict[str, float]:
    of, to = scoring.Scale(ours), scoring.Scale(theirs)
    return {doc_id: scoring.map_grades(grade, of, to) for doc_id, grade in grades.items()}


def _numbers(column: Any) -> list[float | None]:
    return [None if math.isnan(number) else number for number in column.tolist()]
