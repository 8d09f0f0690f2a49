"""The list of queries of a comparison: one page of it, with links to open a query and to sort."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from django.core.paginator import Page, Paginator

from relevancy import comparison
from relevancy.models import Run
from relevancy.wording import counted

from .query_filter import ComparedFilter

PAGE_SIZE = 50
CHANGE_TEXTS = {0: "same", 1: "order", 2: "documents"}


class PresentQuery(Protocol):
    """What the list needs of a query of the case."""

    @property
    def case_query_id(self) -> int: ...

    @property
    def text(self) -> str: ...

    @property
    def tags(self) -> Sequence[str]: ...


@dataclass(frozen=True)
class Column:
    """A column of the list. sorted: as `aria-sort` says it, or empty."""

    key: str
    label: str
    title: str
    url: str
    is_number: bool
    sorted: str


@dataclass(frozen=True)
class TableRow:
    """A row of the list. row: its figures; bar: where the bar of the difference begins and how long it is, of 200."""

    row: comparison.QueryRow
    case_query_id: int
    tags: Sequence[str]
    url: str
    is_open: bool
    bar_start: float
    bar_width: float
    change_text: str


class QueryTable:
    """The rows that pass the filter, a page of them at a time. Reads nothing from the database."""

    def __init__(
        self,
        rows: list[comparison.QueryRow],
        queries: Mapping[int, PresentQuery],
        query_filter: ComparedFilter,
        url: Callable[..., str],
        open_id: str,
    ) -> None:
        self.filter = query_filter
        self.total = len(rows)
        self._rows = rows
        self._queries = queries
        self._url = url
        self._open_id = open_id

    @cached_property
    def selected(self) -> list[comparison.QueryRow]:
        """All rows that pass the filter, in order."""
        tag, picked = self.filter.tag, set(self.filter.picked)
        chosen = {
            query_id
            for query_id, query in self._queries.items()
            if (not tag or tag in query.tags) and (not picked or query.case_query_id in picked)
        }
        return comparison.select_rows(
            self._rows,
            text=self.filter.text,
            query_ids=chosen if tag or picked else None,
            state=self.filter.state,
            by_more_than=self.filter.by_more_than,
            sort=self.filter.sort,
            descending=self.filter.descending,
        )

    @cached_property
    def page(self) -> "Page[comparison.QueryRow]":
        return Paginator(self.selected, PAGE_SIZE).get_page(self.filter.page)

    @cached_property
    def scale(self) -> float:
        """The points at both ends of the column of bars: a multiple of 10, for all pages the same."""
        largest = max((abs(row.difference) for row in self._rows if row.difference is not None), default=0.0)
        return float(max(10, 10 * -(-largest // 10)))

    @property
    def picked_label(self) -> str:
        """Returns how many queries were selected in a chart; empty if none were."""
        count = len(self.filter.picked)
        return f"{counted(count, 'query', 'queries')} selected in a chart" if count else ""

    @property
    def without_picked_url(self) -> str:
        """The address of the list without the selection."""
        return self._url(only="", page="")

    @property
    def query_string(self) -> str:
        """The parameters of the list without its page."""
        return self._url().partition("?")[2]

    def columns(self, pair: Sequence[Run]) -> list[Column]:
        """Returns the columns. pair: the baseline and the other run."""
        first, second = comparison.name_runs(pair)
        is_short = pair[0].case_id == pair[1].case_id  # names with the case do not fit
        labels = {
            "query": ("Query", ""),
            "a": (first if is_short else "Before", f"Score in the baseline, {first}"),
            "b": (second if is_short else "After", f"Score in {second}"),
            "difference": ("Difference", "Points"),
            "jaccard": ("Jaccard", "Share of the first documents that both lists have"),
            "rbo": ("RBO", "Rank-biased overlap: how much the orders agree, mostly at the top"),
            "unrated": ("Unrated", "The larger number of unrated documents among those that the scorer considers"),
        }
        return [self._column(key, label, title) for key, (label, title) in labels.items()]

    def _column(self, key: str, label: str, title: str) -> Column:
        is_sorted = key == self.filter.sort
        descending = not self.filter.descending if is_sorted else key not in {"query", "jaccard", "rbo"}
        order = "descending" if self.filter.descending else "ascending"
        return Column(
            key=key,
            label=label,
            title=title,
            url=self._url(sort="" if key == "difference" else key, up="" if descending else "1"),
            is_number=key != "query",
            sorted=order if is_sorted else "",
        )

    def rows(self) -> Sequence[TableRow]:
        return [self._row(row) for row in self.page]

    def _row(self, row: comparison.QueryRow) -> TableRow:
        query = self._queries[row.query_id]
        width = 100 * min(1.0, abs(row.difference or 0.0) / self.scale)
        return TableRow(
            row=row,
            case_query_id=query.case_query_id,
            tags=query.tags,
            url=self._url(open=query.case_query_id, page=self.page.number if self.page.number > 1 else ""),
            is_open=str(query.case_query_id) == self._open_id,
            bar_start=round(100 - width if (row.difference or 0) < 0 else 100, 1),
            bar_width=round(width, 1),
            change_text=CHANGE_TEXTS.get(-1 if row.change is None else row.change, ""),
        )

    @property
    def empty_text(self) -> str:
        """Returns what the filter did not find."""
        if self.filter.text:
            return f"No query that passes the filter contains “{self.filter.text}”"
        return "No query passes the filter"
