"""What raters get to judge, and that each document is judged as often as wanted and no more."""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from relevancy import books, judging, queries, ratings
from relevancy.judging.judging_queue import pair_key
from relevancy.models import Book, Case, JudgingPair, JudgingQueue, Rating, RatingChange, User, Verdict
from tests.factories import make_attempt, make_case, make_user, query_of, run_now, script_of, set_hits

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
Order = JudgingQueue.Order


def make_queue(case: Case, *, ratings_per_pair: int = 1, depth: int = 10, order: str = Order.QUERY) -> JudgingQueue:
    """The queue of a case's book, filled; the order is the same in every test."""
    queue = judging.judging_queue(case.book)
    JudgingQueue.objects.filter(pk=queue.pk).update(seed=7)
    judging.set_judging(book=case.book, depth=depth, ratings_per_pair=ratings_per_pair, order=order)
    judging.build_judging_queue(book=case.book)
    return judging.judging_queue(case.book)


@pytest.fixture
def case() -> Case:
    """Two queries with three documents each, run once."""
    case = make_case(2)
    run_now(make_attempt(case))
    return case


def names(pairs: Sequence[JudgingPair]) -> list[str]:
    return [f"{pair.query.text[-1]}{pair.doc_id}" for pair in pairs]


def judge_next(queue: JudgingQueue, by: User, **verdict: Any) -> str:
    """Judges the next document of a rater with 2, unless `verdict` says otherwise; returns its name, empty if there is none."""
    pairs = judging.next_pairs(queue=queue, by=by, count=1)
    if not pairs:
        return ""
    judging.judge(query=pairs[0].query, doc_id=pairs[0].doc_id, by=by, **(verdict or {"value": 2}))
    return names(pairs)[0]


def test_a_pair_counts_the_raters_whose_ratings_were_copied(case: Case) -> None:
    first, second = (query_of(case, f"query {number}") for number in (1, 2))
    queries.link(queries=[first, second])
    queue = make_queue(case)
    ann, ben = make_user(), make_user()
    ratings.rate(query=first, doc_id="a", value=2, by=ann)
    levels = dict(JudgingPair.objects.filter(doc_id="a").values_list("query_id", "level"))
    assert levels == {first.pk: None, second.pk: 0}
    books.copy_to_linked(query=first, by=ben)
    assert list(JudgingPair.objects.filter(doc_id="a").values_list("level", flat=True)) == [None, None]
    assert {judge_next(queue, ben) for _ in range(4)} == {"1b", "1c", "2b", "2c"}


def test_pairs_come_from_the_newest_complete_runs_down_to_the_depth() -> None:
    case = make_case(2)
    attempt = make_attempt(case)
    script_of(attempt).default = ["old"]
    run_now(attempt)
    script_of(attempt).default = ["a", "b", "c"]
    run = run_now(attempt)
    other = make_case(1, book_of=case)
    other_attempt = make_attempt(other)
    script_of(other_attempt).default = ["c", "d", "e"]
    other_run = run_now(other_attempt)
    queue = make_queue(case, depth=2)
    pairs = {f"{pair.query.text} {pair.doc_id}": (pair.run_id, pair.rank) for pair in queue.pairs.all()}
    assert pairs == {
        "query 1 a": (run.pk, 1),
        "query 1 b": (run.pk, 2),
        "query 1 c": (other_run.pk, 1),
        "query 1 d": (other_run.pk, 2),
        "query 2 a": (run.pk, 1),
        "query 2 b": (run.pk, 2),
    }
    assert queue.pair_count == 6
    assert not judging.is_outdated(queue)
    run_now(attempt)
    assert judging.is_outdated(queue)


def test_pairs_of_removed_queries_and_documents_go(case: Case) -> None:
    queue = make_queue(case)
    attempt = case.attempts.get()
    script_of(attempt).default = ["a", "z"]
    queries.remove(case_query=case.case_queries.get(query__text="query 2"))
    run_now(attempt)
    claimed = judging.next_pairs(queue=queue, by=case.owner)
    judging.build_judging_queue(book=case.book)
    assert sorted(names(queue.pairs.all())) == ["1a", "1z"]
    assert queue.pairs.get(doc_id="a").claimed_by_id == (case.owner.pk if "1a" in names(claimed) else None)


@pytest.mark.parametrize("order", [Order.QUERY, Order.RANK, Order.WEIGHTED])
def test_every_order_is_the_same_each_time_and_has_every_pair(case: Case, order: str) -> None:
    queue = make_queue(case, order=order)
    first = names(queue.pairs.in_order())
    judging.build_judging_queue(book=case.book)
    assert names(queue.pairs.in_order()) == first
    assert sorted(first) == ["1a", "1b", "1c", "2a", "2b", "2c"]
    if order == Order.QUERY:
        assert [name[0] for name in first] == ["1", "1", "1", "2", "2", "2"]
    if order == Order.RANK:
        assert [name[1] for name in first] == ["a", "a", "b", "b", "c", "c"]


def test_weighted_order_draws_pairs_in_proportion_to_their_rank() -> None:
    """Of two documents on ranks 1 and 4, the first one comes first with the probability 1 / (1 + 1/4) = 0.8."""
    queue = JudgingQueue(order=Order.WEIGHTED, seed=3)

    def key(number: int, doc_id: str, rank: int) -> float:
        return pair_key(queue, JudgingPair(query_id=number, doc_id=doc_id, rank=rank), {})

    first = sum(key(n, "a", 1) < key(n, "b", 4) for n in range(4000))
    assert 0.78 < first / 4000 < 0.82


def test_a_rater_gets_every_pair_once(case: Case) -> None:
    queue = make_queue(case)
    judged = [judge_next(queue, case.owner) for _ in range(7)]
    assert sorted(judged) == ["", "1a", "1b", "1c", "2a", "2b", "2c"]
    assert Rating.objects.count() == 6


def test_every_pair_gets_one_rating_before_any_gets_two(case: Case) -> None:
    queue = make_queue(case, ratings_per_pair=2)
    one, two = case.owner, make_user()
    first = [judge_next(queue, one) for _ in range(4)] + [judge_next(queue, two) for _ in range(2)]
    assert len(set(first)) == 6
    rest = [judge_next(queue, rater) for _ in range(7) for rater in (one, two)]
    assert Counter(first + rest) == Counter(dict.fromkeys(first, 2) | {"": len(first + rest) - 12})
    assert not queue.pairs.open().exists()


def test_two_raters_never_have_the_same_pair(case: Case) -> None:
    queue = make_queue(case, ratings_per_pair=2)
    one, two, three = case.owner, make_user(), make_user()
    mine = names(judging.next_pairs(queue=queue, by=one))
    theirs = names(judging.next_pairs(queue=queue, by=two))
    assert len({*mine, *theirs}) == 6
    assert judging.next_pairs(queue=queue, by=three) == []
    assert names(judging.next_pairs(queue=queue, by=one)) == mine


def test_a_claim_ends_after_a_while(case: Case) -> None:
    queue = make_queue(case)
    one, two = case.owner, make_user()
    gone = names(judging.next_pairs(queue=queue, by=one, count=6))
    assert judging.next_pairs(queue=queue, by=two) == []
    JudgingPair.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert set(names(judging.next_pairs(queue=queue, by=two))) <= set(gone)


def test_pairs_left_behind_are_released_with_the_page(case: Case) -> None:
    queue = make_queue(case)
    judging.next_pairs(queue=queue, by=case.owner, count=6)
    judging.next_pairs(queue=queue, by=case.owner, count=2)
    assert len(judging.next_pairs(queue=queue, by=make_user(), count=6)) == 4
    judging.release_pairs(queue=queue, by=case.owner)
    assert queue.pairs.filter(claimed_by=case.owner).count() == 0


def test_later_comes_back_at_the_end_and_goes_to_the_end_again(case: Case) -> None:
    queue = make_queue(case)
    order = names(queue.pairs.in_order())
    assert judge_next(queue, case.owner, verdict=Verdict.LATER) == order[0]
    assert judge_next(queue, case.owner, verdict=Verdict.LATER) == order[1]
    assert judging.judging_progress(queue=queue, by=case.owner) == judging.JudgingProgress(6, 6, 2)
    assert [judge_next(queue, case.owner) for _ in range(4)] == order[2:]
    assert judge_next(queue, case.owner, verdict=Verdict.LATER) == order[0]
    assert [judge_next(queue, case.owner) for _ in range(3)] == [order[1], order[0], ""]


def test_cannot_judge_comes_back_for_others_only(case: Case) -> None:
    queue = make_queue(case)
    name = judge_next(queue, case.owner, verdict=Verdict.CANNOT, note="Too little is shown")
    rating = Rating.objects.get()
    assert (rating.verdict, rating.value, rating.note) == (Verdict.CANNOT, None, "Too little is shown")
    others = [judge_next(queue, case.owner) for _ in range(6)]
    assert name not in others
    assert others[-1] == ""
    assert judge_next(queue, make_user()) == name


def test_ratings_from_elsewhere_count(case: Case) -> None:
    """A rating on the workbench, an import, an undo and a removal change what is left at once."""
    queue, rater = make_queue(case), make_user()
    query = query_of(case, "query 1")
    ratings.rate(query=query, doc_id="a", value=1, by=rater)
    assert names(queue.pairs.open().filter(query=query).order_by("doc_id")) == ["1b", "1c"]
    ratings.undo(case=case, by=rater)
    assert queue.pairs.open().count() == 6
    ratings.rate_many(query=query, values={"a": 1, "b": 2}, by=rater)
    ratings.remove(query=query, doc_ids=["b"], by=rater)
    ratings.rate_book(book=case.book, values={query_of(case, "query 2").pk: {"a": 3, "c": 3}}, rater=rater, by=rater)
    assert sorted(names(queue.pairs.open())) == ["1b", "1c", "2b"]
    judging.build_judging_queue(book=case.book)
    assert sorted(names(queue.pairs.open())) == ["1b", "1c", "2b"]


def test_more_ratings_wanted_opens_pairs_again(case: Case) -> None:
    queue = make_queue(case)
    for _ in range(6):
        judge_next(queue, case.owner)
    queue = make_queue(case, ratings_per_pair=2)
    assert queue.pairs.open().count() == 6
    assert judge_next(queue, case.owner) == ""
    assert judge_next(queue, make_user()) != ""


@pytest.mark.parametrize(
    "wrong", [{"depth": 0}, {"depth": 101}, {"ratings_per_pair": 0}, {"ratings_per_pair": 10}, {"order": "best"}]
)
def test_settings_out_of_range_are_refused(case: Case, wrong: dict[str, Any]) -> None:
    given = {"depth": 10, "ratings_per_pair": 1, "order": Order.QUERY, **wrong}
    with pytest.raises(ValidationError) as error:
        judging.set_judging(book=case.book, **given)
    assert list(error.value.error_dict) == list(wrong)


def test_a_grade_off_the_scale_is_refused_and_the_claim_stays(case: Case) -> None:
    queue = make_queue(case)
    (pair,) = judging.next_pairs(queue=queue, by=case.owner, count=1)
    with pytest.raises(ratings.InvalidRating):
        judging.judge(query=pair.query, doc_id=pair.doc_id, by=case.owner, value=7)
    assert not RatingChange.objects.exists()
    assert judging.next_pairs(queue=queue, by=case.owner, count=1) == [pair]


def test_undo_in_a_book_takes_back_the_last_judgment(case: Case) -> None:
    queue = make_queue(case)
    first, second = judge_next(queue, case.owner), judge_next(queue, case.owner, verdict=Verdict.CANNOT, note="No")
    undone = ratings.undo(book=case.book, by=case.owner)
    assert undone is not None
    assert [f"{change.query.text[-1]}{change.doc_id}" for change in undone.undone] == [second]
    assert [f"{rating.query.text[-1]}{rating.doc_id}" for rating in Rating.objects.all()] == [first]
    assert ratings.undo(book=make_case(1).book, by=case.owner) is None


def test_last_judged_is_newest_first_and_each_document_once(case: Case) -> None:
    queue = make_queue(case)
    order = [judge_next(queue, case.owner) for _ in range(3)]
    query = query_of(case, f"query {order[0][0]}")
    judging.judge(query=query, doc_id=order[0][1], by=case.owner, value=1)
    last = judging.last_judged(book=case.book, by=case.owner, count=2)
    assert [f"{rating.query.text[-1]}{rating.doc_id}" for rating in last] == [order[0], order[2]]
    assert last[0].value == 1


def test_statements_do_not_grow_with_the_book() -> None:
    def count(case: Case) -> int:
        run_now(make_attempt(case))
        queue = make_queue(case)
        judging.next_pairs(queue=queue, by=case.owner)
        with CaptureQueriesContext(connection) as statements:
            judging.next_pairs(queue=queue, by=case.owner)
            judging.judging_progress(queue=queue, by=case.owner)
        return len(statements)

    assert count(make_case(2)) == count(make_case(40))


@pytest.mark.django_db(transaction=True)
def test_raters_at_one_moment_get_different_pairs() -> None:
    """Six raters judge 60 documents at the same time: each document is rated exactly once."""
    if connection.vendor != "postgresql" and "mode=memory" in str(connection.settings_dict["NAME"]):
        pytest.skip("SQLite in memory has one connection")
    case = make_case(20)
    run_now(make_attempt(case))
    queue = make_queue(case)
    raters = [make_user() for _ in range(6)]

    def work(rater: User) -> None:
        try:
            while judge_next(queue, rater):
                pass
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, raters))
    assert Rating.objects.count() == 60
    assert Counter(Rating.objects.values_list("query", "doc_id")).most_common(1)[0][1] == 1


def test_documents_are_read_as_the_run_stored_them(case: Case) -> None:
    queue, rater = make_queue(case), make_user()
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=3, by=case.owner)
    pair = queue.pairs.get(query__text="query 1", doc_id="a")
    (document,) = judging.read_documents([pair], by=rater)
    assert (document.title, document.own, document.is_judged) == ("a", None, False)
    judging.judge(query=document.query, doc_id="a", by=rater, verdict=Verdict.LATER)
    (document,) = judging.read_documents([pair], by=rater)
    assert not document.is_judged
    judging.judge(query=document.query, doc_id="a", by=rater, value=1)
    (document,) = judging.read_documents([pair], by=rater)
    assert document.is_judged
    assert [judgment.value for judgment in document.judgments] == [3, 1]


def test_a_document_that_is_no_longer_stored_keeps_its_id(case: Case) -> None:
    queue = make_queue(case)
    pair = queue.pairs.get(query__text="query 1", doc_id="a")
    set_hits(case.runs.get().rankings.all(), [])
    (document,) = judging.read_documents([pair], by=case.owner)
    assert (document.title, document.result) == ("a", None)


def test_book_without_a_run_has_nothing_to_judge() -> None:
    case = make_case(2)
    queue = make_queue(case)
    assert queue.pair_count == 0
    assert judging.next_pairs(queue=queue, by=case.owner) == []
    assert not judging.is_outdated(Book.objects.get(pk=case.book_id).judging_queue)
