"""The queries of a case in parts."""

import pytest

from relevancy import queries
from tests.factories import make_case

pytestmark = pytest.mark.django_db


def test_queries_come_in_parts_in_the_order_of_the_case(django_assert_num_queries):
    case = make_case(7)
    make_case(2)  # another one
    by_text = {case_query.query.text: case_query for case_query in case.case_queries.select_related("query")}
    queries.move(case=case, case_query=by_text["query 6"], before=by_text["query 1"], by=None)
    queries.remove(case_query=case.case_queries.get(query__text="query 2"))
    case.case_queries.filter(query__text__in=["query 3", "query 4"]).update(position=1)  # equal ones: by id
    expected = list(case.case_queries.present().order_by("position", "id").values_list("id", "query_id"))
    with django_assert_num_queries(3):
        parts = list(case.case_queries.in_parts(3))
    assert [len(part) for part in parts] == [3, 3]
    assert [row for part in parts for row in part] == expected
