"""The manual order of a case's queries."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from relevancy import queries
from relevancy.models import Case, CaseQuery
from relevancy.queries import ordering
from tests.factories import make_case

pytestmark = pytest.mark.django_db


def case_query_of(case: Case, text: str) -> CaseQuery:
    case_query: CaseQuery = case.case_queries.select_related("query", "case").get(query__text=text)
    return case_query


def order(case: Case) -> str:
    return "".join(case.case_queries.present().values_list("query__text", flat=True))


@pytest.mark.parametrize(
    ("moved", "side", "anchor", "becomes"),
    [
        ("c", "before", "a", "cabde"),
        ("c", "before", "b", "acbde"),
        ("a", "before", "e", "bcdae"),
        ("a", "after", "e", "bcdea"),
        ("e", "after", "a", "aebcd"),
        ("e", "before", "a", "eabcd"),
        ("b", "after", "a", "abcde"),
        ("b", "before", "c", "abcde"),
        ("b", "after", "b", "abcde"),
    ],
)
def test_move(moved: str, side: str, anchor: str, becomes: str) -> None:
    case = make_case(list("abcde"))
    case_query = case_query_of(case, moved)
    queries.move(case=case, by=None, case_query=case_query, **{side: case_query_of(case, anchor)})
    assert order(case) == becomes
    assert case_query.position == case_query_of(case, moved).position


def test_move_to_the_same_position_repeatedly() -> None:
    """The gap between two positions is used up many times; the order stays right."""
    case = make_case(list("abcdef"))
    for turn in range(100):
        queries.move(case=case, by=None, case_query=case_query_of(case, "ef"[turn % 2]), after=case_query_of(case, "a"))
        assert order(case) == ("aebcdf" if turn == 0 else ("aefbcd", "afebcd")[turn % 2])


def test_move_between_equal_positions() -> None:
    case = make_case(list("abcd"))
    case.case_queries.update(position=7)
    queries.move(case=case, by=None, case_query=case_query_of(case, "d"), before=case_query_of(case, "b"))
    assert order(case) == "adbc"


def test_move_beside_a_removed_query_keeps_its_place() -> None:
    case = make_case(list("abc"))
    removed = case_query_of(case, "b")
    queries.remove(case_query=removed)
    queries.move(case=case, by=None, case_query=case_query_of(case, "c"), before=case_query_of(case, "a"))
    queries.restore(case_query=removed)
    assert order(case) == "cab"


def test_move_refuses_ambiguous_arguments() -> None:
    case, other = make_case(list("ab")), make_case(list("xy"))
    case_query = case_query_of(case, "a")
    with pytest.raises(ValidationError, match="exactly one of"):
        queries.move(case=case, by=None, case_query=case_query)
    with pytest.raises(ValidationError, match="exactly one of"):
        queries.move(
            case=case, by=None, case_query=case_query, before=case_query_of(case, "b"), after=case_query_of(case, "b")
        )
    for moved, anchor in ((case_query, case_query_of(other, "x")), (case_query_of(other, "x"), case_query)):
        with pytest.raises(ValidationError, match="no longer in the case"):
            queries.move(case=case, by=None, case_query=moved, before=anchor)
    assert (order(case), order(other)) == ("ab", "xy")


def test_move_beside_one_that_is_gone() -> None:
    case = make_case(list("abc"))
    gone = case_query_of(case, "b")
    CaseQuery.objects.filter(pk=gone.pk).delete()
    with pytest.raises(ValidationError, match="no longer in the case"):
        queries.move(case=case, by=None, case_query=case_query_of(case, "c"), before=gone)
    assert order(case) == "ac"


@pytest.mark.parametrize(
    ("moved", "steps", "becomes", "did"),
    [
        ("c", -1, "acbde", True),
        ("c", 1, "abdce", True),
        ("a", 3, "bcdae", True),
        ("b", -9, "bacde", True),
        ("b", 9, "acdeb", True),
        ("a", -1, "abcde", False),
        ("e", 1, "abcde", False),
        ("c", 0, "abcde", False),
    ],
)
def test_move_by(moved: str, steps: int, becomes: str, did: bool) -> None:
    case = make_case(list("abcde"))
    assert queries.move_by(by=None, case_query=case_query_of(case, moved), steps=steps) is did
    assert order(case) == becomes


def test_move_by_steps_over_removed_queries() -> None:
    case = make_case(list("abcd"))
    queries.remove(case_query=case_query_of(case, "b"))
    assert queries.move_by(by=None, case_query=case_query_of(case, "c"), steps=-1)
    assert order(case) == "cad"


def test_move_in_a_large_case_costs_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = make_case(5), make_case(5000)
    written = []
    for case in (small, large):
        first, last = case.case_queries.first(), case.case_queries.last()
        with CaptureQueriesContext(connection) as captured:
            queries.move(case=case, by=None, case_query=last, after=first)
        statements = [one["sql"].split()[0] for one in captured.captured_queries]
        written.append([word for word in statements if word in {"SELECT", "UPDATE"}])
        assert case.case_queries.all()[1] == last
    # The lock, the positions of both neighbours, the move, and the last line of the activity log.
    assert written[0] == written[1] == ["SELECT", "SELECT", "SELECT", "UPDATE", "SELECT"]
    monkeypatch.setattr(ordering, "MIN_GAP", 0.3)
    before = list(large.case_queries.values_list("pk", flat=True))
    moved = large.case_queries.all()[4000]
    queries.move(case=large, by=None, case_query=moved, before=large.case_queries.all()[1])
    after = list(large.case_queries.values_list("pk", flat=True))
    assert after == [before[0], moved.pk, *(pk for pk in before[1:] if pk != moved.pk)]
    whole = large.case_queries.exclude(pk=moved.pk).values_list("position", flat=True)
    assert all(position == int(position) for position in whole)


def test_renumbering_leaves_other_cases_alone() -> None:
    case, other = make_case(list("ab")), make_case(list("xy"))
    other.case_queries.update(position=0.25)
    ordering._renumber(case)
    assert set(other.case_queries.values_list("position", flat=True)) == {0.25}


def test_added_queries_follow_moved_ones() -> None:
    case = make_case(list("abc"))
    case_query: Any = case_query_of(case, "a")
    queries.move(case=case, by=None, case_query=case_query, after=case_query_of(case, "c"))
    queries.add(case=case, texts=["d"])
    assert order(case) == "bcad"


@pytest.mark.django_db(transaction=True)
def test_simultaneous_moves_take_different_positions() -> None:
    """Four people repeatedly move queries behind the same one: no two get the same position."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite lets one writer in at a time")
    case = make_case(list("abcdefgh"))
    anchor = case_query_of(case, "a")
    ids = list(case.case_queries.exclude(pk=anchor.pk).values_list("pk", flat=True))

    def work(mine: list[int]) -> None:
        try:
            for turn in range(20):
                case_query = CaseQuery.objects.get(pk=mine[turn % len(mine)])
                queries.move(case=case, by=None, case_query=case_query, after=anchor)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, [ids[start::4] for start in range(4)]))
    positions = list(case.case_queries.values_list("position", flat=True))
    assert len(set(positions)) == len(positions) == 8
    assert order(case)[0] == "a"
