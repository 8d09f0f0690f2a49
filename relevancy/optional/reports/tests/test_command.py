"""`report CASE`."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from relevancy.management.commands import demo
from tests.comparison.conftest import run_with
from tests.factories import make_case, rate_all
from tests.test_guides import list_printed

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
    data = json.loads(report(case.pk, "--json"))
    assert (data["run"], data["scorer"], data["score"]) == (run.pk, "RR@3", 100)
    assert data["plan"] is None  # both scored queries have the same score, and one query that differs plans nothing
    assert data["per_query"]["query 3"]["total"] == 0
    rows = list(csv.DictReader(report(case.pk, "--csv", "--run", "1", "--scorer", "P@1").splitlines()))
    assert [(row["query"], row["score"]) for row in rows] == [("query 1", "0.0"), ("query 2", "100.0"), ("query 3", "")]


def test_several_differences_and_the_comparison_to_plan_with():
    texts = [f"query {number}" for number in range(1, 7)]
    case = make_case(6, {text: {"a": 3} for text in texts}, measures=("RR@3",))
    for lists in (["a", "xa"] * 3, ["xa", "a"] * 3, ["xa", "xya"] * 3):
        run_with(case, dict(zip(texts, lists, strict=True)))
    rate_all(case, {"query 1": {"b": 1}}, case.owner)  # all scores are brought up to date
    run_with(case, dict(zip(texts, ["a", "ya", "a", "ya", "a", "y"], strict=True)))
    data = json.loads(report(case.pk, "--json", "--delta", "8", "--delta", "4"))
    assert [row["difference"] for row in data["plan"]["differences"]] == [4, 8]
    text = report(case.pk, "--delta", "10", "5", "2")
    assert "(differences between Run 2 and Run 1, 6 queries differ)" in text
    assert [line.split()[0] for line in text.splitlines() if "points: " in line] == ["2", "5", "10"]
    assert "(differences between Run 4 and Run 3, 6 queries differ)" in report(case.pk, "--compared", "4")
    with pytest.raises(CommandError, match=r"--compared 3: .* There are: 4, 2\."):
        report(case.pk, "--compared", "3")


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
        (("--delta", "5", "0"), "difference of 0 points"),
        (("--compared", "1"), r"--compared 1: .* There are: none"),
    ],
)
def test_refusals(case, arguments, message):
    run_with(case, LISTS)
    with pytest.raises(CommandError, match=message):
        report(case.pk, *arguments)


def test_a_case_without_a_run(case):
    with pytest.raises(CommandError, match="Run it first"):
        report(case.pk)


def test_the_guide_names_the_members_of_the_json():
    demo.load_demo()
    (shape,) = re.findall(r"`(\{\"[^`]+\})`", (Path(__file__).parents[1] / "docs" / "reports.md").read_text())
    assert set(re.findall(r'"(\w+)"', shape)) == list_printed(json.loads(report("Movies", "--json")))
