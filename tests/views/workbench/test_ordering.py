"""Moving queries to another position."""

import pytest

from relevancy import queries
from tests.factories import make_case

from .example_cases import HTMX, at, case_query_of, make_workbench_case, shown


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team, ["a", "b", "c", "d"], None)


def order(case):
    return "".join(case.case_queries.present().values_list("query__text", flat=True))


def move(client, case, text, **sent):
    return client.post(at(case, "query_move", case_query_of(case, text).pk), sent, headers=HTMX)


def test_move_before_and_after(sign_in, case):
    client = sign_in("editor")
    answer = move(client, case, "d", before=case_query_of(case, "b").pk)
    assert answer.status_code == 200
    assert shown(answer) == ["a", "d", "b", "c"]
    assert b"<html" not in answer.content
    move(client, case, "a", after=case_query_of(case, "c").pk)
    assert order(case) == "dbca"


def test_move_by_steps(sign_in, case):
    client = sign_in("editor")
    assert shown(move(client, case, "b", steps="-1")) == ["b", "a", "c", "d"]
    assert shown(move(client, case, "b", steps="2")) == ["a", "c", "b", "d"]


def test_move_without_htmx_comes_back_with_the_query_open(sign_in, case):
    case_query = case_query_of(case, "d")
    answer = sign_in("editor").post(at(case, "query_move", case_query.pk), {"steps": "-1"})
    assert answer.status_code == 302
    assert answer["Location"] == at(case, "case", open=case_query.pk) + f"#query-{case_query.pk}"
    assert order(case) == "abdc"


def test_move_off_the_page_says_so(sign_in, case, monkeypatch):
    monkeypatch.setattr("relevancy.views.workbench.query_list.PAGE_SIZE", 2)
    answer = move(sign_in("editor"), case, "b", steps="1")
    assert shown(answer) == ["a", "c"]
    assert "“b” is now on the next page" in answer["HX-Trigger"].encode().decode("unicode-escape")


@pytest.mark.parametrize("sent", [{}, {"steps": "0"}, {"steps": "x"}, {"before": "999999"}, {"steps": "--1"}])
def test_move_refuses(sign_in, case, sent):
    answer = move(sign_in("editor"), case, "b", **sent)
    assert answer.status_code == 409
    assert order(case) == "abcd"


def test_move_beside_a_query_of_another_case(sign_in, case):
    other = make_case(["x"])
    assert move(sign_in("editor"), case, "b", before=other.case_queries.get().pk).status_code == 409
    assert order(case) == "abcd"


def test_move_a_removed_query(sign_in, case):
    case_query = case_query_of(case, "b")
    queries.remove(case_query=case_query)
    assert move(sign_in("editor"), case, "b", steps="1").status_code == 404


@pytest.mark.parametrize(("who", "status"), [("rater", 403), ("viewer", 403), ("stranger", 404)])
def test_move_is_for_editors(sign_in, case, who, status):
    assert move(sign_in(who), case, "b", steps="1").status_code == status
    assert order(case) == "abcd"
