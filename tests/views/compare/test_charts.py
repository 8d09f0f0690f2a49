"""The charts of the comparison, as plotly draws them."""

import json

import pytest
from django.contrib.staticfiles import finders
from django.urls import reverse

from relevancy import comparison
from relevancy.views.compare import pages
from relevancy.views.compare.charts import build_charts
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


@pytest.fixture
def charts():
    return {chart.key: chart for chart in build_charts(ROWS, lambda query_id: query_id * 10, "Run 1", "Run 2")}


def test_bars_are_sorted_and_name_their_queries(charts):
    figure = json.loads(charts["differences"].data)
    gains, others = figure["data"]
    assert (gains["y"], gains["customdata"], gains["x"]) == ([60.5], [20], [1])
    assert (others["y"], others["customdata"], others["x"]) == ([0.0, -20.0], [30, 10], [2, 3])
    assert gains["hovertext"] == ["better<br>Run 1 10.0 → Run 2 70.5 (+60.5)"]
    low, high = figure["layout"]["yaxis"]["range"]
    assert low == -high
    assert charts["differences"].text == "Differences of 3 queries, largest gain first: 1 above zero, 1 below."


def test_labels_are_escaped(charts):
    assert "<a href" not in charts["scatter"].data
    assert "&lt;a href" in charts["scatter"].data


def test_scatter_has_the_scores_of_both_runs(charts):
    (trace,) = json.loads(charts["scatter"].data)["data"]
    assert (trace["x"], trace["y"]) == ([60.0, 10.0, 50.0], [40.0, 70.5, 50.0])


def test_no_charts_without_compared_queries():
    assert build_charts(ROWS[3:], lambda query_id: query_id, "Run 1", "Run 2") == []


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
def test_charts_of_many_queries_are_loaded_after_the_page(client, script, monkeypatch):
    case = make_case(2, {"query 1": {"a": 3}, "query 2": {"a": 3}})
    for answer in ("ab", "ba"):
        run_with(case, {"query 1": answer})
    client.force_login(case.owner)
    url = reverse("compare", args=[case.pk])
    client.get(url)
    assert "data-chart=" in client.get(url).content.decode()
    monkeypatch.setattr(pages, "MAX_INLINE_QUERIES", 1)
    page = client.get(url).content.decode()
    assert "data-chart=" not in page
    assert ", load" in page
    charts = client.get(url, headers={"HX-Request": "true", "HX-Target": "compared-charts"}).content.decode()
    assert charts.count("data-chart=") == 2
    assert ", load" not in charts
