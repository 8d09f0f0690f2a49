"""Bars: solid to the low bound, pale to the high bound, a tick at the score; nothing inline."""

import re

import pytest

from relevancy.templatetags import bars


def shapes(html: str) -> dict[str, dict[str, str]]:
    """class of each rect → its attributes."""
    shapes_by_class = {}
    for attributes in re.findall(r"<rect ([^>]*)/>", html):
        pairs = dict(re.findall(r'([\w-]+)="([^"]*)"', attributes))
        shapes_by_class[pairs.pop("class")] = pairs
    return shapes_by_class


def test_bar_shows_bounds_and_tick() -> None:
    html = bars.bar(61.0, 57, 84)
    drawn = shapes(html)
    assert drawn["bar-certain"]["width"] == "36.5"
    assert (drawn["bar-possible"]["x"], drawn["bar-possible"]["width"]) == ("36.5", "17.3")
    assert drawn["bar-tick"]["x"] == "38.3"
    assert "score-4" in html


@pytest.mark.parametrize("bounds", [(None, None), (97.2, 97.2), (97, 97.4)])
def test_bar_without_bounds_is_solid_to_the_score(bounds: tuple[float | None, float | None]) -> None:
    drawn = shapes(bars.bar(97.2, *bounds))
    assert set(drawn) == {"bar-track", "bar-certain"}
    assert drawn["bar-certain"]["width"] == "62.2"


def test_bar_of_nothing_is_its_track() -> None:
    assert set(shapes(bars.bar(None))) == {"bar-track"}
    assert set(shapes(bars.bar(0))) == {"bar-track"}


@pytest.mark.parametrize(("value", "x"), [(0, "0"), (100, "62.5")])
def test_bar_keeps_the_tick_inside(value: float, x: str) -> None:
    assert shapes(bars.bar(value, 0, 100))["bar-tick"]["x"] == x


def test_bar_is_clamped_for_raw_measures() -> None:
    assert shapes(bars.bar(250))["bar-certain"]["width"] == "64"


def test_score_cell_prints_number_and_range() -> None:
    html = bars.score_cell(61.05, 57, 84)
    assert "<b>61.1</b>" in html
    assert '<span class="range">57–84</span>' in html


def test_score_cell_hides_a_narrow_range() -> None:
    assert '<span class="range"></span>' in bars.score_cell(61, 60.9, 61.2)


def test_score_cell_dimmed_with_note() -> None:
    html = bars.score_cell(73.4, 60, 80, dim=True, note="was <30>")
    assert '<b class="muted">73.4</b>' in html
    assert '<span class="range">was &lt;30&gt;</span>' in html


def test_score_cell_not_scoreable_has_an_empty_bar_and_says_why() -> None:
    html = bars.score_cell(None, why='nothing "rated"')
    assert 'title="nothing &quot;rated&quot;"' in html
    assert set(shapes(html)) == {"bar-track"}
    assert bars.score_cell(float("nan")).count("–") == 1


def test_score_cell_failed_has_no_bar() -> None:
    html = bars.score_cell(None, failed=True)
    assert "<svg" not in html
    assert "failed" in html


def test_big_score_splits_the_decimal() -> None:
    html = bars.big_score(61.0, 57, 84)
    assert "<b>61<small>.0</small></b>" in html
    assert '<span class="range">(57–84)</span>' in html


def test_big_score_without_score_or_range() -> None:
    assert "–</b>" in bars.big_score(None)
    assert "range" not in bars.big_score(61, 61, 61)
    assert '<span class="range">run 30</span>' in bars.big_score(61, 57, 84, note="run 30", dim=True)


@pytest.mark.parametrize(
    ("value", "arrow", "html"),
    [
        (6.2, True, '<span class="delta up">▲ +6.2</span>'),
        (-2.9, True, '<span class="delta down">▼ −2.9</span>'),
        (-2.9, False, '<span class="delta down">−2.9</span>'),
        (-0.0, True, '<span class="muted">0.0</span>'),
        (None, True, '<span class="muted">–</span>'),
    ],
)
def test_difference_cell_signs(value: float | None, arrow: bool, html: str) -> None:
    assert bars.difference_cell(value, arrow=arrow) == html


def test_progress_shows_what_failed() -> None:
    html = bars.progress(412, 1000, 12, "Run <31>")
    drawn = shapes(html)
    assert drawn["done"]["width"] == "40"
    assert (drawn["failed"]["x"], drawn["failed"]["width"]) == ("40", "1.2")
    assert 'aria-valuenow="412"' in html
    assert 'aria-valuetext="412 of 1,000"' in html
    assert "Run &lt;31&gt;" in html


@pytest.mark.parametrize(("done", "total", "width"), [(0, 0, "0"), (5, 0, "0"), (30, 24, "100"), (None, None, "0")])
def test_progress_at_the_edges(done: object, total: object, width: str) -> None:
    assert shapes(bars.progress(done, total))["done"]["width"] == width
