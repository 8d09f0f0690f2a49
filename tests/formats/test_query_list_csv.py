"""The list of queries as a file."""

import csv
import io
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from relevancy import engines, scores
from relevancy.formats.queries import query_list_csv
from relevancy.models import Case, CaseQuery, Query, Run
from tests.factories import make_attempt, make_case, rate_all, run_now, script_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]


def listed(case: Case, run: Run | None = None, before: Run | None = None) -> Any:
    version = case.case_scorers.get().version
    return case.case_queries.present().with_scores(run, version, before).order_by("position")


def lines(entries: Any) -> Any:
    case_queries = CaseQuery.objects.present().order_by("case", "position")
    numbers = {pk: number for number, pk in enumerate(case_queries.values_list("pk", flat=True), 1)}
    return query_list_csv.export_lines((numbers[row.pk], row) for row in entries)


def rows(entries: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(lines(entries)))))


def test_lines() -> None:
    case = make_case(["b", "a", "bad", "none"], {"b": {"b": 3}})
    Query.objects.filter(text="b").update(tags=["x", "y, z"], information_need="Two\nlines", notes='say "b"')
    attempt = make_attempt(case)
    script_of(attempt).answers = {"bad": engines.BadQuery("no, no"), "none": []}
    first = run_now(attempt)
    rate_all(case, {"b": {"a": 3}}, case.owner)
    second = run_now(make_attempt(case, attempt.endpoint, template='{"query": "#$query##", "n": 2}'))
    assert rows(listed(case, second, first))[0]["change"] == "", "The score of the first run is of older ratings."
    scores.rescore_run(first)
    text = "".join(lines(listed(case, second, first)))
    assert (
        text.splitlines()[0] == "position,query,score,low,high,change,hits,unrated,ms,error,tags,information_need,notes"
    )
    result = rows(listed(case, second, first))
    assert [(row["position"], row["query"]) for row in result] == [("1", "b"), ("2", "a"), ("3", "bad"), ("4", "none")]
    assert result[0]["score"] == "100.0"
    assert float(result[0]["change"]) == 0, "The results are the same, and so are the ratings."
    assert (result[0]["hits"], result[0]["unrated"], result[0]["ms"], result[0]["error"]) == ("3", "1", "1", "")
    assert (result[0]["tags"], result[0]["information_need"], result[0]["notes"]) == (
        "x, y, z",
        "Two\nlines",
        'say "b"',
    )
    assert (result[1]["score"], result[1]["low"], result[1]["change"]) == ("", "", "")
    assert (result[2]["error"], result[2]["hits"], result[2]["ms"]) == ("no, no", "", "")
    assert (result[3]["hits"], result[3]["error"]) == ("0", "")


def test_lines_as_shown() -> None:
    case = make_case(["star wars", "star trek", "alien"])
    shown = listed(case).filter(query__text__icontains="a").exclude(query__text="star trek").order_by("query__text")
    assert [(row["position"], row["query"]) for row in rows(shown)] == [("3", "alien"), ("1", "star wars")]


def test_lines_without_a_run() -> None:
    (row,) = rows(listed(make_case(["a"])))
    assert row == {**dict.fromkeys(query_list_csv.HEADER, ""), "position": "1", "query": "a"}


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "'=x", "=cmd|' /C calc'!A0"])
def test_lines_hold_no_formula(text: str) -> None:
    case = make_case([text])
    Query.objects.update(tags=[text], notes=text, information_need=text)
    (row,) = rows(listed(case))
    for name in ("query", "tags", "notes", "information_need"):
        assert row[name] == "'" + text


def test_a_negative_change_is_a_number() -> None:
    case = make_case(["a"], {"a": {"a": 3}})
    attempt = make_attempt(case)
    first = run_now(attempt)
    script_of(attempt).default = ("b", "a")
    second = run_now(attempt)
    (row,) = rows(listed(case, second, first))
    assert float(row["change"]) < 0


def test_lines_of_many_cost_one_statement_and_come_in_parts() -> None:
    entries = listed(make_case(1200))
    with CaptureQueriesContext(connection) as captured:
        result = query_list_csv.export_lines(enumerate(entries.iterator(chunk_size=500), 1))
        assert not captured.captured_queries
        parts = list(result)
        assert parts[0].startswith("position,")
        assert [part.count("\n") for part in parts] == [1000, 201]
    assert len(captured) == 1
