"""The charts of a comparison as paths of SVG, which need no script: for the report that is read without a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from relevancy.comparison import ChartContent, Distribution, QueryRow, list_charts

WIDTH, HEIGHT = 600.0, 200.0  # of the plotted area, in units of the view box
MAX_BARS = 300  # of more queries, so many are drawn, evenly spaced in their order
MAX_POINTS = 1_000  # of more queries, the density is drawn
CELLS = 50  # of the density, in each direction
SHADES = 4  # of the density


@dataclass(frozen=True)
class Shape:
    """Rectangles or points of one kind as the data of a `path`. kind: their class. opacity: 0 to 1."""

    kind: str
    path: str
    opacity: float = 1.0


@dataclass(frozen=True)
class Label:
    """A text at a position of the view box. anchor: "start", "middle" or "end"."""

    x: float
    y: float
    text: str
    anchor: str = "middle"


@dataclass(frozen=True, kw_only=True)
class SvgChart(ChartContent):
    """A chart with its drawing. lines: axes."""

    shapes: Sequence[Shape]
    lines: str
    labels: Sequence[Label]
    legend: Sequence[tuple[str, str]] = ()


def build_svg_charts(rows: Sequence[QueryRow], first: str, second: str) -> list[SvgChart]:
    """Returns the charts of the page. first, second: the names of the baseline and of the other run."""
    compared = [row for row in rows if row.difference is not None]
    charts = []
    for content in list_charts(rows, first, second):
        if content.distribution:
            charts.append(_overlaid(content, content.distribution, first, second))
        elif content.key == "scatter":
            charts.append(_scatter(content, compared, first))
        else:
            charts.append(_differences(content, compared))
    return charts


def _differences(content: ChartContent, rows: Sequence[QueryRow]) -> SvgChart:
    """Bars of the differences, largest gain first; the axis is symmetric."""
    values = sorted((row.difference or 0.0 for row in rows), reverse=True)
    count = min(len(values), MAX_BARS)
    drawn = [values[round(index * (len(values) - 1) / max(1, count - 1))] for index in range(count)]
    limit = max(10.0, *(abs(value) for value in values))
    step = WIDTH / count
    width = step * (0.85 if count < 100 else 1)

    def bars(shown: Callable[[float], bool]) -> str:
        return "".join(
            _rectangle(index * step, HEIGHT / 2 * (1 - max(value, 0.0) / limit), width, HEIGHT / 2 * abs(value) / limit)
            for index, value in enumerate(drawn)
            if shown(value)
        )

    return SvgChart(
        **vars(content),
        shapes=[Shape("gain", bars(lambda value: value > 0)), Shape("loss", bars(lambda value: value < 0))],
        lines=f"M0 {_number(HEIGHT / 2)}H{_number(WIDTH)}",
        labels=[
            Label(-6, 4, f"+{limit:.0f}", "end"),
            Label(-6, HEIGHT / 2 + 4, "0", "end"),
            Label(-6, HEIGHT, f"−{limit:.0f}", "end"),
        ],
    )


def _scatter(content: ChartContent, rows: Sequence[QueryRow], first: str) -> SvgChart:
    """The score before against the score after; above the diagonal the query has become better."""
    points = [(row.score_a or 0.0, row.score_b or 0.0) for row in rows]
    dots = "".join(f"M{_number(x / 100 * WIDTH)} {_number(HEIGHT * (1 - y / 100))}h0" for x, y in points)
    return SvgChart(
        **vars(content),
        shapes=_density(points) if len(points) > MAX_POINTS else [Shape("points", dots, 0.6)],
        lines=f"M0 {_number(HEIGHT)}L{_number(WIDTH)} 0M0 0V{_number(HEIGHT)}H{_number(WIDTH)}",
        labels=[
            Label(-6, 4, "100", "end"),
            Label(-6, HEIGHT, "0", "end"),
            Label(WIDTH / 2, HEIGHT + 16, first),
            Label(WIDTH, HEIGHT + 16, "100", "end"),
        ],
    )


def _density(points: Sequence[tuple[float, float]]) -> list[Shape]:
    """Squares of the plotted area, the darker the more points they hold."""
    counts: dict[tuple[int, int], int] = {}
    for x, y in points:
        cell = (min(CELLS - 1, int(x / 100 * CELLS)), min(CELLS - 1, int(y / 100 * CELLS)))
        counts[cell] = counts.get(cell, 0) + 1
    most = max(counts.values())
    width, height = WIDTH / CELLS, HEIGHT / CELLS
    paths = [""] * SHADES
    for (column, line), count in counts.items():
        shade = -(-SHADES * count // most) - 1
        paths[shade] += _rectangle(column * width, HEIGHT - (line + 1) * height, width, height)
    return [Shape("cells", path, (shade + 1) / SHADES) for shade, path in enumerate(paths) if path]


def _overlaid(content: ChartContent, distribution: Distribution, first: str, second: str) -> SvgChart:
    """Two distributions over the same steps, the second one in front."""
    most = max(1, *distribution.before, *distribution.after)
    step = WIDTH / len(distribution.steps)

    def bars(counts: Sequence[int], width: float) -> str:
        return "".join(
            _rectangle(
                (index + (1 - width) / 2) * step, HEIGHT * (1 - count / most), width * step, HEIGHT * count / most
            )
            for index, count in enumerate(counts)
            if count
        )

    ends = [(0, distribution.steps[0]), (len(distribution.steps) - 1, distribution.steps[-1])][
        : len(distribution.steps)
    ]
    return SvgChart(
        **vars(content),
        shapes=[Shape("before", bars(distribution.before, 0.9)), Shape("after", bars(distribution.after, 0.5))],
        lines=f"M0 {_number(HEIGHT)}H{_number(WIDTH)}",
        labels=[
            Label(-6, 4, f"{most:,}", "end"),
            Label(-6, HEIGHT, "0", "end"),
            *(Label((index + 0.5) * step, HEIGHT + 16, f"{name} {distribution.unit}") for index, name in ends),
        ],
        legend=[("before", first), ("after", second)],
    )


def _rectangle(x: float, y: float, width: float, height: float) -> str:
    return f"M{_number(x)} {_number(y)}h{_number(width)}v{_number(height)}h-{_number(width)}z"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
