"""Documents that come again: which, when, and that the second judgment changes no rating."""

import pytest

from relevancy import books, judging, ratings
from relevancy.models import Book, Case, JudgingQueue, Rating, RatingChange, RepeatedPair, User, Verdict
from tests.factories import make_attempt, make_case, make_user, query_of, remap, run_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


@pytest.fixture
def case() -> Case:
    """Twelve queries with three documents each; half of what is judged comes again."""
    case = make_case(12)
    run_now(make_attempt(case))
    judging.build_judging_queue(book=case.book)
    judging.set_judging(book=case.book, depth=10, ratings_per_pair=1, order="query", repeat_share=50)
    JudgingQueue.objects.update(seed=7)
    judging.build_judging_queue(book=case.book)
    return case


def queue_of(case: Case) -> JudgingQueue:
    return judging.judging_queue(case.book)


def judge_some(case: Case, rater: User, count: int, value: float = 2) -> None:
    for pair in judging.next_pairs(queue=queue_of(case), by=rater, count=count):
        judging.judge(query=pair.query, doc_id=pair.doc_id, value=value, by=rater)


def answer(book: Book, rater: User, card_id: int, value: float) -> None:
    judging.answer_repeat(book=book, card_id=card_id, by=rater, value=value)


def test_nothing_comes_again_unless_the_book_wants_it(case: Case, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    judging.set_judging(book=case.book, depth=10, ratings_per_pair=1, order="query", repeat_share=0)
    judge_some(case, make_user(), 30)
    assert not RepeatedPair.objects.exists()
    queue, rater = queue_of(case), make_user()
    with django_assert_num_queries(0):
        assert judging.due_repeats(queue=queue, by=rater) == []


def test_a_share_comes_again_after_twenty_others_and_looks_unrated(case: Case) -> None:
    rater = make_user()
    judge_some(case, rater, 20)
    first = RepeatedPair.objects.order_by("pk")[0]
    assert 4 <= RepeatedPair.objects.count() <= 16  # half of 20 by lot
    assert judging.due_repeats(queue=queue_of(case), by=rater) == []
    judge_some(case, rater, 16)
    (document,) = judging.due_repeats(queue=queue_of(case), by=rater)
    assert (document.pair.query_id, document.pair.doc_id) == (first.query_id, first.doc_id)
    assert document.pair.pk == judging.REPEAT_OFFSET + first.pk
    assert (document.own, list(document.judgments)) == (None, [])
    assert document.result is not None
    assert judging.due_repeats(queue=queue_of(case), by=make_user()) == []


def test_the_second_judgment_changes_no_rating(case: Case) -> None:
    rater = make_user()
    judge_some(case, rater, 36)
    (document,) = judging.due_repeats(queue=queue_of(case), by=rater)
    changes, revision = RatingChange.objects.count(), document.query.revision
    answer(case.book, rater, document.pair.pk, 0)
    document.query.refresh_from_db()
    assert (RatingChange.objects.count(), document.query.revision) == (changes, revision)
    assert Rating.objects.get(query=document.query, doc_id=document.pair.doc_id).value == 2
    repeated = RepeatedPair.objects.get(pk=document.pair.pk - judging.REPEAT_OFFSET)
    assert (repeated.first_value, repeated.value, repeated.verdict) == (2, 0, Verdict.RATED)
    after = judging.due_repeats(queue=queue_of(case), by=rater)
    assert all(other.pair.pk != document.pair.pk for other in after)


def test_a_rating_that_was_taken_back_does_not_come_again(case: Case) -> None:
    rater = make_user()
    judge_some(case, rater, 36)
    (document,) = judging.due_repeats(queue=queue_of(case), by=rater)
    ratings.remove(query=document.query, doc_ids=[document.pair.doc_id], by=rater)
    assert all(
        other.pair.pk != document.pair.pk for other in judging.due_repeats(queue=queue_of(case), by=rater, count=50)
    )
    with pytest.raises(ratings.InvalidRating, match="need not be judged"):
        answer(case.book, rater, document.pair.pk, 1)


def test_later_waits_for_twenty_others(case: Case) -> None:
    rater = make_user()
    judge_some(case, rater, 36)
    (document,) = judging.due_repeats(queue=queue_of(case), by=rater)
    judging.answer_repeat(book=case.book, card_id=document.pair.pk, by=rater, verdict=Verdict.LATER)
    assert RepeatedPair.objects.get(pk=document.pair.pk - judging.REPEAT_OFFSET).wait == 20


def test_undo_takes_the_second_judgment_back_if_it_is_the_last(case: Case) -> None:
    rater = make_user()
    judge_some(case, rater, 36)
    (document,) = judging.due_repeats(queue=queue_of(case), by=rater)
    change = ratings.last_change(book=case.book, by=rater)
    assert change is not None
    assert judging.undo_repeat(book=case.book, by=rater, after=change.at) is None
    answer(case.book, rater, document.pair.pk, 1)
    assert judging.undo_repeat(book=case.book, by=rater, after=change.at) == document.pair.pk
    assert judging.due_repeats(queue=queue_of(case), by=rater)[0].pair.pk == document.pair.pk


def test_new_grades_change_both_judgments(case: Case) -> None:
    rater = make_user()
    judge_some(case, rater, 36, value=3)
    (document,) = judging.due_repeats(queue=queue_of(case), by=rater)
    answer(case.book, rater, document.pair.pk, 0)
    remap(case)
    repeated = RepeatedPair.objects.get(pk=document.pair.pk - judging.REPEAT_OFFSET)
    assert (repeated.first_value, repeated.value) == (1, 0)


def test_a_merge_keeps_one_of_two_repeats_of_a_document(case: Case) -> None:
    rater = make_user()
    other = make_case(["query 1", "new"], owner=case.owner)
    for item, text in ((case, "query 1"), (other, "query 1"), (other, "new")):
        grades = {"first_value": 2, "value": 2, "verdict": Verdict.RATED}
        RepeatedPair.objects.create(query=query_of(item, text), doc_id="a", rater=rater, wait=0, **grades)
    books.merge_books(book=case.book, other=other.book, by=case.owner)
    assert sorted(RepeatedPair.objects.values_list("query__text", flat=True)) == ["new", "query 1"]
