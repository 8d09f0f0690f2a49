"""What the scores of a case would be if the ratings of one rater were the only ones. Nothing is stored."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from relevancy.models import Book, Case, Run, ScorerVersion, User
from relevancy.scores import GradedQueries, known_grades, score_known
from relevancy.scores.book_previews import newest_finished_run, read_rankings
from relevancy.scoring import case_mean, exact_units, points
from relevancy.statistics import Differences, Interval, find_interval


@dataclass(frozen=True)
class RaterQueryScore:
    """The scores of a query that a rater has rated, from 0 to 100. See `RaterScore`.

    unit: the query, or those that it is linked with.
    """

    query_id: int
    unit: int
    weight: float
    everyone: float
    same_documents: float | None
    alone: float

    @property
    def difference(self) -> float:
        """`alone` minus `everyone`, in points."""
        return self.alone - self.everyone


@dataclass(frozen=True)
class RaterScore:
    """How far the score of a case in a run moves if only one rater counts, over the queries that this rater has rated.

    queries: those with a score by the ratings of everyone and by those of the rater alone. The means are over them.
    everyone: the mean by all ratings. alone: by the ratings of this rater, by the rule of the book.
    same_documents: by the ratings of everyone of the documents that the rater has rated; None if a query has no score by them. The
    step from `everyone` to it is what the documents make that the rater has not rated; the step to `alone`, what the grades make.
    interval: of the difference `alone − everyone`; linked queries count once.
    left_out: queries that the rater has rated and that have no score in one of the two ways.
    is_script: a script; it is not run, and there are no scores.
    """

    case: Case
    run: Run
    version: ScorerVersion
    queries: Sequence[RaterQueryScore]
    left_out: int
    is_script: bool

    @property
    def everyone(self) -> float | None:
        return self._mean([query.everyone for query in self.queries])

    @property
    def alone(self) -> float | None:
        return self._mean([query.alone for query in self.queries])

    @property
    def same_documents(self) -> float | None:
        values = [query.same_documents for query in self.queries if query.same_documents is not None]
        return self._mean(values) if len(values) == len(self.queries) else None

    @property
    def difference(self) -> float | None:
        """`alone` minus `everyone`, in points."""
        everyone, alone = self.everyone, self.alone
        return None if everyone is None or alone is None else alone - everyone

    @property
    def by_documents(self) -> float | None:
        """The part of the difference that the documents make that the rater has not rated, in points."""
        everyone, same = self.everyone, self.same_documents
        return None if everyone is None or same is None else same - everyone

    @property
    def by_grades(self) -> float | None:
        """The part of the difference that other grades of the same documents make, in points."""
        alone, same = self.alone, self.same_documents
        return None if alone is None or same is None else alone - same

    def find_interval(self) -> Interval | None:
        """Returns the 95 % interval of the difference; None for fewer than two queries. Linked queries count once."""
        weighed = [query for query in self.queries if query.weight > 0]
        numbers: dict[int, int] = {}
        units = [numbers.setdefault(query.unit, len(numbers)) for query in weighed]
        differences = Differences.build([query.difference for query in weighed], [query.weight for query in weighed])
        return find_interval(differences.merged(np.array(units, dtype=np.int64)))

    def _mean(self, values: Sequence[float]) -> float | None:
        weights = [query.weight for query in self.queries]
        total = sum(exact_units(weight * value) for weight, value in zip(weights, values, strict=True))
        return case_mean(points(total), sum(weights))


def measure_rater_scores(cases: Iterable[Case], book: Book, rater: User) -> list[RaterScore]:
    """Returns the scores of cases of a book by the ratings of one rater, in the newest finished run of each, under each scorer of the
    case. Cases without such a run are left out. Eight SQL statements per case, and four more for every 500 queries."""
    measured = []
    for case in cases:
        run = newest_finished_run(case)
        if run is not None:
            measured += _measure_run(case, run, book, rater)
    return measured


def _measure_run(case: Case, run: Run, book: Book, rater: User) -> list[RaterScore]:
    versions = list(ScorerVersion.objects.used_by(case))
    measures = [version for version in versions if not version.script]
    present = case.case_queries.present().order_by("query_id")
    queries = {
        query_id: (weight, query_id if link_id is None else -link_id)
        for query_id, weight, link_id in present.values_list("query_id", "weight", "query__link_id")
    }
    own = known_grades(book, queries, rater_id=rater.pk) if measures else {}
    rated = [query_id for query_id, grades in own.items() if grades]
    scored: dict[int, list[RaterQueryScore]] = {version.pk: [] for version in versions}
    left_out = dict.fromkeys(scored, 0)
    for rankings in read_rankings(run, rated):
        ids = [ranking.query_id for ranking in rankings]
        everyone = known_grades(book, ids)
        same = {pk: {doc_id: everyone[pk][doc_id] for doc_id in own[pk] if doc_id in everyone[pk]} for pk in ids}
        rows = [score_known(run, rankings, measures, GradedQueries(book, grades)) for grades in (everyone, same, own)]
        for by_everyone, by_same, alone in zip(*rows, strict=True):
            if by_everyone.score is None or alone.score is None:
                left_out[alone.version_id] += 1
                continue
            weight, unit = queries[alone.query_id]
            scored[alone.version_id].append(
                RaterQueryScore(alone.query_id, unit, weight, by_everyone.score, by_same.score, alone.score)
            )
    return [
        RaterScore(case, run, version, scored[version.pk], left_out[version.pk], bool(version.script))
        for version in versions
    ]
