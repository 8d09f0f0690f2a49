"""Small charts: where the points lie, gaps, empty and single points, words for those who do not see them."""

import re
from datetime import UTC, date, datetime

from relevancy.templatetags import charts


def points(*scores: float | None, **more: object) -> list[dict[str, object]]:
    return [
        {"label": f"run {i}", "when": "today", "score": s, "low": s, "high": s, **more} for i, s in enumerate(scores, 1)
    ]


def test_sparkline_uses_its_own_range() -> None:
    html = charts.sparkline([38.2, 50, 61.0])
    assert '<path d="M2 20 L54 10.7 L106 2"/>' in html
    assert 'aria-label="Last 3 runs, from 38.2 to 61.0"' in html


def test_sparkline_is_at_least_twenty_points_high() -> None:
    assert '<path d="M2 12.4 L106 9.6"/>' in charts.sparkline([70.2, 73.4])
    assert '<path d="M2 11 L106 11"/>' in charts.sparkline([44.7, 44.7])


def test_sparkline_of_one_and_of_none() -> None:
    one = charts.sparkline([61.0])
    assert "<path" not in one
    assert 'cx="106" cy="11"' in one
    assert "no runs" in charts.sparkline([])
    assert charts.sparkline([None, float("nan")]) == ""


def test_history_chart_draws_line_band_and_dots() -> None:
    given = [
        {"label": "run 1", "when": date(2026, 10, 4), "score": 0, "low": 0, "high": 50},
        {"label": "run 2", "when": datetime(2026, 11, 20, 10, tzinfo=UTC), "score": 100, "low": 60, "high": 100},
    ]
    html = charts.history_chart(given)
    assert '<path class="line" d="M0 100 L100 0"/>' in html
    assert '<path class="band" d="M0 50 L100 0 L100 40 L0 100 Z"/>' in html
    assert '<circle class="dot" cx="0%" cy="78" r="2.25"><title>run 1: 0.0 (0–50)</title>' in html
    assert '<circle class="now" cx="100%" cy="18" r="5">' in html
    assert ">run 1 · 4 Oct<" in html
    assert ">run 2 · 20 Nov<" in html
    assert 'role="img" aria-label="Score. Last 2 runs, from 0.0 to 100.0"' in html


def test_history_chart_leaves_a_gap_where_a_score_is_missing() -> None:
    html = charts.history_chart(points(10, 20, None, 40, 50))
    assert re.findall(r'class="line" d="([^"]*)"', html) == ["M0 90 L25 80", "M75 60 L100 50"]
    assert html.count("<circle") == 4


def test_history_chart_without_newest_score_marks_the_last_known() -> None:
    assert '<circle class="now" cx="50%"' in charts.history_chart(points(10, 20, None))


def test_history_chart_of_one_point_is_a_dot_at_the_right() -> None:
    html = charts.history_chart(points(61))
    assert 'class="line"' not in html
    assert '<circle class="now" cx="100%"' in html
    assert html.count(">run 1 · today<") == 1
    assert "One run, 61.0" in html


def test_history_chart_of_nothing_says_so() -> None:
    assert ">No scores yet<" in charts.history_chart([])
    assert ">Nothing rated<" in charts.history_chart(points(None), empty="Nothing rated")


def test_history_chart_links_its_dots() -> None:
    html = charts.history_chart(points(10, 20, href="/run/1?a=1&b=2"))
    assert html.count('<a href="/run/1?a=1&amp;b=2"') == 2
    assert 'role="group"' in html


def test_history_chart_drops_dots_when_crowded() -> None:
    assert charts.history_chart(points(*range(100))).count("<circle") == 1


def test_history_chart_flags_and_escapes_notes() -> None:
    html = charts.history_chart(points(10, 20, 30), [{"at": 1, "text": "<b>Solr</b>"}, {"at": 9, "text": "gone"}])
    assert '<svg x="50%" overflow="visible"><title>&lt;b&gt;Solr&lt;/b&gt;</title>' in html
    assert "gone" not in html


def test_history_chart_escapes_labels_and_titles() -> None:
    html = charts.history_chart(points(10, 20, title="<script>"))
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_history_chart_stays_inside_for_raw_measures() -> None:
    assert 'cy="18"' in charts.history_chart(points(250))


def test_history_chart_notes_at_one_run_stand_beside_each_other() -> None:
    points = [{"label": f"run {number}", "score": 50} for number in range(3)]
    notes = [
        {"at": 1, "text": "one", "letter": "C"},
        {"at": 1, "text": "two", "letter": "D"},
        {"at": 2, "text": "three", "letter": "E"},
        {"at": 2, "text": "four & more", "letter": "AF", "href": "/notes/?x=1&y=2"},
    ]
    html = charts.history_chart(points, notes)
    assert re.findall(r'class="flag" x="(-?\d+)"', html) == ["-7", "8", "-7", "-22"]
    assert re.findall(r">([A-Z]+)</text>", html) == ["C", "D", "E", "AF"]
    assert '<a href="/notes/?x=1&amp;y=2" hx-get="/notes/?x=1&amp;y=2" hx-target="#dialog"' in html
    assert 'aria-label="AF: four &amp; more"' in html
