"""The agreement of a book's raters: what counts, which queries are one observation, pace, two raters, and scores by one rater."""

from datetime import timedelta

import pytest
from django.utils import timezone

from relevancy import judging, queries, scores
from relevancy.models import Case, QueryScore, RatingChange, RepeatedPair, ScorerVersion, User, Verdict
from relevancy.optional.agreement.agreement import (
    compare_two_raters,
    measure_agreement,
    measure_query_agreement,
    measure_self_agreement,
)
from relevancy.optional.agreement.rater_scores import measure_rater_scores
from tests.factories import make_attempt, make_case, make_user, query_of, rate_all, run_now, set_rule

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def case() -> Case:
    """Two raters and three queries: they differ on b of query 1, and on all of query 2; query 3 has one rater."""
    case = make_case(3, owner=make_user("Mira"), measures=("nDCG@10", "P@2"))
    rate_all(case, {"query 1": {"a": 3, "b": 1}, "query 2": {"a": 3, "b": 0}, "query 3": {"a": 2}}, case.owner)
    rate_all(case, {"query 1": {"a": 3, "b": 0}, "query 2": {"a": 0, "b": 2}}, make_user("Jonas"))
    return case


@pytest.fixture
def jonas(case: Case) -> User:
    return User.objects.get(name="Jonas")


def test_raters_among_the_others(case: Case) -> None:
    result = measure_agreement(book=case.book)
    by_name = {str(row.rater): row.figures for row in result.by_rater}
    assert [row.rater for row in result.by_rater] == result.raters
    # Mira − Jonas: 0, 1, 3, −2.
    assert (by_name["Mira"].bias.value, by_name["Jonas"].bias.value) == (0.5, -0.5)
    assert (by_name["Mira"].ratings, by_name["Mira"].items, by_name["Mira"].queries) == (5, 4, 2)
    assert [(row.raters, row.agreeing, row.items) for row in result.agreeing] == [(2, 2, 1), (2, 1, 3)]


def test_linked_queries_are_drawn_together(case: Case) -> None:
    before = measure_agreement(book=case.book)
    assert (before.agreement.queries, before.agreement.agreement.low) == (2, 0.0)
    queries.link(queries=[query_of(case, "query 1"), query_of(case, "query 2")])
    after = measure_agreement(book=case.book)
    assert after.agreement.queries == 1
    assert after.agreement.agreement.value == before.agreement.agreement.value
    assert (after.agreement.agreement.low, after.agreement.agreement.high) == (None, None)
    assert {row.figures.bias.low for row in after.by_rater} == {None}


def test_queries_with_the_least_agreement_come_first(case: Case) -> None:
    rows = measure_query_agreement(book=case.book)
    assert [(row.query.text, row.figures.agreement, row.figures.items) for row in rows] == [
        ("query 2", 0.0, 2),
        ("query 1", 0.5, 2),
        ("query 3", None, 0),
    ]
    assert rows[0].figures.grades.tolist() == [2, 0, 1, 1]


def test_two_raters_have_the_documents_of_each_cell(case: Case, jonas: User) -> None:
    result = compare_two_raters(book=case.book, a=case.owner, b=jonas)
    one, two = query_of(case, "query 1").pk, query_of(case, "query 2").pk
    assert result.documents == {
        (3.0, 3.0): [(one, "a")],
        (1.0, 0.0): [(one, "b")],
        (3.0, 0.0): [(two, "a")],
        (0.0, 2.0): [(two, "b")],
    }
    assert result.pair is not None
    pair = next(iter(measure_agreement(book=case.book).pairs))
    assert result.pair.kappas["quadratic"].value == pytest.approx(pair.figures.kappa("quadratic"))
    grades = case.book.grades
    for (a, b), documents in result.documents.items():
        assert result.pair.figures.confusion[grades.index(a), grades.index(b)] == len(documents)


def test_two_raters_leave_decisions_out(case: Case, jonas: User) -> None:
    judging.adjudicate(query=query_of(case, "query 1"), doc_id="a", value=1, by=jonas)
    result = compare_two_raters(book=case.book, a=case.owner, b=jonas)
    assert result.pair is not None
    assert result.pair.figures.items == 3
    alone = compare_two_raters(book=case.book, a=case.owner, b=make_user())
    assert (alone.pair, alone.documents) == (None, {})


def record(
    case: Case, rater: User, seconds: list[float], *, source: str = "page", verdict: str = Verdict.RATED
) -> None:
    """Logs ratings so many seconds after one time, in the order of the list."""
    start, query = timezone.now(), query_of(case, "query 1")
    RatingChange.objects.bulk_create(
        RatingChange(
            query=query,
            doc_id=f"d{number}",
            rater=rater,
            by=rater,
            source=source,
            new_verdict=verdict,
            new_value=1 if verdict == Verdict.RATED else None,
            at=start + timedelta(seconds=second),
        )
        for number, second in enumerate(seconds)
    )


def pace_of(case: Case, rater: User) -> float | None:
    rows = measure_agreement(book=case.book).by_rater
    return next(row.pace for row in rows if row.rater == rater)


def test_pace_is_the_median_between_ratings_without_breaks(case: Case, jonas: User) -> None:
    """Ten times of 4 s, a night, ten of 10 s, one of 8 s."""
    morning = [100_000 + 10 * number for number in range(11)]
    record(case, jonas, [4 * number for number in range(11)] + morning + [morning[-1] + 8])
    assert pace_of(case, jonas) == 8.0


def test_pace_counts_ratings_of_one_moment_once_and_only_those_given_on_pages(case: Case, jonas: User) -> None:
    record(case, jonas, [6 * number for number in range(11)] * 3)
    record(case, jonas, [number / 10 for number in range(100)], source="import")
    record(case, jonas, [number / 10 for number in range(100)], verdict=Verdict.LATER)
    record(case, case.owner, [6 * number for number in range(10)])
    assert pace_of(case, jonas) == 6.0
    assert pace_of(case, case.owner) is None  # nine times are too few


def test_number_of_statements_does_not_depend_on_the_ratings(
    case: Case, jonas: User, django_assert_num_queries
) -> None:
    rate_all(case, {"query 3": {f"d{number}": 1 for number in range(30)}}, make_user())
    with django_assert_num_queries(3):
        measure_agreement(book=case.book)
    with django_assert_num_queries(2):
        measure_query_agreement(book=case.book)
    with django_assert_num_queries(2):
        compare_two_raters(book=case.book, a=case.owner, b=jonas)


def test_scores_by_one_rater(case: Case) -> None:
    """The results are a, b, c, relevant from 1. P@2 by the latest ratings is 50 for each query; by Mira 100, 50 and 50."""
    run = run_now(make_attempt(case))
    ndcg, precision = measure_rater_scores([case], case.book, case.owner)
    assert (case.book.relevant_from, ndcg.run, precision.version.measure) == (1, run, "P@2")
    result = {query.query_id: (query.everyone, query.same_documents, query.alone) for query in precision.queries}
    assert result == {
        query_of(case, "query 1").pk: (50, 50, 100),
        query_of(case, "query 2").pk: (50, 50, 50),
        query_of(case, "query 3").pk: (50, 50, 50),
    }
    assert (precision.everyone, precision.alone) == (50, pytest.approx(200 / 3))
    assert (precision.by_documents, precision.by_grades) == (0, pytest.approx(50 / 3))
    interval = precision.find_interval()
    assert interval is not None
    assert interval.low < 50 / 3 < interval.high
    assert not interval.is_reliable
    stored = QueryScore.objects.get(run=run, version=precision.version, query__text="query 1")
    assert stored.score == 50


def test_scores_by_one_rater_say_what_missing_documents_make(case: Case) -> None:
    """By everyone a 2, b 3, c 3; by the third rater a 0, c 3. P@2 is 100; 50 without b, which is not rated by the third; and 0."""
    third = make_user("Third")
    rate_all(case, {"query 1": {"a": 0, "c": 3}}, third)
    rate_all(case, {"query 1": {"a": 2, "b": 3}}, case.owner)
    run_now(make_attempt(case))
    _, precision = measure_rater_scores([case], case.book, third)
    (query,) = precision.queries
    assert (query.everyone, query.same_documents, query.alone) == (100, 50, 0)
    assert (precision.difference, precision.by_documents, precision.by_grades) == (-100, -50, -50)


def test_scores_by_one_rater_leave_out_what_cannot_be_scored(case: Case) -> None:
    third = make_user("Third")
    rate_all(case, {"query 1": {"a": 0}, "query 2": {"b": 3}}, third)
    run_now(make_attempt(case))
    ndcg, precision = measure_rater_scores([case], case.book, third)
    assert (len(ndcg.queries), ndcg.left_out) == (1, 1)  # without a relevant document
    assert (len(precision.queries), precision.left_out) == (2, 0)
    assert measure_rater_scores([case], case.book, make_user())[0].difference is None


def test_linked_queries_are_one_observation_of_the_scores_by_one_rater(case: Case) -> None:
    third, one, two = make_user("Third"), query_of(case, "query 1"), query_of(case, "query 2")
    rate_all(case, {"query 1": {"a": 3}, "query 2": {"a": 3}}, third)
    run_now(make_attempt(case))
    queries.link(queries=[one, two])
    ndcg, _ = measure_rater_scores([case], case.book, third)
    assert {query.query_id for query in ndcg.queries} == {one.pk, two.pk}
    assert ndcg.find_interval() is None  # one observation


def test_scores_by_one_rater_combine_their_ratings_by_the_rule(case: Case) -> None:
    set_rule(book=case.book, rule="mean")
    case.book.refresh_from_db()
    run_now(make_attempt(case))
    everyone = scores.known_grades(case.book, [query_of(case, "query 2").pk])
    alone = scores.known_grades(case.book, [query_of(case, "query 2").pk], rater_id=case.owner.pk)
    assert list(everyone.values()) == [{"a": 1.5, "b": 1.0}]
    assert list(alone.values()) == [{"a": 3.0, "b": 0.0}]


def test_scripts_are_not_run_for_one_rater(case: Case) -> None:
    run_now(make_attempt(case))
    version = ScorerVersion.objects.used_by(case).first()
    ScorerVersion.objects.filter(pk=version.pk).update(script="setScore(50);", measure="")
    first, second = measure_rater_scores([case], case.book, case.owner)
    assert (first.is_script, list(first.queries), first.difference) == (True, [], None)
    assert len(second.queries) == 3


def test_self_agreement_counts_equal_grades() -> None:
    case = make_case(4)
    rater, other = make_user(), make_user()
    for number, text in enumerate(("query 1", "query 2", "query 3", "query 4")):
        grades = {"first_value": 2, "value": 2 if number else 0, "verdict": Verdict.RATED}
        RepeatedPair.objects.create(query=query_of(case, text), doc_id="a", rater=rater, wait=0, **grades)
    RepeatedPair.objects.create(
        query=query_of(case, "query 1"), doc_id="a", rater=other, wait=0, verdict=Verdict.CANNOT
    )
    (result,) = measure_self_agreement(case.book)
    agreement = result.agreement.agreement
    assert (result.rater, result.repeats, agreement.value) == (rater, 4, 0.75)
    assert agreement.low is not None
    assert agreement.high is not None
    assert agreement.low < 0.75 <= agreement.high


def test_decisions_of_adjudicators_are_left_out(case: Case) -> None:
    before = measure_agreement(book=case.book)
    judging.adjudicate(query=query_of(case, "query 1"), doc_id="a", value=2, by=make_user())
    after = measure_agreement(book=case.book)
    assert (after.raters, after.agreement.agreement.value) == (before.raters, before.agreement.agreement.value)
