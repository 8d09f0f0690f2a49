"""What the charts of all pages have in common: plotly figures as JSON, which js/charts.js draws with the colours of the theme."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

MARGIN = {"t": 8, "r": 12, "b": 32, "l": 52}


@dataclass(frozen=True)
class Chart:
    """A chart.

    key: stable name. text: what it shows, in a sentence. data: the figure as JSON for js/charts.js.
    columns, table: its numbers; empty if the page has them as a list.
    is_selectable: whether queries can be selected in it, which filters the list.
    """

    key: str
    title: str
    text: str
    data: str
    columns: Sequence[str] = ()
    table: Sequence[Sequence[str]] = ()
    is_selectable: bool = False


def figure_json(figure: go.Figure) -> str:
    """Returns the figure as JSON, without the template of plotly, which is large and has colours of its own."""
    titles = {"font": {"size": 12}, "standoff": 6}
    figure.update_layout(template=None).update_xaxes(title=titles).update_yaxes(title=titles)
    return json.dumps(figure.to_plotly_json(), ensure_ascii=False, separators=(",", ":"))
