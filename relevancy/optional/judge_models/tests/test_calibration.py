"""A judge model with a known confusion matrix against people whose grades are the truth."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from relevancy import judging
from relevancy.models import Rating, ScorerVersion
from relevancy.optional.agreement.statistics import Coefficient
from relevancy.optional.judge_models import calibration, counting, jobs, judges
from relevancy.optional.judge_models.fake_judge import fake_judge
from tests.factories import make_attempt, make_case, make_user, rate_all, run_now, script_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
QUERIES = 60
SAMPLED = 25
# Too generous: every third document that is worth 0 gets 2.
CONFUSION = {"0": {"0": 0.65, "2": 0.35}, "1": {"1": 0.8, "3": 0.2}, "2": {"2": 0.9, "3": 0.1}, "3": {"3": 1.0}}


def truth(query: str, doc_id: str) -> int:
    """The grade that people give: 0 to 3, different for each query and document."""
    number = int(query.removeprefix("query "))
    return 3 if doc_id == "1" else max(0, (number * 7 + int(doc_id) * 5) % 11 - 7)


def test_the_corrected_score_covers_the_truth_where_the_judge_is_wrong() -> None:
    case = make_case(QUERIES, measures=["P@5"])
    attempt = make_attempt(case)
    script_of(attempt).default = [str(number) for number in range(1, 6)]
    run = run_now(attempt)
    judging.build_judging_queue(book=case.book)
    sample = calibration.draw_sample(book=case.book, size=SAMPLED, by=case.owner, seed=3)
    version = ScorerVersion.objects.used_by(case)[0]
    with fake_judge(truth=lambda query, document: str(truth(query, document["title"])), confusion=CONFUSION) as server:
        judge = judges.create(name="Judge", protocol="openai", url=server.url, model="m", by=make_user(), parallel=8)
        jobs.run(jobs.start(judge=judge, book=case.book, by=case.owner))
    texts = {query.pk: query.text for query in case.book.queries.all()}
    documents = [str(number) for number in range(1, 6)]

    sampled = [texts[pk] for pk in sample.query_ids]
    half = {text: {doc_id: truth(text, doc_id) for doc_id in documents} for text in sampled[:-1]}
    rate_all(case, half, case.owner)
    result = calibration.calibrate(judge=judge, sample=sample, run=run, version=version)
    assert result.corrected is None
    assert "1 of 25 sampled queries" in result.missing

    rate_all(case, {sampled[-1]: {doc_id: truth(sampled[-1], doc_id) for doc_id in documents}}, case.owner)
    result = calibration.calibrate(judge=judge, sample=sample, run=run, version=version)
    assert result.missing == ""
    assert result.agreement.items == SAMPLED * 5
    assert result.pair is not None
    rows = result.pair.confusion
    assert rows[0, 2] / rows[0].sum() == pytest.approx(0.35, abs=0.12)  # the known matrix
    assert (rows[0, 1], rows[0, 3], rows[3, 3]) == (0, 0, rows[3].sum())

    # The truth: everybody rates everything.
    rate_all(case, {text: {d: truth(text, d) for d in documents} for text in texts.values()}, case.owner)
    relevant = [sum(truth(text, doc_id) >= 1 for doc_id in documents) * 20 for text in texts.values()]
    expected = sum(relevant) / len(relevant)
    assert result.corrected is not None
    assert result.judge_score is not None
    assert result.judge_score > expected + 5
    assert result.corrected.low <= expected <= result.corrected.high
    assert abs(result.corrected.value - expected) < abs(result.judge_score - expected)
    assert result.difference is not None
    assert result.difference > 0


def test_ratings_of_judge_models_are_not_taken_for_those_of_people() -> None:
    case = make_case(3)
    run = run_now(make_attempt(case))
    judging.build_judging_queue(book=case.book)
    sample = calibration.draw_sample(book=case.book, size=2, by=case.owner, seed=1)
    with fake_judge(truth=lambda query, document: "2") as server:
        judge = judges.create(name="Judge", protocol="openai", url=server.url, model="m", by=make_user())
        jobs.run(jobs.start(judge=judge, book=case.book, by=case.owner))
    counting.let_count(judge=judge, book=case.book, by=case.owner)
    assert Rating.objects.count() == 9
    result = calibration.calibrate(judge=judge, sample=sample, run=run, version=ScorerVersion.objects.used_by(case)[0])
    assert (result.agreement.items, result.pair, result.corrected) == (0, None, None)
    assert "People have not rated" in result.missing


def test_a_sample_is_drawn_from_the_seed_and_stays() -> None:
    case = make_case(30)
    run_now(make_attempt(case))
    judging.build_judging_queue(book=case.book)
    first, second = (calibration.draw_sample(book=case.book, size=10, by=case.owner, seed=5) for _ in range(2))
    assert first.query_ids == second.query_ids
    assert len(set(first.query_ids)) == 10
    assert calibration.newest_sample(case.book) == second
    with pytest.raises(ValidationError, match="30 queries"):
        calibration.draw_sample(book=case.book, size=31, by=case.owner, seed=5)


@pytest.mark.parametrize(
    ("items", "alpha", "beginning"),
    [
        (12, (None, None, None), "It is not known whether Mini can be relied on, because 12 documents have a grade by"),
        (40, (None, None, None), "It is not known whether Mini can be relied on, because all documents have the same"),
        (
            40,
            (0.7, None, None),
            "It is not known whether Mini can be relied on, because the sample has too few queries",
        ),
        (
            200,
            (0.9, 0.85, 0.95),
            "Mini can be relied on, because it grades as people do: alpha with people is .90 (.85",
        ),
        (200, (0.75, 0.7, 0.85), "Mini can be relied on for careful conclusions, because"),
        (200, (0.6, 0.5, 0.7), "It cannot be said yet whether Mini can be relied on, because the sample is too small"),
        (
            200,
            (0.3, 0.2, 0.4),
            "Mini cannot be relied on, because it grades otherwise than people: alpha with people is",
        ),
    ],
)
def test_reliability_is_a_sentence_with_its_reason(
    items: int, alpha: tuple[float | None, float | None, float | None], beginning: str
) -> None:
    agreement: Any = SimpleNamespace(items=items, alpha={"ordinal": Coefficient(*alpha)})
    result = calibration.Calibration(agreement, None, [], None, None, None, None, None, "", [], [])
    assert result.describe_reliability("Mini").startswith(beginning)
