"""`compare RUN RUN…`."""

import io
import json
from typing import TypedDict

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from relevancy.formats.reports.comparison_json import GainResult
from tests.comparison.conftest import run_with
from tests.factories import make_case, make_scorer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]


class QueryGain(TypedDict):
    query: str
    score: float
    ideal: float
    gain: float


class RunGain(GainResult):
    """What `compare RUN ideal --json` prints; the guide names these members."""

    run: int
    scorer: str
    score: float | None
    left_out_queries: list[str]
    query_gains: list[QueryGain]


@pytest.fixture
def case():
    return make_case(3, {f"query {number}": {"a": 3} for number in (1, 2)}, measures=("P@1",))


@pytest.fixture
def runs(case):
    return [run_with(case, {"query 1": first, "query 2": "ab", "query 3": "ab"}).pk for first in ("xa", "ab", "ab")]


def compare(*arguments):
    out, err = io.StringIO(), io.StringIO()
    call_command("compare", *map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_compare_json(case, runs):
    result = json.loads(compare(runs[0], f"{case.name}:2", "--json")[0])
    assert result["scorer"] == "P@1"
    assert (result["queries"], result["left_out"], result["left_out_queries"]) == (2, 1, ["query 3"])
    assert [(run["run"], run["score"], run["rated"], run["documents"]) for run in result["runs"]] == [
        (runs[0], 50, 1, 3),
        (runs[1], 100, 2, 3),
    ]
    (pair,) = result["pairs"]
    assert (pair["a"], pair["b"], pair["difference"]) == (runs[0], runs[1], 50)
    assert (pair["wins"], pair["ties"], pair["losses"], pair["carried_by"]) == (1, 1, 0, 1)
    assert pair["interval_kind"] == "t and sign-flip"
    assert pair["reliable"] is False
    assert pair["p_hsd"] is None
    assert pair["jaccard"] == pytest.approx((1 / 3 + 1 + 1) / 3)
    assert pair["changed"] == pytest.approx(1 / 3)


def test_compare_json_of_three_runs(runs):
    result = json.loads(compare(*runs, "--json")[0])
    assert [(pair["a"], pair["b"]) for pair in result["pairs"]] == [
        (runs[0], runs[1]),
        (runs[0], runs[2]),
        (runs[1], runs[2]),
    ]
    assert all(pair["p_hsd"] is not None for pair in result["pairs"])
    assert [pair["p_holm"] is None for pair in result["pairs"]] == [False, False, True]


def test_compare_prints_the_verdict_and_names_queries(runs):
    out, err = compare(runs[0], runs[1])
    assert "P@1 on the same 2 queries, 1 left out" in out
    assert "“query 3”" in out
    assert "1 better, 0 worse, 1 the same" in out
    assert "+50.0 points" in out
    assert err.startswith(
        "Warning: Of the documents that the scorer considers, 33 % are rated in Run 1 and 67 % in Run 2."
    )


def test_compare_html_writes_a_report(runs, tmp_path):
    path = tmp_path / "report.html"
    out, _ = compare(runs[0], runs[1], "--html", path)
    report = path.read_text(encoding="utf-8")
    assert "+50.0 points" in report and "+50.0 points" in out
    assert report.count("<h2>") == 4  # runs, the verdict, queries, definitions
    on_stdout, _ = compare(*runs, "--html", "-")
    assert on_stdout.startswith("<!DOCTYPE html>") and on_stdout.rstrip().endswith("</html>")
    with pytest.raises(CommandError, match="Only one of --json and --html"):
        compare(*runs, "--json", "--html", "-")


def test_compare_with_another_scorer(runs):
    make_scorer("nDCG@10", "deeper")
    assert json.loads(compare(*runs[:2], "--scorer", "deeper", "--json")[0])["scorer"] == "deeper"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda runs: [runs[0]], "Name two to 5 runs"),
        (lambda runs: [runs[0], 999999], "There is no run '999999'"),
        (lambda runs: [*runs[:2], "--scorer", "nothing"], "There is no scorer 'nothing'"),
    ],
)
def test_compare_mistakes_end_with_status_2(runs, arguments, message):
    with pytest.raises(CommandError, match=message) as caught:
        compare(*arguments(runs))
    assert caught.value.returncode == 2


def test_compare_with_the_best_order(runs):
    out, _ = compare(runs[0], "ideal")
    assert "Run 1 would score 100.0 instead of 50.0: 50.0 points can be gained on 2 queries." in out
    assert "100.0 100.0   0.0  query 1" in out
    result = json.loads(compare(runs[0], "ideal", "--json")[0])
    assert (result["run"], result["gain"], result["gain_carried_by"]) == (runs[0], 50, ["query 1"])
    assert result.keys() == RunGain.__annotations__.keys() | GainResult.__annotations__.keys()
    assert result["query_gains"] == [{"query": "query 1", "score": 0, "ideal": 100, "gain": 100}]
    with pytest.raises(CommandError, match="A report compares two runs or more"):
        compare(runs[0], "ideal", "--html", "-")


@pytest.mark.parametrize("named", [slice(0, 0), slice(0, 2)])
def test_the_best_order_is_compared_with_one_run(runs, named):
    with pytest.raises(CommandError) as error:
        compare(*runs[named], "ideal")
    assert error.value.returncode == 2
    assert "compared with one run" in str(error.value)
