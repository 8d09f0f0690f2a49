"""Judging what changes the comparison of two runs most: the order, and that it follows the ratings."""

from importlib import import_module
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from relevancy import comparison, judging, ratings, tasks
from relevancy.models import Case, JudgingQueue, Run, ScorerVersion
from tests.comparison.conftest import run_with
from tests.factories import make_case, make_user, query_of, rate_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
RATINGS = {"query 1": {"a": 3, "b": 2}, "query 2": {"a": 2}, "query 3": {"a": 3, "b": 1}}
BEFORE = {"query 1": "xab", "query 2": "axy", "query 3": "ab"}
AFTER = {"query 1": "abz", "query 2": "yxa", "query 3": "ab"}


@pytest.fixture
def case() -> Case:
    case = make_case(3, RATINGS, measures=("nDCG@3",))
    case.case_queries.filter(query__text="query 1").update(weight=2)
    return case


@pytest.fixture
def compared(case: Case) -> dict[str, Any]:
    run_a, run_b = run_with(case, BEFORE), run_with(case, AFTER)
    run_with(case, dict.fromkeys(BEFORE, "pq"))  # the newest run is none of the two
    return {"run_a": run_a, "run_b": run_b, "version": ScorerVersion.objects.used_by(case)[0]}


def choose(case: Case, compared: dict[str, Any], **settings: int) -> JudgingQueue:
    given = {"depth": 10, "ratings_per_pair": 1, **settings}
    return judging.set_judging(book=case.book, order="difference", **compared, **given)


def build(case: Case, compared: dict[str, Any], **settings: int) -> JudgingQueue:
    choose(case, compared, **settings)
    judging.build_judging_queue(book=case.book)
    return judging.judging_queue(case.book)


def keys(queue: JudgingQueue) -> dict[tuple[int, str], float]:
    return {(pair.query_id, pair.doc_id): pair.key for pair in queue.pairs.open()}


def measured_changes(case: Case, compared: dict[str, Any]) -> dict[tuple[int, str], float]:
    """By how much each grade of each unrated document really changes the difference of the case: rated and taken back one by one."""
    runs, rater = [compared["run_a"], compared["run_b"]], make_user()

    def read() -> float:
        return comparison.compare(runs=runs, version=compared["version"]).pairs[0].difference

    now, changes = read(), {}
    for text, doc_ids in {text: {*BEFORE[text], *AFTER[text]} for text in BEFORE}.items():
        query = query_of(case, text)
        for doc_id in sorted(doc_ids - {*query.ratings.values_list("doc_id", flat=True)}):
            reached = []
            for grade in (0, 3):
                ratings.rate(query=query, doc_id=doc_id, value=grade, by=rater)
                reached.append(abs(read() - now))
            ratings.remove(query=query, doc_ids=[doc_id], by=rater)
            changes[query.pk, doc_id] = max(reached)
    return changes


def test_documents_of_two_runs_come_by_how_much_they_change_the_difference(
    case: Case, compared: dict[str, Any]
) -> None:
    queue = build(case, compared)
    expected = measured_changes(case, compared)
    assert {pair.doc_id for pair in queue.pairs.all()} == {*"abxyz"}  # none of the newest run
    assert keys(queue) == pytest.approx({key: -change for key, change in expected.items()})
    in_order = [(pair.query_id, pair.doc_id) for pair in judging.next_pairs(queue=queue, by=make_user(), count=9)]
    assert [expected[key] for key in in_order] == pytest.approx(sorted(expected.values(), reverse=True))
    assert judging.count_changing(queue) == len(expected)


def test_the_order_follows_the_ratings(case: Case, compared: dict[str, Any]) -> None:
    queue = build(case, compared)
    before = keys(queue)
    assert judging.refresh_judging_order(case.book_id) == 0
    rate_all(case, {"query 2": {"x": 3}}, make_user())
    assert judging.refresh_judging_order(case.book_id) == 1
    after = keys(queue)
    two = query_of(case, "query 2").pk
    assert after[two, "y"] != before[two, "y"]
    assert after == pytest.approx({key: -change for key, change in measured_changes(case, compared).items()})
    judging.refresh_judging_order(case.book_id)
    refreshed = keys(queue)
    judging.build_judging_queue(book=case.book)
    assert keys(queue) == pytest.approx(refreshed)


def test_the_task_after_a_rating_puts_them_in_order_again(case: Case, compared: dict[str, Any]) -> None:
    queue = build(case, compared)
    rate_all(case, {"query 2": {"x": 3}}, make_user())
    tasks.rescore_book.func(case.book_id)
    assert judging.refresh_judging_order(case.book_id) == 0
    assert keys(queue) == pytest.approx({key: -change for key, change in measured_changes(case, compared).items()})


def test_documents_that_change_nothing_come_last(case: Case, compared: dict[str, Any]) -> None:
    queue = build(case, compared, ratings_per_pair=2)
    rated = [pair.key for pair in queue.pairs.filter(level=1)]
    assert len(rated) == 5
    assert min(rated) > 0 > max(pair.key for pair in queue.pairs.filter(level=0))


def test_positions_last_unless_a_document_comes_earlier(case: Case, compared: dict[str, Any]) -> None:
    """Second ratings change no key, so a rater who is ahead does not look through all judged documents again after each of them."""
    queue = build(case, compared, ratings_per_pair=2)
    two, revision = query_of(case, "query 2"), queue.revision
    before = keys(queue)[two.pk, "y"]
    for value, rises in ((3, True), (0, False)):  # of x, which was unrated before; then y may change more than before
        ratings.rate(query=two, doc_id="x", value=value, by=case.owner)
        judging.refresh_judging_order(case.book_id)
        queue.refresh_from_db()
        after = keys(queue)[two.pk, "y"]
        assert (after > before, queue.revision > revision) == (rises, not rises)
        before, revision = after, queue.revision
    rate_all(case, {"query 2": {"y": 2}, "query 3": {"a": 1}}, make_user())
    assert judging.refresh_judging_order(case.book_id) == 2
    queue.refresh_from_db()
    assert queue.revision == revision


def test_both_runs_are_pinned_and_a_deleted_one_leaves_the_order_of_ranks(case: Case, compared: dict[str, Any]) -> None:
    queue = build(case, compared)
    assert not judging.is_outdated(queue)
    assert Run.objects.filter(pinned_at__isnull=False).count() == 2
    compared["run_a"].delete()
    queue = judging.judging_queue(case.book)
    assert judging.is_outdated(queue)
    judging.build_judging_queue(book=case.book)
    assert {pair.doc_id for pair in queue.pairs.all()} == {"p", "q"}
    assert [pair.doc_id for pair in queue.pairs.in_order()] == ["p"] * 3 + ["q"] * 3
    assert judging.refresh_judging_order(case.book_id) == 0


def test_what_cannot_be_compared_is_refused(case: Case, compared: dict[str, Any]) -> None:
    other = make_case(1, measures=("nDCG@3",))
    foreign = run_with(other, {"query 1": "ab"})
    a, b, version = compared["run_a"], compared["run_b"], compared["version"]
    script = ScorerVersion(scorer=version.scorer, number=2, script="setScore(1);")
    for wrong in (
        {},
        {"run_a": a, "run_b": a, "version": version},
        {"run_a": a, "run_b": foreign, "version": version},
        {"run_a": a, "run_b": b, "version": script},
    ):
        with pytest.raises(ValidationError):
            choose(case, wrong)
    assert not JudgingQueue.objects.filter(order="difference").exists()


def test_other_books_cost_one_statement(case: Case, django_assert_num_queries) -> None:
    with django_assert_num_queries(1):
        assert judging.refresh_judging_order(case.book_id) == 0


def test_the_task_of_a_book_that_has_been_deleted_does_nothing() -> None:
    tasks.rescore_book.func(0)


def test_of_many_queries_those_with_the_greatest_weights_are_judged_and_a_sample_of_the_others(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("relevancy.judging.judging_queue"), "MAX_QUERIES", 2)
    run_with(case, BEFORE)
    judging.build_judging_queue(book=case.book)
    queue = judging.judging_queue(case.book)
    chosen = set(queue.pairs.values_list("query__text", flat=True))
    assert len(chosen) == 2
    assert "query 1" in chosen
    assert judging.count_unchosen(queue) == 1
    seeds = set()
    for seed in range(20):
        JudgingQueue.objects.filter(pk=queue.pk).update(seed=seed)
        judging.build_judging_queue(book=case.book)
        seeds.add(frozenset(queue.pairs.values_list("query__text", flat=True)))
    assert seeds == {frozenset({"query 1", "query 2"}), frozenset({"query 1", "query 3"})}
    other = make_case(2, book_of=case)
    run_with(other, BEFORE)
    assert judging.count_unchosen(queue) == 1  # a query of two cases is one query
    other.case_queries.update(removed_at=timezone.now())
    case.case_queries.filter(query__text="query 3").update(removed_at=timezone.now())
    assert judging.count_unchosen(queue) == 0
