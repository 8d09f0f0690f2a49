"""Which class of queries gains and which one fails, of the figures for each tag that the comparison has."""

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from relevancy.comparison import TagFigures
from relevancy.scoring.rounding import format_p, format_rounded, format_signed
from relevancy.statistics import ALPHA
from relevancy.views.charts import MARGIN, Chart, figure_json
from relevancy.wording import counted

MAX_NAMED = 3  # classes of a sentence, in each direction
MAX_DRAWN = 20


def is_shown(figures: TagFigures) -> bool:
    """Returns whether the difference of a class can be told from chance, after the correction for the number of classes."""
    return figures.p_holm is not None and figures.p_holm < ALPHA


def describe_classes(classes: Sequence[TagFigures]) -> str:
    """Returns in a sentence which classes lose and which ones gain, largest difference first, and in a second one what is not known."""
    tested = [figures for figures in classes if figures.p_holm is not None]
    if not tested:
        return f"No class has enough queries for a test: {_named([f'“{figures.tag}”' for figures in classes])}."
    shown = sorted(filter(is_shown, tested), key=lambda figures: -abs(figures.difference))
    parts = [
        _named([_describe(figures, verb) for figures in found])
        for verb, found in (
            ("lose", [figures for figures in shown if figures.difference < 0]),
            ("gain", [figures for figures in shown if figures.difference > 0]),
        )
        if found
    ]
    rest = len(tested) - len(shown)
    if not shown:
        sentence = f"{'The only class does not differ' if rest == 1 else f'None of the {rest} classes differs'} more than so few "
        sentence += "queries can show"
    else:
        sentence = f"Queries tagged {', and '.join(parts)}"
        if rest:
            others = "the other class does not differ" if rest == 1 else "no other class differs"
            sentence += f"; {others} more than so few queries can show"
    untested = len(classes) - len(tested)
    if untested:
        sentence += f". {counted(untested, 'class has', 'classes have')} too few queries for a test"
    return f"{sentence}."


def _describe(figures: TagFigures, verb: str) -> str:
    interval = figures.interval
    span = f" ({format_signed(interval.low, 1)} to {format_signed(interval.high, 1)})" if interval else ""
    return f"“{figures.tag}” {verb} {format_rounded(abs(figures.difference), 1)} points{span}"


def _named(texts: Sequence[str]) -> str:
    rest = len(texts) - MAX_NAMED
    return ", ".join(texts[:MAX_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")


def build_chart(classes: Sequence[TagFigures]) -> Chart | None:
    """Returns the differences of the classes with their intervals, largest loss first; None if no class has an interval."""
    with_interval = [figures for figures in classes if figures.interval is not None]
    drawn = sorted(
        sorted(with_interval, key=lambda figures: -abs(figures.difference))[:MAX_DRAWN],
        key=lambda figures: figures.difference,
    )
    if not drawn:
        return None
    figure = go.Figure()
    for name, token, group in (
        ("Loses", "--down", [figures for figures in drawn if is_shown(figures) and figures.difference < 0]),
        ("Gains", "--up", [figures for figures in drawn if is_shown(figures) and figures.difference > 0]),
        ("Cannot be told from chance", "--ink-3", [figures for figures in drawn if not is_shown(figures)]),
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
            "categoryarray": [_label(figures) for figures in reversed(drawn)],
            "showgrid": False,
            "type": "category",
        },
    )
    left_out = len(with_interval) - len(drawn)
    text = "The difference of each class with its 95 % interval, which is not corrected; coloured if it can be told from chance "
    text += "after the correction."
    if left_out:
        text += f" {counted(left_out, 'class', 'classes')} with smaller differences left out."
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
