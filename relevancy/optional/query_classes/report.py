"""The chart of which class of queries gains and which one fails, of the figures for each tag that the comparison has."""

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from relevancy.comparison import TagFigures
from relevancy.scoring.rounding import format_p, format_signed
from relevancy.views.charts import MARGIN, Chart, figure_json
from relevancy.wording import counted

MAX_DRAWN = 12  # whose names have room


def build_chart(classes: Sequence[TagFigures]) -> Chart | None:
    """Returns the differences of the classes with their intervals, largest loss first; None if no class has an interval."""
    with_interval = [figures for figures in classes if figures.interval is not None]
    drawn = sorted(
        sorted(with_interval, key=lambda figures: (not figures.is_shown, -abs(figures.difference)))[:MAX_DRAWN],
        key=lambda figures: figures.difference,
    )
    if not drawn:
        return None
    figure = go.Figure()
    for name, token, group in (
        ("Loses", "--down", [figures for figures in drawn if figures.is_shown and figures.difference < 0]),
        ("Gains", "--up", [figures for figures in drawn if figures.is_shown and figures.difference > 0]),
        ("Cannot be told from chance", "--ink-3", [figures for figures in drawn if not figures.is_shown]),
    ):
        if group:
            figure.add_trace(_dots(name, token, group))
    figure.update_layout(
        showlegend=False,
        margin={**MARGIN, "l": 8},
        xaxis={"title": {"text": "difference in points"}, "zeroline": True},
        yaxis={
            "automargin": True,
            "categoryorder": "array",
            "dtick": 1,
            "categoryarray": [_label(figures) for figures in reversed(drawn)],
            "showgrid": False,
            "type": "category",
        },
    )
    left_out = len(with_interval) - len(drawn)
    text = "The difference of each class with its 95 % interval, which is not corrected; coloured if it can be told from chance "
    text += "after the correction."
    if left_out:
        text += f" {counted(left_out, 'class', 'classes')} with smaller or less sure differences left out."
    return Chart("classes", "Differences by class", text, figure_json(figure))


def _label(figures: TagFigures) -> str:
    return escape(figures.tag)


def _dots(name: str, token: str, group: Sequence[TagFigures]) -> go.Scatter:
    points = [(figures, figures.interval) for figures in group if figures.interval is not None]
    return go.Scatter(
        name=name,
        mode="markers",
        x=[figures.difference for figures, _ in points],
        y=[_label(figures) for figures, _ in points],
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [interval.high - figures.difference for figures, interval in points],
            "arrayminus": [figures.difference - interval.low for figures, interval in points],
            "thickness": 1.5,
            "width": 4,
        },
        marker={"size": 8},
        hovertext=[
            f"{_label(figures)}: {format_signed(figures.difference, 1)} "
            f"({format_signed(interval.low, 1)} to {format_signed(interval.high, 1)})<br>"
            f"{counted(figures.queries, 'query', 'queries')}, p {format_p(figures.p_holm or 0)} corrected"
            for figures, interval in points
        ],
        hoverinfo="text",
        meta={"color": token},
    )
