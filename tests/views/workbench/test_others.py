"""What others do while a page is open."""

import pytest

from relevancy import queries, ratings
from tests.factories import query_of

from .example_cases import at, case_query_of, make_workbench_case, start


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team)


def changes(client, case, since=""):
    return client.get(at(case, "case_changes"), {"since": since}).json()


def test_changes_of_others_are_named_once(sign_in, people, case):
    client = sign_in("rater")
    first = changes(client, case)
    assert (first["queries"], first["run"]) == ([], 1)
    ratings.rate(query=query_of(case, "query 2"), doc_id="a", value=1, by=people["editor"])
    second = changes(client, case, first["since"])
    assert second["queries"] == [case_query_of(case, "query 2").pk]
    assert changes(client, case, second["since"]) == {**second, "queries": []}


def test_changes_of_ones_own_are_not_news(sign_in, people, case):
    client = sign_in("rater")
    before = changes(client, case)
    ratings.rate(query=query_of(case, "query 2"), doc_id="a", value=1, by=people["rater"])
    after = changes(client, case, before["since"])
    assert after["queries"] == []
    assert after["since"] > before["since"]


def test_changes_of_removed_queries_are_left_out(sign_in, people, case):
    client = sign_in("rater")
    before = changes(client, case)
    queries.remove(case_query=case_query_of(case, "query 2"))
    ratings.rate(query=query_of(case, "query 2"), doc_id="a", value=1, by=people["editor"])
    assert changes(client, case, before["since"])["queries"] == []


def test_changes_name_the_newest_run(sign_in, case):
    client = sign_in("rater")
    start(case)
    assert changes(client, case)["run"] == 2


@pytest.mark.parametrize("since", ["x", "-1", "9" * 30])
def test_changes_since_anything(sign_in, case, since):
    assert sign_in("viewer").get(at(case, "case_changes"), {"since": since}).status_code == 200


def test_changes_cost_few_statements(sign_in, case, django_assert_max_num_queries):
    client = sign_in("viewer")
    since = changes(client, case)["since"]
    with django_assert_max_num_queries(6):  # session, user, case with its role; then the changes and the run
        changes(client, case, since)
