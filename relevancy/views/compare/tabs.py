"""The tabs below the list of queries. The address names the one that is open, and only that one is built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relevancy.hooks import ComparisonTab, Panel, comparison_tabs

if TYPE_CHECKING:
    from .comparison_page import ComparisonPage


def list_tabs(page: ComparisonPage) -> list[ComparisonTab]:
    """Returns the tabs that have something to show, those of optional apps last; none as long as the figures are being computed."""
    return [] if page.figures is None else [*_own_tabs(page), *comparison_tabs(page)]


def _own_tabs(page: ComparisonPage) -> Iterator[ComparisonTab]:
    if len(page.compared_runs) > 2:
        yield ComparisonTab("runs", "All runs", lambda: Panel("compare/_several.html", {"several": page.several}))
    if page.tag_figures:
        yield ComparisonTab("tags", "By tag", lambda: Panel("compare/_tags.html", {}))
    if page.documents_to_rate:
        yield ComparisonTab("rate", "What to rate next", lambda: Panel("compare/_rating_list.html", {}))
    yield ComparisonTab("charts", "Charts", lambda: Panel("compare/_charts.html", {}))
    yield ComparisonTab("figures", "All figures", lambda: Panel("compare/_figures.html", {}))
