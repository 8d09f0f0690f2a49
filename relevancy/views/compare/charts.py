"""The charts of a comparison, built as plotly figures; js/charts.js draws them with the colours of the theme."""

from collections.abc import Mapping, Sequence
from html import escape
from operator import attrgetter

import plotly.graph_objects as go

from relevancy import comparison
from relevancy.templatetags import numbers
from relevancy.views.charts import MARGIN, Chart, figure_json
from relevancy.wording import counted

from .query_table import PresentQuery

MAX_TEXT = 60  # characters of a query's text in a label


def build_charts(
    rows: Sequence[comparison.QueryRow], queries: Mapping[int, PresentQuery], first: str, second: str
) -> list[Chart]:
    """Returns the charts: of the compared queries, and of the search times; each one only if there is something to draw.

    queries: the present queries by id. first, second: the names of both runs.
    """
    charts = []
    compared = [row for row in rows if row.difference is not None]
    texts = {
        row.query_id: escape(row.text if len(row.text) <= MAX_TEXT else f"{row.text[: MAX_TEXT - 1]}…")
        for row in compared
    }
    labels = {
        row.query_id: f"{texts[row.query_id]}<br>{comparison.describe_change(row, first, second)}" for row in compared
    }
    for content in comparison.list_charts(rows, first, second):
        text = content.text
        if content.distribution:
            figure = _overlaid(content.distribution, first, second)
        elif content.key == "scatter":
            figure = _scatter(compared, queries, labels, first, second)
        else:
            figure = _sorted_bars(compared, queries, texts, labels)
            text += " In the rows below the bars, a fuller colour means that more of the result list stayed."
        is_selectable = content.distribution is None
        data = figure_json(figure)
        charts.append(Chart(content.key, content.title, text, data, content.columns, content.table, is_selectable))
    return charts


def build_large_charts(figures: comparison.LargeFigures, other: int, first: str, second: str) -> list[Chart]:
    """Returns the charts of runs of large cases, whose queries are counted in steps."""
    if not figures.queries:
        return []
    pair = figures.pairs[other - 1]
    counts, width = pair.differences, 200 // len(pair.differences)
    edges = range(-100, 100, width)
    bars = go.Figure()
    for name, token, is_gain in (("Better", "--up", True), ("Worse", "--down", False)):
        shown = [(edge, count) for edge, count in zip(edges, counts, strict=True) if (edge >= 0) == is_gain]
        x, y = [edge + width / 2 for edge, _ in shown], [count for _, count in shown]
        bars.add_trace(go.Bar(name=name, x=x, y=y, meta={"color": token}))
    bars.update_layout(
        showlegend=False,
        margin=MARGIN,
        bargap=0.05,
        xaxis={"title": {"text": "difference in points"}},
        yaxis={"title": {"text": "queries"}, "type": "log"},
    )
    steps = [(f"{edge} to {edge + width}", f"{count:,}") for edge, count in zip(edges, counts, strict=True)]
    of_scores = figures.distribute_scores(other)
    changed = counted(pair.wins + pair.losses, "query", "queries")
    text = f"Differences of {changed} in steps of {width} points, on a logarithmic scale; {pair.ties:,} others scored the same."
    return [
        Chart("differences", "Differences", text, figure_json(bars), ("difference", "queries"), steps),
        Chart(
            "scores",
            "Distribution of scores",
            f"Scores of {figures.queries:,} queries in steps of 10 points.",
            figure_json(_overlaid(of_scores, first, second)),
            (of_scores.unit, first, second),
            of_scores.table,
        ),
    ]


def _sorted_bars(
    rows: Sequence[comparison.QueryRow],
    queries: Mapping[int, PresentQuery],
    texts: Mapping[int, str],
    labels: Mapping[int, str],
) -> go.Figure:
    """Bars of the differences, largest gain first; the axis is symmetric. Below each bar, the fuller the colour, the more of the result
    list stayed: one row for Jaccard, one for the rank-biased overlap."""
    ordered = sorted(rows, key=attrgetter("difference"), reverse=True)
    figure = go.Figure()
    for name, token, is_gain in (("Better", "--up", True), ("Not better", "--down", False)):
        shown = [(position, row) for position, row in enumerate(ordered, 1) if ((row.difference or 0.0) > 0) == is_gain]
        figure.add_trace(
            go.Bar(
                name=name,
                x=[position for position, _ in shown],
                y=[row.difference for _, row in shown],
                customdata=[queries[row.query_id].case_query_id for _, row in shown],
                hovertext=[labels[row.query_id] for _, row in shown],
                hoverinfo="text",
                meta={"color": token},
            )
        )
    _add_strips(figure, ordered, queries, texts)
    limit = max([10.0, *[abs(row.difference or 0.0) for row in rows]]) * 1.05
    figure.update_layout(
        showlegend=False,
        margin=MARGIN,
        bargap=0.15 if len(rows) < 200 else 0,
        xaxis={
            "title": {"text": "queries, largest gain first"},
            "showticklabels": False,
            "showgrid": False,
            "zeroline": False,
            "anchor": "y3",
        },
        barmode="overlay",
        selectdirection="h",
        yaxis={"title": {"text": "points"}, "range": [-limit, limit], "zeroline": True, "domain": [0.26, 1]},
        yaxis2=_strip("Jaccard", 0.13),
        yaxis3=_strip("RBO", 0.0),
    )
    return figure


def _add_strips(
    figure: go.Figure,
    ordered: Sequence[comparison.QueryRow],
    queries: Mapping[int, PresentQuery],
    texts: Mapping[int, str],
) -> None:
    """Adds a row of colours for each measure of overlap below the bars."""
    for axis, measure, values in (
        ("y2", "Jaccard", [row.jaccard for row in ordered]),
        ("y3", "Rank-biased overlap", [row.rbo for row in ordered]),
    ):
        figure.add_trace(
            go.Bar(
                name=measure,
                x=list(range(1, len(ordered) + 1)),
                y=[1] * len(ordered),
                yaxis=axis,
                customdata=[queries[row.query_id].case_query_id for row in ordered],
                hovertext=[
                    f"{texts[row.query_id]}<br>{measure} {numbers.coefficient(value)}"
                    for row, value in zip(ordered, values, strict=True)
                ],
                hoverinfo="text",
                marker={"opacity": [value or 0.0 for value in values], "line": {"width": 0}},
                meta={"color": "--accent"},
            )
        )


def _scatter(
    rows: Sequence[comparison.QueryRow],
    queries: Mapping[int, PresentQuery],
    labels: dict[int, str],
    first: str,
    second: str,
) -> go.Figure:
    """The score before against the score after; above the diagonal the query has become better."""
    figure = go.Figure(
        go.Scatter(
            x=[row.score_a for row in rows],
            y=[row.score_b for row in rows],
            mode="markers",
            marker={"size": 7, "opacity": 0.75},
            customdata=[queries[row.query_id].case_query_id for row in rows],
            hovertext=[labels[row.query_id] for row in rows],
            hoverinfo="text",
            meta={"color": "--accent"},
        )
    )
    figure.add_shape(type="line", x0=0, y0=0, x1=100, y1=100, layer="below", line={"width": 1})
    figure.update_layout(
        showlegend=False,
        margin=MARGIN,
        xaxis={"title": {"text": first}, "range": [-3, 103], "zeroline": False},
        yaxis={"title": {"text": second}, "range": [-3, 103], "zeroline": False},
    )
    return figure


def _overlaid(distribution: comparison.Distribution, first: str, second: str) -> go.Figure:
    """Two distributions over the same steps, the second one in front."""
    unit, steps, before, after = distribution.unit, distribution.steps, distribution.before, distribution.after
    figure = go.Figure()
    for name, counts, token, width in ((first, before, "--ink-3", 0.9), (second, after, "--accent", 0.5)):
        figure.add_trace(
            go.Bar(
                name=escape(name),
                x=list(steps),
                y=list(counts),
                width=width,
                hovertemplate=f"%{{x}} {unit}<br>{escape(name)}: %{{y:,}}<extra></extra>",
                marker={"opacity": 0.75},
                meta={"color": token},
            )
        )
    figure.update_layout(
        barmode="overlay",
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.12},
        margin={**MARGIN, "t": 28},
        xaxis={"title": {"text": unit}, "type": "category", "showgrid": False},
        yaxis={"title": {"text": "queries"}, "rangemode": "tozero"},
    )
    return figure


def _strip(name: str, bottom: float) -> dict[str, object]:
    """An axis below the bars, for a row of colours."""
    ticks = {"tickmode": "array", "tickvals": [0.5], "ticktext": [name], "ticks": ""}
    return {**ticks, "domain": [bottom, bottom + 0.1], "range": [0, 1], "showgrid": False, "zeroline": False}
