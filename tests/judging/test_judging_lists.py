"""Judging the documents of a query as a list: who gets which query and which documents."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from relevancy import judging
from relevancy.models import Case, JudgingPair, JudgingQueue, Query, User
from tests.factories import make_attempt, make_case, make_user, query_of, run_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def case() -> Case:
    """Two queries with the documents a, b and c, query by query."""
    case = make_case(2)
    run_now(make_attempt(case))
    judging.set_judging(book=case.book, depth=10, ratings_per_pair=1, order="query")
    judging.build_judging_queue(book=case.book)
    return case


def queue_of(case: Case) -> JudgingQueue:
    return judging.judging_queue(case.book)


def next_of(case: Case, by: User, after: Query | None = None) -> Query | None:
    return judging.next_query(queue=queue_of(case), by=by, after=after.pk if after else 0)


def listed(case: Case, query: Query, by: User) -> set[str]:
    return {pair.doc_id for pair in judging.claim_query(queue=queue_of(case), query=query, by=by)}


def judge(query: Query, doc_id: str, by: User, **fields: Any) -> None:
    judging.judge(query=query, doc_id=doc_id, by=by, **(fields or {"value": 1}))


def test_a_query_is_claimed_whole_and_others_get_the_next_one(case: Case) -> None:
    ann, ben = make_user(), make_user()
    first = next_of(case, ann)
    assert first is not None
    assert listed(case, first, ann) == {"a", "b", "c"}
    assert next_of(case, ann) == first  # reloading the page shows it again
    second = next_of(case, ben)
    assert second not in (None, first)
    assert listed(case, first, ben) == set()
    assert judging.count_held_by_others(queue=queue_of(case), query=first, by=ben) == 3
    assert judging.count_held_by_others(queue=queue_of(case), query=first, by=ann) == 0
    assert {pair.query_id for pair in judging.next_pairs(queue=queue_of(case), by=ben)} == {second.pk if second else 0}


def test_going_to_another_query_frees_the_documents_that_were_not_judged(case: Case) -> None:
    ann, ben = make_user(), make_user()
    first = next_of(case, ann)
    assert first is not None
    listed(case, first, ann)
    judge(first, "a", ann)
    second = next_of(case, ann, after=first)
    assert second is not None
    listed(case, second, ann)
    assert listed(case, first, ben) == {"b", "c"}


def test_judged_documents_stay_in_the_list_of_their_rater_only(case: Case) -> None:
    ann, ben = make_user(), make_user()
    query = query_of(case, "query 1")
    listed(case, query, ann)
    judge(query, "a", ann)
    judge(query, "b", ann, verdict="cannot")
    assert listed(case, query, ann) == {"a", "b", "c"}
    judging.release_pairs(queue=queue_of(case), by=ann)
    assert listed(case, query, ben) == {"b", "c"}  # a has its one rating


def test_the_order_is_that_of_the_rater_and_says_nothing_of_ranks(case: Case) -> None:
    orders = set()
    query = query_of(case, "query 1")
    for _ in range(12):
        rater = make_user()
        order, again = (
            [pair.doc_id for pair in judging.claim_query(queue=queue_of(case), query=query, by=rater)] for _ in range(2)
        )
        assert order == again
        orders.add("".join(order))
        judging.release_pairs(queue=queue_of(case), by=rater)
    assert len(orders) > 2


def test_queries_with_postponed_documents_come_last_and_then_nothing(case: Case) -> None:
    ann = make_user()
    first, second = query_of(case, "query 1"), query_of(case, "query 2")
    for doc_id in "abc":
        judge(first, doc_id, ann, verdict="later")
    assert next_of(case, ann) == second
    for doc_id in "abc":
        judge(second, doc_id, ann)
    assert next_of(case, ann) == first
    assert next_of(case, ann, after=first) is None
    assert listed(case, first, ann) == {"a", "b", "c"}
    for doc_id in "abc":
        judge(first, doc_id, ann)
    assert next_of(case, ann) is None
    assert next_of(case, make_user()) is None


def test_claims_last_as_long_as_the_rater_goes_on(case: Case) -> None:
    ann, ben = make_user(), make_user()
    query = query_of(case, "query 1")
    listed(case, query, ann)
    JudgingPair.objects.update(claimed_until=timezone.now() + timedelta(seconds=5))
    judging.keep_claims(query=query, by=ann)
    held = JudgingPair.objects.filter(claimed_by=ann)
    assert min(held.values_list("claimed_until", flat=True)) > timezone.now() + timedelta(minutes=9)
    held.update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert listed(case, query, ben) == {"a", "b", "c"}


def test_statements_do_not_grow_with_the_list(case: Case, django_assert_max_num_queries: Any) -> None:
    ann = make_user()
    # the queue, its revision, where the rater is in its order, and the query
    with django_assert_max_num_queries(4):
        query = next_of(case, ann)
    assert query is not None
    with django_assert_max_num_queries(10):
        pairs = judging.claim_query(queue=queue_of(case), query=query, by=ann)
    assert len(pairs) == 3
