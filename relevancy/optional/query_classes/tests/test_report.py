"""The chart of classes of queries."""

import json

import pytest

from relevancy.comparison import TagFigures
from relevancy.optional.query_classes.report import build_chart
from relevancy.statistics import Interval


def figures(tag, difference, p_holm, low=None, high=None):
    interval = None if low is None else Interval(low, high, is_reliable=True)
    return TagFigures(
        tag=tag,
        other=1,
        queries=30,
        score_a=50,
        score_b=50 + difference,
        difference=difference,
        interval=interval,
        p=p_holm,
        p_holm=p_holm,
        wins=1,
        ties=1,
        losses=1,
        gain=None,
    )


DIGITS = figures("digits", -6.1, 0.002, -9.8, -2.4)
LONG = figures("long", 3, 0.03, 1.2, 4.9)
SHORT = figures("short", -9, 0.2, -20, 2)
RARE = figures("rare", 40, None)


def test_the_chart_has_a_dot_and_an_interval_for_each_class():
    chart = build_chart([LONG, DIGITS, SHORT, RARE])
    data = {trace["name"]: trace for trace in json.loads(chart.data)["data"]}
    assert data["Loses"]["x"] == [-6.1]
    assert data["Loses"]["error_x"]["array"] == [pytest.approx(3.7)]
    assert data["Loses"]["error_x"]["arrayminus"] == [pytest.approx(3.7)]
    assert data["Gains"]["y"] == ["long"]
    assert data["Cannot be told from chance"]["y"] == ["short"]
    assert build_chart([RARE]) is None


def test_names_in_the_chart_are_escaped():
    chart = build_chart([figures("<b>", 3, 0.03, 1.2, 4.9)])
    assert json.loads(chart.data)["data"][0]["y"] == ["&lt;b&gt;"]


def test_of_many_classes_those_that_can_be_told_from_chance_are_drawn_first():
    many = [figures(f"tag {number}", 20 + number, 0.9, -10, 60) for number in range(20)]
    data = json.loads(build_chart([*many, LONG]).data)["data"]
    assert [trace["name"] for trace in data] == ["Gains", "Cannot be told from chance"]
    assert data[0]["y"] == ["long"]
    assert len(data[1]["y"]) == 11
