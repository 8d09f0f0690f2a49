"""What other settings of a book would make of the scores of its cases. Nothing is stored."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import batched

from relevancy.models import Book, Case, Ranking, Run, ScorerVersion
from relevancy.scoring import case_mean, exact_units, points

from .grades import Counts, GradedQueries, known_grades
from .score_rankings import score_known

BATCH = 500


@dataclass(frozen=True)
class CaseScorePreview:
    """The score of a case in its newest finished run under one of its scorers, from 0 to 100; None if it has none.

    scored_before, scored_after: the numbers of queries with a score.
    is_script: a script; it is not run for a preview, and the scores are None.
    """

    case: Case
    run: Run
    version: ScorerVersion
    before: float | None = None
    after: float | None = None
    scored_before: int = 0
    scored_after: int = 0
    is_script: bool = False

    @property
    def difference(self) -> float | None:
        """`after` minus `before`, in points."""
        return None if self.before is None or self.after is None else self.after - self.before


def count_changed_grades(before: Book, after: Book, new_values: Mapping[float, float]) -> tuple[int, int]:
    """Returns the number of documents whose grade would be another number, and the number of documents with a grade, each document
    counted once per query. One SQL statement for 500 queries, twice.

    after: the book with other settings, not saved. new_values: `{value of a rating: its new value}`.
    """
    changed = total = 0
    for query_ids in batched(before.queries.order_by("pk").values_list("pk", flat=True), BATCH):
        old, new = known_grades(before, query_ids), known_grades(after, query_ids, new_values)
        for query_id, grades in old.items():
            total += len(grades)
            changed += sum(grade != new[query_id].get(doc_id) for doc_id, grade in grades.items())
    return changed, total


def preview_case_scores(
    cases: Iterable[Case], before: Book, after: Book, new_values: Mapping[float, float]
) -> list[CaseScorePreview]:
    """Returns the scores of cases of a book as they are and as other settings would make them; see `score_cases`. The arguments are
    those of `count_changed_grades`."""
    cases = list(cases)
    return join_scores(score_cases(cases, before), score_cases(cases, after, new_values))


@dataclass(frozen=True)
class ComputedCaseScore:
    """The score of a case in a run under a scorer version, computed from the ratings and not stored. scored: the number of queries."""

    case: Case
    run: Run
    version: ScorerVersion
    score: float | None
    scored: int


def score_cases(
    cases: Iterable[Case],
    book: Book,
    new_values: Mapping[float, float] | None = None,
    *,
    counts: Counts | None = None,
) -> list[ComputedCaseScore]:
    """Computes the scores of cases of a book in the newest finished run of each, under each scorer of the case. Scripts are not run
    and have no score. Cases without such a run are left out. new_values, counts: see `known_grades`."""
    computed = []
    for case in cases:
        run = newest_finished_run(case)
        if run is not None:
            computed += _score_run(case, run, book, new_values, counts)
    return computed


def newest_finished_run(case: Case) -> Run | None:
    """Returns the run of a case that previews show: the newest finished one that has not failed."""
    return Run.objects.newest_for(case).finished().exclude(status=Run.Status.FAILED).first()


def read_rankings(run: Run, query_ids: Iterable[int]) -> Iterator[list[Ranking]]:
    """Yields the rankings of a run for these queries, those of up to 500 at a time. One SQL statement each."""
    for batch in batched(sorted(query_ids), BATCH):
        yield list(Ranking.objects.for_scoring().filter(run=run, query__in=batch, error_kind=""))


def join_scores(before: Iterable[ComputedCaseScore], after: Iterable[ComputedCaseScore]) -> list[CaseScorePreview]:
    """Returns the scores of the same cases, runs and versions before and after a change, in the order of `before`."""
    by_key = {(score.run.pk, score.version.pk): score for score in after}
    pairs = [(old, by_key.get((old.run.pk, old.version.pk), old)) for old in before]
    return [
        CaseScorePreview(
            old.case,
            old.run,
            old.version,
            before=old.score,
            after=new.score,
            scored_before=old.scored,
            scored_after=new.scored,
            is_script=bool(old.version.script),
        )
        for old, new in pairs
    ]


def _score_run(
    case: Case, run: Run, book: Book, new_values: Mapping[float, float] | None, counts: Counts | None
) -> list[ComputedCaseScore]:
    versions = list(ScorerVersion.objects.used_by(case))
    measures = [version for version in versions if not version.script]
    weights = dict(case.case_queries.present().values_list("query_id", "weight"))
    scored, sums = Counter[int](), Counter[int]()
    summed_weights: dict[int, float] = defaultdict(float)
    for rankings in read_rankings(run, weights) if measures else ():
        ids = [ranking.query_id for ranking in rankings]
        grades = known_grades(book, ids, new_values, counts=counts)
        rows = score_known(run, rankings, measures, GradedQueries(book, grades))
        for row in rows:
            if row.score is not None:
                scored[row.version_id] += 1
                summed_weights[row.version_id] += weights[row.query_id]
                sums[row.version_id] += exact_units(weights[row.query_id] * row.score)
    return [
        ComputedCaseScore(
            case,
            run,
            version,
            case_mean(points(sums[version.pk]), summed_weights[version.pk]),
            scored[version.pk],
        )
        for version in versions
    ]
