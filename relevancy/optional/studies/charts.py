"""The charts of a study: plotly figures that js/charts.js draws, and a table of colours for two knobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go

from relevancy.engines import KnobValue, knob_text
from relevancy.scoring.rounding import format_signed
from relevancy.templatetags import numbers
from relevancy.views.charts import MARGIN, Chart, figure_json
from relevancy.wording import counted

from .space import Kind, Knob, Settings

DIGITS = 3  # decimals of points in a chart
HEAT_BINS = 6
HEAT_CLASSES = (
    *("heat-down-4", "heat-down-3", "heat-down-2", "heat-down-1"),
    "",
    *("heat-up-1", "heat-up-2", "heat-up-3", "heat-up-4"),
)
HEAT_STEPS = 4  # colours of a gain, and as many of a loss


def curves(findings: Mapping[str, Any]) -> Chart:
    """Returns the chart of what the choice is worth after each trial, on the queries that chose and on those that did not."""
    seen, held_out = findings["seen_curve"], findings["cross_fitted_curve"]
    trials = list(range(len(seen)))
    figure = go.Figure()
    for name, values, token, line in (
        ("on the queries that chose", seen, "--ink-3", {"width": 1.5, "dash": "dot", "shape": "hv"}),
        ("on queries that did not choose", held_out, "--accent", {"width": 2, "shape": "hv"}),
    ):
        figure.add_trace(
            go.Scatter(
                name=name,
                x=trials,
                y=_rounded(values),
                mode="lines",
                line=line,
                hovertemplate=f"after trial %{{x}}<br>%{{y:+.1f}} points {name}<extra></extra>",
                meta={"color": token},
            )
        )
    figure.update_layout(
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.14},
        margin={**MARGIN, "t": 32},
        hovermode="closest",
        xaxis={"title": {"text": "trials"}, "showgrid": False, "zeroline": False, "tickformat": "d"},
        yaxis={"title": {"text": "points above the attempt"}, "zeroline": True, "rangemode": "tozero"},
    )
    text = (
        f"After {counted(len(seen) - 1, 'trial')}, the chosen setting is {format_signed(seen[-1], 1)} points better on the "
        f"queries that chose it, and choosing like this gains {format_signed(held_out[-1], 1)} on queries that did not. The space "
        "between is luck."
    )
    return Chart("curves", "What the chosen setting is worth", text, figure_json(figure))


def response(
    knob: Knob,
    findings: Mapping[str, Any],
    settings: Mapping[int, Settings],
    now: KnobValue,
    proposed: KnobValue | None,
    estimates: Sequence[Mapping[str, Any]] = (),
) -> Chart:
    """Returns the chart of a knob: the gain of each trial by the value of the knob, and the mean of neighbouring values with its band,
    or of each text as a bar.

    settings: of the trials by number. now: of the attempt. proposed: another value; None if there is none. estimates: settings that
    were not searched, as `findings.list_estimates` returns them, which are drawn as diamonds and are part of no mean.
    """
    gains = findings["gains"]
    dots = [(values[knob.name], gains[number]) for number, values in settings.items() if _at(gains, number) is not None]
    rows = findings["response"].get(knob.name, [])
    figure = go.Figure()
    _add_means(figure, knob, rows)
    estimated = [(row["settings"][knob.name], row["gain"]) for row in estimates]
    for points, symbol, ending in ((dots, "circle", ""), (estimated, "diamond-open", ", estimated")):
        if points:
            figure.add_trace(
                go.Scatter(
                    x=[_shown(knob, value) for value, _ in points],
                    y=_rounded([gain for _, gain in points]),
                    mode="markers",
                    marker={"size": 4, "opacity": 0.45, "symbol": symbol},
                    hovertemplate=f"{knob.name} %{{x}}: %{{y:+.1f}}{ending}<extra></extra>",
                    meta={"color": "--ink-3"},
                )
            )
    _mark(figure, knob, now, "now", width=1)
    if proposed is not None and proposed != now:
        _mark(figure, knob, proposed, "proposed" if knob.is_text else knob_text(proposed), width=2)
    kind = "category" if knob.is_text else "log" if knob.kind == Kind.LOG else "linear"
    figure.update_layout(
        showlegend=False,
        margin={**MARGIN, "t": 20},
        hovermode="closest",
        xaxis={"type": kind, "showgrid": False, "zeroline": False, **_ticks(knob)},
        yaxis={"zeroline": True, "range": _ends([gain for _, gain in (*dots, *estimated)])},
    )
    best = max(rows, key=lambda row: float(row["mean"]), default=None)
    where = "with" if knob.is_text else "around"
    text = (
        f"{counted(len(dots), 'trial')}; the mean is highest {where} {knob_text(best['value'])}, {format_signed(best['mean'], 1)} "
        f"points ({format_signed(best['low'], 1)} to {format_signed(best['high'], 1)})."
        if best
        else "Too few trials to draw a mean."
    )
    table = [
        (
            knob_text(row["value"]),
            format_signed(row["mean"], 1),
            *(format_signed(row[end], 1) for end in ("low", "high")),
        )
        for row in rows
    ]
    return Chart(f"knob-{knob.name}", knob.name, text, figure_json(figure), ("value", "mean", "from", "to"), table)


def _add_means(figure: go.Figure, knob: Knob, rows: Sequence[Mapping[str, Any]]) -> None:
    """Adds the means of the trials with their bands: a curve, or bars by text."""
    x, means = [_shown(knob, row["value"]) for row in rows], [row["mean"] for row in rows]
    if knob.is_text:
        figure.add_trace(
            go.Bar(
                x=x,
                y=_rounded(means),
                opacity=0.45,
                error_y={
                    "array": _rounded([row["high"] - row["mean"] for row in rows]),
                    "arrayminus": _rounded([row["mean"] - row["low"] for row in rows]),
                },
                hovertemplate=f"{knob.name} %{{x}}: mean %{{y:+.1f}}<extra></extra>",
                meta={"color": "--accent"},
            )
        )
        return
    for key, fill in (("low", None), ("high", "tonexty")):
        figure.add_trace(
            go.Scatter(
                x=x,
                y=_rounded([row[key] for row in rows]),
                mode="lines",
                line={"width": 0},
                fill=fill,
                hoverinfo="skip",
                meta={"color": "--accent", "fill": 0.14},
            )
        )
    figure.add_trace(
        go.Scatter(
            x=x,
            y=_rounded(means),
            mode="lines+markers",
            line={"width": 2},
            marker={"size": 5},
            hovertemplate=f"around {knob.name} %{{x}}: mean %{{y:+.1f}}<extra></extra>",
            meta={"color": "--accent"},
        )
    )


def _mark(figure: go.Figure, knob: Knob, value: KnobValue, text: str, *, width: int) -> None:
    """Adds a vertical line at a value, with a text above it. Shapes on an axis of texts count its places."""
    x = float(knob.place(value)) if knob.is_text else float(value)
    if knob.kind == Kind.LOG and x <= 0:
        return
    figure.add_shape(type="line", x0=x, x1=x, yref="paper", y0=0, y1=1, layer="below", line={"width": width})
    at = float(np.log10(x)) if knob.kind == Kind.LOG else x
    figure.add_annotation(x=at, yref="paper", y=1, yanchor="bottom", text=text, showarrow=False)


def _shown(knob: Knob, value: KnobValue) -> KnobValue:
    """Returns a value as the axis of the knob has it: numbers among texts are texts there."""
    return knob_text(value) if knob.is_text else value


@dataclass(frozen=True)
class HeatCell:
    """The trials with neighbouring values of two knobs. mean: of their gains, in points; None without any. step: of the colours,
    negative for a loss."""

    mean: float | None
    trials: int
    step: int

    @property
    def css_class(self) -> str:
        """Of the table cell."""
        return HEAT_CLASSES[self.step + HEAT_STEPS]


@dataclass(frozen=True)
class HeatMap:
    """Mean gains by the values of two knobs. columns, rows: labels of their steps; the rows begin with the highest."""

    across: str
    down: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[HeatCell]]]


def heat_map(across: Knob, down: Knob, gains: Sequence[float | None], settings: Mapping[int, Settings]) -> HeatMap:
    """Returns the mean gains by the values of two knobs. settings: of the trials by number."""
    x_edges, x_labels = _steps(across)
    y_edges, y_labels = _steps(down)
    found: dict[tuple[int, int], list[float]] = {}
    for number, values in settings.items():
        gain = _at(gains, number)
        if gain is not None:
            place = (_step_of(across, values[across.name], x_edges), _step_of(down, values[down.name], y_edges))
            found.setdefault(place, []).append(gain)
    means = {place: float(np.mean(of_cell)) for place, of_cell in found.items()}
    largest = max((abs(mean) for mean in means.values()), default=0.0)

    def cell(column: int, row: int) -> HeatCell:
        mean = means.get((column, row))
        if mean is None:
            return HeatCell(None, 0, 0)
        step = round(HEAT_STEPS * mean / largest) if numbers.difference(mean) != "0.0" else 0
        return HeatCell(mean, len(found[column, row]), step)

    rows = [
        (label, [cell(column, row) for column in range(len(x_labels))])
        for row, label in reversed(list(enumerate(y_labels)))
    ]
    return HeatMap(across.name, down.name, x_labels, rows)


def _steps(knob: Knob) -> tuple[int, list[str]]:
    """Returns how many steps a knob has in a heat map, with their labels: texts, few values, or equal parts of its range."""
    if knob.is_text or 0 < len(knob.values) <= HEAT_BINS:
        return len(knob.values), [knob_text(value) for value in knob.values]
    if knob.kind == Kind.CHOICES:
        groups = np.array_split(np.array(knob.choices), HEAT_BINS)
        return HEAT_BINS, [f"{knob_text(group[0])}–{knob_text(group[-1])}" for group in groups]
    ends = [knob.value(place / HEAT_BINS) for place in range(HEAT_BINS + 1)]
    return HEAT_BINS, [f"{_brief(float(low))}–{_brief(float(high))}" for low, high in pairwise(ends)]


def _step_of(knob: Knob, value: KnobValue, steps: int) -> int:
    return min(int(knob.position(value) * steps), steps - 1)


def _brief(value: float) -> str:
    return f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}"


def _ticks(knob: Knob) -> dict[str, Any]:
    """The ticks of an axis of a knob: its values if they are few; of orders of magnitude 1, 2 and 5 of each."""
    if knob.is_text:
        return {"categoryorder": "array", "categoryarray": list(map(knob_text, knob.values))}
    if len(knob.values) and len(knob.values) <= HEAT_BINS:
        return {
            "tickmode": "array",
            "tickvals": list(knob.values),
            "ticktext": [knob_text(value) for value in knob.values],
        }
    if knob.kind == Kind.LOG:
        powers = range(int(np.floor(np.log10(knob.low))), int(np.ceil(np.log10(knob.high))) + 1)
        ticks = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
        shown = [tick for tick in ticks if knob.low * 0.999 <= tick <= knob.high * 1.001]
        return {"tickmode": "array", "tickvals": shown, "ticktext": [knob_text(tick) for tick in shown]}
    return {}


def _ends(gains: Sequence[float]) -> list[float]:
    """Returns the ends of the axis of gains: those of nineteen in twenty trials, with 0, so that few bad ones do not hide the rest."""
    if not gains:
        return [-1.0, 1.0]
    low, high = float(np.quantile(gains, 0.05)), max(gains)
    low, high = min(low, 0.0), max(high, 0.0)
    margin = 0.08 * max(high - low, 1.0)
    return [low - margin, high + margin]


def _at(gains: Sequence[float | None], number: int) -> float | None:
    return gains[number] if number < len(gains) else None


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(float(value), DIGITS) for value in values]
