"""`report CASE`."""

import csv
import io
import json

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.comparison.conftest import run_with
from tests.factories import make_case, rate_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]
LISTS = {"query 1": "xab", "query 2": "abc", "query 3": ""}


@pytest.fixture
def case():
    return make_case(3, {f"query {number}": {"a": 3} for number in (1, 2)}, measures=("RR@3", "P@1"))


def report(*arguments):
    out = io.StringIO()
    call_command("report", *map(str, arguments), stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_text_json_and_csv(case):
    run_with(case, LISTS)
    run = run_with(case, {**LISTS, "query 1": "axb"})
    text = report(case.name)
    assert f"{case.name}, Run 2, attempt 2: RR@3 100.0" in text
    assert "2 of 6 documents among the first 3" in text
    assert "“query 3”" in text
    data = json.loads(report(case.pk, "--json", "--delta", "4", "--delta", "8"))
    assert (data["run"], data["scorer"], data["score"]) == (run.pk, "RR@3", 100)
    assert [row["difference"] for row in data["plan"]["differences"]] == [4, 8]
    assert data["per_query"]["query 3"]["total"] == 0
    rows = list(csv.DictReader(report(case.pk, "--csv", "--run", "1", "--scorer", "P@1").splitlines()))
    assert [(row["query"], row["score"]) for row in rows] == [("query 1", "0.0"), ("query 2", "100.0"), ("query 3", "")]


def test_scores_follow_the_ratings(case):
    run_with(case, LISTS)
    rate_all(case, {"query 1": {"x": 3}}, case.owner)
    assert json.loads(report(case.pk, "--json"))["score"] == 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--run", "9"), "no finished run 9"),
        (("--scorer", "nope"), "no scorer 'nope'"),
        (("--delta", "0"), "difference of 0 points"),
        (("--delta", "nan"), "difference of nan points"),
    ],
)
def test_refusals(case, arguments, message):
    run_with(case, LISTS)
    with pytest.raises(CommandError, match=message):
        report(case.pk, *arguments)


def test_a_case_without_a_run(case):
    with pytest.raises(CommandError, match="Run it first"):
        report(case.pk)
