"""The list of queries of a comparison."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.core.paginator import Page, Paginator

from relevancy import comparison
from relevancy.models import Run, ScorerVersion
from relevancy.views.tables import Column, Heading, build_headings
from relevancy.wording import counted

from .query_filter import ComparedFilter

PAGE_SIZE = 50
CHANGE_TEXTS = {0: "same", 1: "order", 2: "documents"}


@dataclass(frozen=True, slots=True)
class PresentQuery:
    """A query of the case. case_query_id: of its case query, which addresses name."""

    case_query_id: int
    text: str
    tags: list[str]


@dataclass(frozen=True)
class TableRow:
    """A row of the list.

    row: its figures. bar: where the bar of the difference begins and how long it is, of 200.
    split: what the query can gain; None unless the best order is shown, and if it is not known or the search failed.
    """

    row: comparison.QueryRow
    case_query_id: int
    is_open: bool
    bar_start: float
    bar_width: float
    change_text: str
    split: comparison.GainSplit | None


def build_row(
    row: comparison.QueryRow,
    case_query_id: int,
    *,
    scale: float,
    is_open: bool,
    split: comparison.GainSplit | None = None,
) -> TableRow:
    """Returns a row of the list. scale: the points at both ends of the column of bars."""
    difference = row.difference or 0.0
    width = 100 * min(1.0, abs(difference) / scale)
    return TableRow(
        row=row,
        case_query_id=case_query_id,
        is_open=is_open,
        bar_start=round(100 - width if difference < 0 else 100, 1),
        bar_width=round(width, 1),
        change_text="" if row.change is None else CHANGE_TEXTS[row.change],
        split=split,
    )


class QueryTable:
    """The queries that pass the filter, a page of them at a time.

    pair, names: the baseline and the other run.
    version: to show the best order of the other run, whose hits are read for it; otherwise None, and nothing is read.
    """

    is_large = False

    def __init__(
        self,
        rows: list[comparison.QueryRow],
        queries: Mapping[int, PresentQuery],
        query_filter: ComparedFilter,
        pair: Sequence[Run],
        names: Sequence[str],
        *,
        open_id: str,
        version: ScorerVersion | None,
    ) -> None:
        self.total = len(rows)
        self._rows, self._queries, self._filter = rows, queries, query_filter
        self._pair, self._names, self._open_id, self._version = pair, names, open_id, version
        # The points at both ends of the column of bars: a multiple of 10, for all pages the same.
        largest = max([abs(row.difference) for row in rows if row.difference is not None], default=0.0)
        self.scale = float(max(10, 10 * -(-largest // 10)))

    @cached_property
    def selected(self) -> list[comparison.QueryRow]:
        """All rows that pass the filter, in order."""
        tag, picked = self._filter.tag, set(self._filter.picked)
        chosen = {
            query_id
            for query_id, query in self._queries.items()
            if (not tag or tag in query.tags) and (not picked or query.case_query_id in picked)
        }
        return comparison.select_rows(
            self._rows,
            text=self._filter.text,
            query_ids=chosen if tag or picked else None,
            state=self._filter.state,
            by_more_than=self._filter.by_more_than,
            sort=self._filter.sort,
        )

    @cached_property
    def page(self) -> "Page[comparison.QueryRow]":
        return Paginator(self.selected, PAGE_SIZE).get_page(self._filter.page)

    @cached_property
    def picked_label(self) -> str:
        """How many queries were selected in a chart; empty if none were."""
        count = len(self._filter.picked)
        return f"{counted(count, 'query', 'queries')} selected in a chart" if count else ""

    def headings(self) -> list[Heading]:
        """Returns the headings of the columns."""
        first, second = self._names
        is_short = self._pair[0].case_id == self._pair[1].case_id  # names with the case do not fit
        columns = [
            Column("Query", "query", css_class=""),
            Column(first if is_short else "Before", "a", f"Score in the baseline, {first}", starts_high=True),
            Column(second if is_short else "After", "b", f"Score in {second}", starts_high=True),
            Column("", css_class="bars"),
            Column("Difference", "difference", "Points", starts_high=True),
        ]
        if self._version is None:
            columns += [
                Column("Jaccard", "jaccard", "Share of the first documents that both lists have"),
                Column("RBO", "rbo", "Rank-biased overlap: how much the orders agree, mostly at the top"),
            ]
        else:
            columns += [
                Column(
                    "Could gain",
                    "gain",
                    f"Points between the score in {second} and that of its best order",
                    starts_high=True,
                ),
                Column("By order", title=f"Points that a better order of the documents that {second} fetched gains"),
                Column("By documents", title=f"Points that rated documents gain which {second} did not fetch"),
            ]
        unrated = "The larger number of unrated documents among those that the scorer considers"
        return build_headings([*columns, Column("Unrated", "unrated", unrated, starts_high=True)], self._filter.sort)

    def rows(self) -> list[TableRow]:
        """Returns the rows of the page. Four SQL statements at most if the best order is shown, otherwise none."""
        splits = {}
        if self._version is not None:
            points = {row.query_id: (row.score_b, row.best) for row in self.page}
            splits = comparison.split_gains(self._pair[1], self._version, points)
        return [
            build_row(
                row,
                case_query_id := self._queries[row.query_id].case_query_id,
                scale=self.scale,
                is_open=str(case_query_id) == self._open_id,
                split=splits.get(row.query_id),
            )
            for row in self.page
        ]

    def export_rows(self) -> Iterable[comparison.QueryRow]:
        """Returns the rows of all pages."""
        return self.selected

    @property
    def is_empty(self) -> bool:
        """Whether no query passes the filter."""
        return not self.page.paginator.count

    @property
    def count_text(self) -> str:
        """How many queries the list has, of how many."""
        return f"{self.page.paginator.count:,} of {self.total:,}"

    @cached_property
    def empty_text(self) -> str:
        """What the filter did not find."""
        if self._filter.text:
            return f"No query that passes the filter contains “{self._filter.text}”"
        return "No query passes the filter"
