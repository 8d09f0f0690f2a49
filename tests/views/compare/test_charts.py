"""The charts of the comparison, as plotly draws them."""

import json
import re

import pytest
from django.contrib.staticfiles import finders
from django.urls import reverse

from relevancy import comparison
from relevancy.views.compare.charts import build_charts
from relevancy.views.compare.query_table import PresentQuery
from tests.comparison.conftest import run_with
from tests.factories import make_case


def row(query_id, text, a, b):
    difference = None if a is None or b is None else b - a
    return comparison.QueryRow(query_id, text, 1.0, a, b, difference, 0.5, 0.5, 2, 0, 0, 5, 7)


ROWS = [
    row(1, "worse", 60.0, 40.0),
    row(2, "better", 10.0, 70.5),
    row(3, "<a href='x'>same</a>", 50.0, 50.0),
    row(4, "left out", None, 20.0),
]


QUERIES = {number: PresentQuery(number * 10, "", []) for number in range(5)}


@pytest.fixture
def charts():
    return {chart.key: chart for chart in build_charts(ROWS, QUERIES, "Run 1", "Run 2")}


def test_bars_are_sorted_and_name_their_queries(charts):
    figure = json.loads(charts["differences"].data)
    gains, others, jaccard, rbo = figure["data"]
    assert (gains["y"], gains["customdata"], gains["x"]) == ([60.5], [20], [1])
    assert (others["y"], others["customdata"], others["x"]) == ([0.0, -20.0], [30, 10], [2, 3])
    assert gains["hovertext"] == ["better<br>Run 1 10.0 → Run 2 70.5 (+60.5)"]
    assert [len(strip["x"]) for strip in (jaccard, rbo)] == [3, 3]
    assert jaccard["customdata"] == [20, 30, 10]
    assert jaccard["marker"]["opacity"] == [0.5, 0.5, 0.5]
    assert jaccard["hovertext"][0] == "better<br>Jaccard .50"
    low, high = figure["layout"]["yaxis"]["range"]
    assert low == -high
    assert charts["differences"].text.startswith(
        "Differences of 3 queries, largest gain first: 1 above zero, 1 below. "
    )


def test_labels_are_escaped(charts):
    assert "<a href" not in charts["scatter"].data
    assert "&lt;a href" in charts["scatter"].data


def test_scatter_has_the_scores_of_both_runs(charts):
    (trace,) = json.loads(charts["scatter"].data)["data"]
    assert (trace["x"], trace["y"]) == ([60.0, 10.0, 50.0], [40.0, 70.5, 50.0])


def test_without_compared_queries_only_search_times_are_drawn():
    (chart,) = build_charts(ROWS[3:], QUERIES, "Run 1", "Run 2")
    assert chart.key == "times"
    untimed = [item._replace(took_a=None) for item in ROWS[3:]]
    assert build_charts(untimed, QUERIES, "Run 1", "Run 2") == []


def test_distribution_of_scores_counts_each_query_once_in_either_run():
    rows = [
        row(number, "q", a, b) for number, (a, b) in enumerate([(0.0, 9.9), (10.0, 100.0), (49.9, 50.0), (100.0, 0.0)])
    ]
    charts = {chart.key: chart for chart in build_charts(rows, QUERIES, "Run 1", "Run 2")}
    chart = charts["scores"]
    assert [step[1:] for step in chart.table] == [
        ("1", "2"), ("1", "0"), ("0", "0"), ("0", "0"), ("1", "0"),
        ("0", "1"), ("0", "0"), ("0", "0"), ("0", "0"), ("1", "1"),
    ]  # fmt: skip
    assert chart.text == "Scores of 4 queries: 3 below 50 in Run 1, 2 in Run 2."
    before, after = json.loads(chart.data)["data"]
    assert [sum(before["y"]), sum(after["y"])] == [4, 4]


def test_search_times_stand_in_steps_that_grow():
    times = [(0, 3), (1, 4), (4, 5), (7, 9), (7, 49)]
    rows = [ROWS[0]._replace(query_id=number, took_a=a, took_b=b) for number, (a, b) in enumerate(times)]
    chart = build_charts(rows, QUERIES, "Run 1", "Run 2")[-1]
    assert chart.table == [
        ("0–1", "1", "0"),
        ("1–2", "1", "0"),
        ("2–5", "1", "2"),
        ("5–10", "2", "2"),
        ("10–20", "0", "0"),
        ("20–50", "0", "1"),
    ]
    assert "Run 1: median 4 ms, 95 % within 7 ms. Run 2: median 5 ms, 95 % within 49 ms." in chart.text


def test_figures_have_no_colours_of_their_own(charts):
    for chart in charts.values():
        figure = json.loads(chart.data)
        assert not figure["layout"].get("template")
        assert all(trace["meta"]["color"].startswith("--") for trace in figure["data"])


def test_plotly_is_served_from_its_package():
    name = "plotly/package_data/plotly.min.js"
    assert finders.find(name)
    assert finders.find("plotly/package_data/widgetbundle.js") is None
    assert finders.find(name, find_all=True)


@pytest.mark.django_db
def test_charts_and_their_script_are_loaded_in_their_tab_alone(client, script):
    case = make_case(2, {"query 1": {"a": 3}, "query 2": {"a": 3}})
    for answer in ("ab", "ba"):
        run_with(case, {"query 1": answer})
    client.force_login(case.owner)
    url = reverse("compare", args=[case.pk])
    client.get(url)
    page = client.get(url).content.decode()
    assert "data-chart=" not in page and not re.search(r"\ssrc=\S*plotly", page)
    headers = {"HX-Request": "true", "HX-Target": "compared-tabs"}
    charts = client.get(url, {"tab": "charts"}, headers=headers).content.decode()
    assert charts.count("data-chart=") == 4
