"""The charts of a comparison, built as plotly figures; js/charts.js draws them with the colours of the theme."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from relevancy import comparison
from relevancy.templatetags import numbers

MAX_TEXT = 60  # characters of a query's text in a label
MARGIN = {"t": 8, "r": 12, "b": 32, "l": 52}


@dataclass(frozen=True)
class Chart:
    """A chart. key: stable name; text: what it shows, in a sentence; data: the figure as JSON for js/charts.js."""

    key: str
    title: str
    text: str
    data: str


def build_charts(
    rows: Sequence[comparison.QueryRow], entry_ids: Callable[[int], int], first: str, second: str
) -> list[Chart]:
    """Returns the charts of the compared queries; none without any. entry_ids: returns the id of the case query of a query."""
    compared = [row for row in rows if row.difference is not None]
    if not compared:
        return []
    labels = {row.query_id: _label(row, first, second) for row in compared}
    return [_sorted_bars(compared, entry_ids, labels), _scatter(compared, entry_ids, labels, first, second)]


def _label(row: comparison.QueryRow, first: str, second: str) -> str:
    text = row.text if len(row.text) <= MAX_TEXT else row.text[: MAX_TEXT - 1] + "…"
    scores = f"{first} {numbers.score(row.score_a)} → {second} {numbers.score(row.score_b)}"
    return f"{escape(text)}<br>{scores} ({numbers.difference(row.difference)})"


def _sorted_bars(rows: Sequence[comparison.QueryRow], entry_ids: Callable[[int], int], labels: dict[int, str]) -> Chart:
    """Bars of the differences, largest gain first; the axis is symmetric."""
    ordered = sorted(rows, key=lambda row: -(row.difference or 0.0))
    figure = go.Figure()
    for name, token, is_shown in (
        ("Better", "--up", _is_gain),
        ("Not better", "--down", lambda row: not _is_gain(row)),
    ):
        shown = [(position, row) for position, row in enumerate(ordered, 1) if is_shown(row)]
        figure.add_trace(
            go.Bar(
                name=name,
                x=[position for position, _ in shown],
                y=[row.difference for _, row in shown],
                customdata=[entry_ids(row.query_id) for _, row in shown],
                hovertext=[labels[row.query_id] for _, row in shown],
                hoverinfo="text",
                meta={"color": token},
            )
        )
    limit = max(10.0, *(abs(row.difference or 0.0) for row in rows)) * 1.05
    figure.update_layout(
        showlegend=False,
        margin=MARGIN,
        bargap=0.15 if len(rows) < 200 else 0,
        xaxis={
            "title": _title("queries, largest gain first"),
            "showticklabels": False,
            "showgrid": False,
            "zeroline": False,
        },
        yaxis={"title": _title("points"), "range": [-limit, limit], "zeroline": True},
    )
    gains, losses = sum(map(_is_gain, rows)), sum((row.difference or 0.0) < 0 for row in rows)
    text = f"Differences of {len(rows):,} queries, largest gain first: {gains:,} above zero, {losses:,} below."
    return Chart("differences", "Difference per query", text, _to_json(figure))


def _scatter(
    rows: Sequence[comparison.QueryRow],
    entry_ids: Callable[[int], int],
    labels: dict[int, str],
    first: str,
    second: str,
) -> Chart:
    """The score before against the score after; above the diagonal the query has become better."""
    figure = go.Figure(
        go.Scatter(
            x=[row.score_a for row in rows],
            y=[row.score_b for row in rows],
            mode="markers",
            marker={"size": 7, "opacity": 0.75},
            customdata=[entry_ids(row.query_id) for row in rows],
            hovertext=[labels[row.query_id] for row in rows],
            hoverinfo="text",
            meta={"color": "--accent"},
        )
    )
    figure.add_shape(type="line", x0=0, y0=0, x1=100, y1=100, layer="below", line={"width": 1})
    figure.update_layout(
        showlegend=False,
        margin=MARGIN,
        xaxis={"title": _title(first), "range": [-3, 103], "zeroline": False},
        yaxis={"title": _title(second), "range": [-3, 103], "zeroline": False},
    )
    above = sum(map(_is_gain, rows))
    text = f"Score in {first} against score in {second}: {above:,} of {len(rows):,} queries lie above the diagonal."
    return Chart("scatter", f"{second} against {first}", text, _to_json(figure))


def _title(text: str) -> dict[str, object]:
    return {"text": text, "font": {"size": 12}, "standoff": 6}


def _is_gain(row: comparison.QueryRow) -> bool:
    return (row.difference or 0.0) > 0


def _to_json(figure: go.Figure) -> str:
    """Returns the figure as JSON, without the template of plotly, which is large and has colours of its own."""
    figure.update_layout(template=None)
    return json.dumps(figure.to_plotly_json(), ensure_ascii=False, separators=(",", ":"))
