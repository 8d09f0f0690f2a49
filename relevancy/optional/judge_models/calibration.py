"""Calibration: a judge model against people on a frozen random sample of queries, and the case score that people would give."""

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.core.exceptions import ValidationError

from relevancy import scores
from relevancy.judging.judging_queue import judging_queue
from relevancy.models import Book, CaseQuery, QueryScore, Rating, Run, ScorerVersion, User, Verdict
from relevancy.optional.agreement.sentences import RELIABLE, TENTATIVE, describe
from relevancy.optional.agreement.statistics import (
    MIN_ITEMS,
    Agreement,
    PairAgreement,
    RaterTable,
    compare_raters,
    measure_agreement,
)
from relevancy.statistics import Differences, Interval, find_interval
from relevancy.templatetags import numbers
from relevancy.wording import counted

from .models import CalibrationSample, JudgeAnswer, JudgeModel
from .statistics import CorrectedScore, correct_score, rank_correlation

MIN_SAMPLE, MAX_SAMPLE = 2, 500
PEOPLE, JUDGE = 0, 1  # raters of the table
State = JudgeAnswer.State


@dataclass(frozen=True)
class ScoredQuery:
    """A sampled query with its scores by people's grades and by the judge's; None if it is not scoreable by them."""

    query_id: int
    people: float | None
    judge: float | None

    @property
    def difference(self) -> float | None:
        """The judge's score minus that of people; None without one of them."""
        return None if self.people is None or self.judge is None else self.judge - self.people


@dataclass(frozen=True)
class Calibration:
    """How a judge model compares with people.

    agreement, pair: on the documents that both gave a grade, of the sampled queries; people's grade is that of the book's rule,
        without ratings by judge models. pair is None if there are none.
    scored: the sampled queries, in the order of the sample.
    difference, interval: judge minus people, mean over the sampled queries that both can score.
    correlation: Kendall's τ-b of their scores.
    judge_score: mean of the judge's scores of all queries that it can score; None without any.
    corrected: the case score that people would give; None if `missing` says why.
    open_by_people, open_by_judge: sampled queries and queries of the case with results that are not judged yet, by id.
    """

    agreement: Agreement
    pair: PairAgreement | None
    scored: list[ScoredQuery]
    difference: float | None
    interval: Interval | None
    correlation: float | None
    judge_score: float | None
    corrected: CorrectedScore | None
    missing: str
    open_by_people: list[int]
    open_by_judge: list[int]

    def describe_reliability(self, name: str) -> str:
        """Returns whether the judge model can be relied on, and why. name: of the judge model."""
        alpha = self.agreement.alpha["ordinal"]
        if alpha.value is None or alpha.low is None or alpha.high is None:
            why = "all documents have the same grade" if alpha.value is None else "the sample has too few queries"
            if self.agreement.items < MIN_ITEMS:
                documents = counted(self.agreement.items, "document has", "documents have")
                why = f"{documents} a grade by people and by the judge model, and {MIN_ITEMS} are needed"
            return f"It is not known whether {name} can be relied on, because {why}."
        figures = f"alpha with people is {describe(alpha)}"
        if alpha.low >= RELIABLE:
            return f"{name} can be relied on, because it grades as people do: {figures}, and .80 is asked for."
        if alpha.low >= TENTATIVE:
            return f"{name} can be relied on for careful conclusions, because it grades much as people do: {figures}; .80 is asked for."
        least = ".67 is the least that conclusions need"
        if alpha.high < TENTATIVE:
            return f"{name} cannot be relied on, because it grades otherwise than people: {figures}; {least}."
        return f"It cannot be said yet whether {name} can be relied on, because the sample is too small: {figures}; {least}."

    def summarize(self) -> str:
        """Returns the corrected case score with what its interval holds for, or why there is none."""
        corrected = self.corrected
        if corrected is None or self.judge_score is None:
            return f"No corrected score. {self.missing}"
        warning = "" if corrected.is_reliable else "Fewer than 20 sampled queries: do not rely on the interval. "
        return (
            f"The judge model says {numbers.score(self.judge_score)}. Corrected by the "
            f"{counted(corrected.sampled, 'query', 'queries')} that people judged: {numbers.score(corrected.value)} "
            f"({numbers.score(corrected.low)} to {numbers.score(corrected.high)}). {warning}"
            f"The interval holds for queries like these; for the {corrected.sampled + corrected.others:,} queries of the case "
            "themselves it is cautious, that is, wider than it has to be."
        )


def draw_sample(*, book: Book, size: int, by: User, seed: int) -> CalibrationSample:
    """Draws queries of the book's judging queue at random and freezes them. Raises `ValidationError`."""
    if not MIN_SAMPLE <= size <= MAX_SAMPLE:
        raise ValidationError(f"A sample can have {MIN_SAMPLE} to {MAX_SAMPLE} queries, not {size:,}.")
    pairs = judging_queue(book).pairs.filter(query__retired_at=None)
    query_ids = sorted(pairs.order_by().values_list("query_id", flat=True).distinct())
    if size > len(query_ids):
        raise ValidationError(f"{book} has {len(query_ids):,} queries to judge; a sample of {size:,} needs more.")
    sampled = random.Random(seed).sample(query_ids, size)
    return CalibrationSample.objects.create(book=book, query_ids=sampled, seed=seed, created_by=by)


def newest_sample(book: Book) -> CalibrationSample | None:
    """Returns the sample of a book that was drawn last."""
    return CalibrationSample.objects.filter(book=book).first()


def calibrate(*, judge: JudgeModel, sample: CalibrationSample, run: Run, version: ScorerVersion) -> Calibration:
    """Compares a judge model with people on the sampled queries, by grades and by the scores of a run."""
    book = run.case.book
    weights = dict(
        CaseQuery.objects.filter(case=run.case, removed_at=None, query__retired_at=None).values_list(
            "query_id", "weight"
        )
    )
    people = people_grades(book, weights)
    judge_grades = _judge_grades(judge, weights)
    sampled = [query_id for query_id in sample.query_ids if query_id in weights]
    by_people = _score(run, version, people.values)
    by_judge = _score(run, version, judge_grades.values)
    unsettled_by_people = _unsettled(run, version, people)
    unsettled_by_judge = _unsettled(run, version, judge_grades)
    missing = _missing(sample, sampled, weights, unsettled_by_people, unsettled_by_judge)
    scored = [ScoredQuery(pk, by_people.get(pk), by_judge.get(pk)) for pk in sampled]
    one_sided = sum((row.people is None) != (row.judge is None) for row in scored)
    if one_sided and not missing:
        missing = (
            f"{one_sided} sampled queries can be scored by the grades of one side only, so the means are not over the same "
            "queries. Use a scorer that counts queries that cannot be scored as 0."
        )
    both = [(row.people, row.judge) for row in scored if row.people is not None and row.judge is not None]
    h, f = [pair[0] for pair in both], [pair[1] for pair in both]
    others = [score for pk, score in by_judge.items() if score is not None and pk not in set(sampled)]
    differences = Differences.build([own - other for other, own in both])
    table = _table(book, sampled, people.values, judge_grades.values)
    pairs = compare_raters(table)
    judged = [score for score in by_judge.values() if score is not None]
    return Calibration(
        agreement=measure_agreement(table),
        pair=pairs[0] if pairs else None,
        scored=scored,
        difference=differences.mean if both else None,
        interval=find_interval(differences),
        correlation=rank_correlation(h, f),
        judge_score=sum(judged) / len(judged) if judged else None,
        corrected=None if missing else correct_score(h, f, others),
        missing=missing or ("" if len(both) > 1 else "Fewer than two sampled queries can be scored by both."),
        open_by_people=[pk for pk in sampled if unsettled_by_people.get(pk)],
        open_by_judge=[pk for pk, is_open in unsettled_by_judge.items() if is_open],
    )


@dataclass(frozen=True)
class Grades:
    """values: `{query id: {document id: grade}}`. unable: documents that were judged without a grade, by query id."""

    values: Mapping[int, dict[str, float]]
    unable: Mapping[int, set[str]]


def _missing(
    sample: CalibrationSample,
    sampled: list[int],
    weights: Mapping[int, float],
    unsettled_by_people: Mapping[int, bool],
    unsettled_by_judge: Mapping[int, bool],
) -> str:
    """Returns why there can be no corrected score; empty if there can. A part of a random sample is not a random sample."""
    if len(sampled) < len(sample.query_ids):
        gone = counted(len(sample.query_ids) - len(sampled), "sampled query is", "sampled queries are")
        return f"{gone} no longer in the case. Draw another sample."
    if len(set(weights.values())) > 1:
        return "The queries of the case have different weights, which the corrected score does not support."
    unsearched = len(weights) - len(unsettled_by_judge)
    if unsearched:
        return f"The run has no results for {counted(unsearched, 'query', 'queries')}. Complete it."
    unrated = sum(unsettled_by_people[pk] for pk in sampled)
    if unrated:
        return f"People have not rated all results of {unrated} of {len(sampled)} sampled queries yet."
    unanswered = sum(unsettled_by_judge.values())
    if unanswered:
        return f"The judge model has not answered for all results of {unanswered} of {len(weights)} queries yet."
    return ""


def people_grades(book: Book, query_ids: Iterable[int]) -> Grades:
    """Returns the grades by the rule of the book, without ratings by machines."""
    machines = set(User.objects.filter(kind=User.Kind.MACHINE).values_list("pk", flat=True))
    grades = scores.known_grades(book, query_ids, counts=lambda query_id, doc_id, rater_id: rater_id not in machines)
    unable: dict[int, set[str]] = {pk: set() for pk in grades}
    verdicts = Rating.objects.filter(query__book=book, verdict=Verdict.CANNOT).exclude(rater__kind=User.Kind.MACHINE)
    for query_id, doc_id in verdicts.values_list("query_id", "doc_id"):
        if query_id in unable:
            unable[query_id].add(doc_id)
    return Grades(grades, unable)


def _judge_grades(judge: JudgeModel, query_ids: Iterable[int]) -> Grades:
    grades = Grades({pk: {} for pk in query_ids}, defaultdict(set))
    rows = JudgeAnswer.objects.filter(judge=judge, query__in=list(grades.values), state__in=(State.RATED, State.CANNOT))
    for query_id, doc_id, value in rows.values_list("query_id", "doc_id", "value"):
        if value is None:
            grades.unable[query_id].add(doc_id)
        else:
            grades.values[query_id][doc_id] = value
    return grades


def _score(run: Run, version: ScorerVersion, grades: Mapping[int, Mapping[str, float]]) -> dict[int, float | None]:
    """Returns the score by query, of queries that the run has results for. Stores nothing."""
    return {row.query_id: row.score for row in _rows(run, version, grades)}


def _unsettled(run: Run, version: ScorerVersion, grades: Grades) -> dict[int, bool]:
    """Returns by query whether there is a document among those that the scorer counts that has not been judged, not even without a
    grade."""
    lowest = run.case.book.lowest
    settled = {pk: dict.fromkeys(grades.unable[pk], lowest) | values for pk, values in grades.values.items()}
    return {row.query_id: row.unrated > 0 for row in _rows(run, version, settled)}


def _rows(run: Run, version: ScorerVersion, grades: Mapping[int, Mapping[str, float]]) -> list[QueryScore]:
    rankings = list(run.rankings.for_scoring().filter(query_id__in=list(grades), error_kind=""))
    return scores.score_known(run, rankings, [version], scores.GradedQueries(run.case.book, grades))


def _table(
    book: Book,
    sampled: Iterable[int],
    people: Mapping[int, Mapping[str, float]],
    judge: Mapping[int, Mapping[str, float]],
) -> RaterTable:
    cells: list[tuple[int, int, int, float]] = []
    item = 0
    for query_id in sampled:
        for doc_id in sorted(people[query_id].keys() & judge[query_id].keys()):
            cells.append((query_id, item, PEOPLE, people[query_id][doc_id]))
            cells.append((query_id, item, JUDGE, judge[query_id][doc_id]))
            item += 1
    return RaterTable.build(cells, book.grades)
