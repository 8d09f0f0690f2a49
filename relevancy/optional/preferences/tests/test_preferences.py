"""Two result lists side by side: who sees what on which side, what is stored, and what follows from it."""

import pytest
from django.core.exceptions import ValidationError

from relevancy import books, runs
from relevancy.activity.sentences import describe
from relevancy.models import Case, Run, User
from relevancy.optional.preferences import preferences
from relevancy.optional.preferences.models import Preference, PreferenceTest
from tests.factories import make_attempt, make_case, make_user, query_of, run_now, script_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
OLD, NEW = ["a", "b", "c"], ["c", "b", "a"]


def make_runs(queries: int = 4, same: int = 0) -> tuple[Run, Run]:
    """Two runs of a case; the lists of the last `same` queries are equal."""
    case = make_case(queries)
    attempt = make_attempt(case)
    script_of(attempt).default = OLD
    before = run_now(attempt)
    after_attempt = make_attempt(case)
    script = script_of(after_attempt)
    script.default = NEW
    for number in range(queries - same + 1, queries + 1):
        script.answers[f"query {number}"] = OLD
    return before, run_now(after_attempt)


def start(before: Run, after: Run, queries: int = 50, seed: int = 7) -> PreferenceTest:
    test = preferences.start_preference_test(a=before, b=after, queries=queries, by=before.case.owner)
    PreferenceTest.objects.filter(pk=test.pk).update(seed=seed)
    return PreferenceTest.objects.of_book(before.case.book).get()


def answer(test: PreferenceTest, by: User, choose: str) -> str:
    """Answers the next query; `choose`: "a" or "b" for a run, or a side. Returns the text of the query, empty if there is none."""
    lists = preferences.next_lists(test=test, by=by)
    if lists is None:
        return ""
    side = (
        {"a": "right", "b": "left"}.get(choose, choose)
        if lists.is_swapped
        else {"a": "left", "b": "right"}.get(choose, choose)
    )
    preferences.prefer(test=test, query_id=lists.query.pk, side=side, key=lists.key, by=by)
    return lists.query.text


def test_start_draws_queries_whose_lists_differ_and_pins_both_runs() -> None:
    before, after = make_runs(5, same=2)
    test = start(before, after)
    assert sorted(test.test_queries.values_list("query__text", flat=True)) == ["query 1", "query 2", "query 3"]
    assert (test.drawn, test.identical, test.depth) == (5, 2, 10)
    assert Run.objects.filter(pinned_at=None).count() == 0
    assert preferences.find_preference_test(after, before) == test


def test_start_draws_as_many_as_wanted() -> None:
    before, after = make_runs(6)
    test = start(before, after, queries=2)
    assert (test.test_queries.count(), test.drawn) == (2, 2)


@pytest.mark.parametrize("count", [1, 501])
def test_start_refuses_other_numbers_of_queries(count: int) -> None:
    before, after = make_runs(2)
    with pytest.raises(ValidationError, match="2 to 500 queries"):
        preferences.start_preference_test(a=before, b=after, queries=count, by=before.case.owner)
    assert not Run.objects.exclude(pinned_at=None).exists()


def test_start_refuses_equal_lists_other_books_and_a_second_test() -> None:
    before, after = make_runs(2, same=2)
    with pytest.raises(ValidationError, match="same first 10 results for all 2 queries"):
        start(before, after)
    other, _ = make_runs(2)
    with pytest.raises(ValidationError, match="same book"):
        start(before, other)
    before, after = make_runs(2)
    start(before, after)
    with pytest.raises(ValidationError, match="already"):
        preferences.start_preference_test(a=after, b=before, queries=2, by=before.case.owner)


def test_sides_differ_by_query_and_rater_and_stay_the_same() -> None:
    before, after = make_runs(12)
    test = start(before, after)
    sides = {}
    for rater in (make_user(), make_user()):
        for pk in test.test_queries.values_list("query_id", flat=True):
            lists = preferences.read_lists(test=test, query_id=pk, by=rater)
            assert lists is not None
            shown = [result.doc_id for result in (lists.right if lists.is_swapped else lists.left)]
            assert shown == OLD
            sides[rater.pk, pk] = lists.is_swapped
            again = preferences.read_lists(test=test, query_id=pk, by=rater)
            assert again is not None
            assert again.is_swapped == lists.is_swapped
    by_rater = {rater: [side for key, side in sides.items() if key[0] == rater] for rater, _ in sides}
    first, second = by_rater.values()
    assert {True, False} <= set(first)
    assert {True, False} <= set(second)
    assert first != second


def test_a_rater_gets_each_query_once_and_those_without_answers_first() -> None:
    before, after = make_runs(4)
    test = start(before, after)
    ann, ben = make_user(), make_user()
    by_ann = [answer(test, ann, "a"), answer(test, ann, "tie")]
    by_ben = [answer(test, ben, "b"), answer(test, ben, "b")]
    assert not set(by_ann) & set(by_ben)
    rest = [answer(test, ann, "cannot") for _ in range(3)]
    assert sorted(by_ann + rest) == ["", "query 1", "query 2", "query 3", "query 4"]
    progress = preferences.preference_progress(test=test, by=ann)
    assert (progress.done, progress.pairs, progress.left) == (4, 4, 0)


def test_undo_restores_the_answer_before() -> None:
    before, after = make_runs(2)
    test = start(before, after)
    rater = make_user()
    text = answer(test, rater, "a")
    query = query_of(before.case, text)
    lists = preferences.read_lists(test=test, query_id=query.pk, by=rater)
    assert lists is not None
    assert not preferences.prefer(test=test, query_id=query.pk, side=lists.own, key=lists.key, by=rater)
    assert preferences.prefer(test=test, query_id=query.pk, side="tie", key=lists.key, by=rater)
    assert preferences.measure_preferences(test).sign.ties == 1
    assert preferences.undo_preference(test=test, by=rater) == query.pk
    assert preferences.measure_preferences(test).sign.losses == 1
    assert preferences.undo_preference(test=test, by=rater) == query.pk
    assert preferences.undo_preference(test=test, by=rater) is None
    assert preferences.measure_preferences(test).open == 2
    assert Preference.objects.count() == 2


def counted(row: preferences.QueryPreference | preferences.RaterPreferences) -> tuple[int, ...]:
    return tuple(row.counts[choice] for choice in ("a", "b", "tie", "cannot"))


def test_result_counts_queries_by_their_majority() -> None:
    before, after = make_runs(3)
    test = start(before, after)
    choices = {"query 1": "bba", "query 2": "abt", "query 3": "ttc"}
    raters = [make_user() for _ in range(3)]
    for number, rater in enumerate(raters):
        for _ in choices:
            lists = preferences.next_lists(test=test, by=rater)
            assert lists is not None
            letter = choices[lists.query.text][number]
            side = {"t": "tie", "c": "cannot"}.get(letter) or (
                "left" if (letter == "a") != lists.is_swapped else "right"
            )
            preferences.prefer(test=test, query_id=lists.query.pk, side=side, key=lists.key, by=rater)
    result = preferences.measure_preferences(test)
    assert (result.sign.wins, result.sign.losses, result.sign.ties) == (1, 0, 2)
    assert [(row.query.text, *counted(row)) for row in result.rows] == [
        ("query 1", 1, 2, 0, 0),
        ("query 2", 1, 1, 1, 0),
        ("query 3", 0, 0, 2, 1),
    ]
    # Pairs of raters: 3 of query 1, one of them agrees; 3 of query 2, none; 1 of query 3, which agrees.
    assert (result.shared, result.agreement) == (7, pytest.approx(2 / 7))
    by_rater = {row.rater: counted(row) for row in result.raters}
    assert by_rater == {raters[0]: (1, 1, 1, 0), raters[1]: (0, 2, 1, 0), raters[2]: (1, 0, 1, 1)}
    assert all(row.left + row.right == sum(counted(row)[:2]) for row in result.raters)


def test_answers_for_other_results_do_not_count_and_the_query_comes_again() -> None:
    before, after = make_runs(2)
    test = start(before, after)
    rater = make_user()
    text = answer(test, rater, "b")
    lists = preferences.read_lists(test=test, query_id=query_of(before.case, text).pk, by=rater)
    assert lists is not None
    runs.unpin(run=after)
    case_query = after.case.case_queries.get(query__text=text)
    runs.search_again(run=after, case_query=case_query, by=after.case.owner)
    result = preferences.measure_preferences(test)
    assert (result.outdated, result.sign.wins, result.open) == (1, 0, 2)
    with pytest.raises(preferences.ListsChanged):
        preferences.prefer(test=test, query_id=lists.query.pk, side="left", key=lists.key, by=rater)
    assert {answer(test, rater, "b"), answer(test, rater, "b")} == {"query 1", "query 2"}


def test_a_closed_test_takes_no_answers_until_it_is_opened() -> None:
    before, after = make_runs(2)
    test = start(before, after)
    rater = make_user()
    lists = preferences.next_lists(test=test, by=rater)
    assert lists is not None
    preferences.set_preference_test_closed(test=test, is_closed=True, by=test.created_by)
    with pytest.raises(ValidationError, match="closed"):
        preferences.prefer(test=test, query_id=lists.query.pk, side="left", key=lists.key, by=rater)
    preferences.set_preference_test_closed(test=test, is_closed=False, by=test.created_by)
    assert preferences.prefer(test=test, query_id=lists.query.pk, side="left", key=lists.key, by=rater)


def test_a_merge_of_books_keeps_tests_and_answers() -> None:
    before, after = make_runs(2)
    test = start(before, after)
    rater = make_user()
    answer(test, rater, "b")
    other: Case = make_case(["query 1"], owner=before.case.owner)
    books.merge_books(book=other.book, other=before.case.book, by=before.case.owner)
    test = PreferenceTest.objects.of_book(other.book).get()
    assert preferences.measure_preferences(test).sign.wins == 1
    assert test.test_queries.filter(query__book=other.book).count() == 2


def test_the_activity_log_says_when_a_test_is_started_and_closed() -> None:
    before, after = make_runs()
    test = start(before, after)
    for is_closed in (True, True, False):
        preferences.set_preference_test_closed(test=test, is_closed=is_closed, by=before.case.owner)
    lines = [describe(line) for line in before.case.activities.filter(verb__startswith="rating.pref").order_by("pk")]
    assert lines == [
        "Started a blind test of run 1 and run 2; queries: 4",
        "Closed the blind test of run 1 and run 2",
        "Opened the blind test of run 1 and run 2 again",
    ]
