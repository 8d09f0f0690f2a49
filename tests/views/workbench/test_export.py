"""The list of queries as a file."""

import csv
import io

import pytest

from .example_cases import at, make_workbench_case


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team)


def rows(answer):
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


def test_export_as_shown(sign_in, case):
    client = sign_in("viewer")
    answer = client.get(at(case, "queries_csv"))
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"].endswith('-run-1-queries.csv"')
    assert [row["query"] for row in rows(answer)] == ["query 1", "query 2", "query 3"]
    sorted_down = rows(client.get(at(case, "queries_csv", sort="-query", q="QUERY")))
    assert [row["query"] for row in sorted_down] == ["query 3", "query 2", "query 1"]
    assert [row["query"] for row in rows(client.get(at(case, "queries_csv", q="2")))] == ["query 2"]
    assert [row["query"] for row in rows(client.get(at(case, "queries_csv", state="unscored")))] == ["query 3"]


def test_export_is_for_those_who_see_the_case(sign_in, case):
    assert sign_in("stranger").get(at(case, "queries_csv")).status_code == 404
    assert sign_in("stranger").post(at(case, "queries_csv")).status_code == 405
