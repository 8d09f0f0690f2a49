"""The list of queries of a comparison of runs of large cases: those that lost or gained most, as the worker has ranked them, and all in
the order of the case, read by key."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Exists, OuterRef, Q

from relevancy import comparison, scores
from relevancy.models import Case, CaseQuery, Run, ScorerVersion
from relevancy.models.case import CaseQueryQuerySet
from relevancy.views.tables import Column, Heading, build_headings
from relevancy.views.workbench.large_list import KeyPage, LargeList

from .query_filter import ComparedFilter
from .query_table import PAGE_SIZE, TableRow, build_row

STATES: dict[str, tuple[str, Q]] = {
    "better": (comparison.STATES["better"][0], scores.IS_BETTER),
    "worse": (comparison.STATES["worse"][0], scores.IS_WORSE),
    "same": (comparison.STATES["same"][0], scores.IS_SAME),
    "left_out": (comparison.STATES["left_out"][0], Q(difference=None) | Q(weight=0)),
}
RANKED_STATES = {"difference": "worse", "-difference": "better"}  # what is listed in these orders
SORTS = {"a": "score", "b": "score", "unrated": "unrated"}  # what they are called by the list of the case
PART = 500  # queries of a file that are read at once


@dataclass(frozen=True)
class _ListFilter:
    """A filter as the list of a large case takes it."""

    compared: ComparedFilter
    sort: str

    @property
    def page(self) -> str:
        return self.compared.page

    @property
    def is_active(self) -> bool:
        return self.compared.is_active

    def matching(self, case_queries: CaseQueryQuerySet, /) -> CaseQueryQuerySet:
        chosen = self.compared
        if chosen.text:
            case_queries = case_queries.filter(query__text__icontains=chosen.text)
        if chosen.tag:
            case_queries = case_queries.tagged(chosen.tag)
        if chosen.state in STATES:
            case_queries = case_queries.filter(STATES[chosen.state][1])
        if points := chosen.by_more_than:
            case_queries = case_queries.filter(Q(difference__gt=points) | Q(difference__lt=-points), weight__gt=0)
        return case_queries


class LargeTable:
    """A page of the queries at a time. case: of the page. pair: None as long as it is being computed. runs, names: the baseline and the
    other run."""

    is_large = True
    picked_label = ""  # the charts count queries, and none can be selected

    def __init__(
        self,
        case: Case,
        pair: comparison.LargePair | None,
        query_filter: ComparedFilter,
        runs: Sequence[Run],
        names: Sequence[str],
        version: ScorerVersion,
        *,
        open_id: str,
    ) -> None:
        self._case, self._pair, self._filter = case, pair, query_filter
        self._runs, self._names, self._version, self._open_id = runs, names, version, open_id

    @property
    def _ranked(self) -> Sequence[int] | None:
        """The ids of the queries in the order of the worker; None if the list is another one."""
        chosen, state = self._filter, RANKED_STATES.get(self._filter.sort, "")
        if not state or chosen.text or chosen.tag or chosen.by_more_than or chosen.state not in ("", state):
            return None
        if self._pair is None:
            return []
        return self._pair.largest_losses if state == "worse" else self._pair.largest_gains

    @property
    def _present(self) -> CaseQueryQuerySet:
        present: CaseQueryQuerySet = self._case.case_queries.present()
        return present

    def _scored(self, case_queries: CaseQueryQuerySet) -> CaseQueryQuerySet:
        before, after = self._runs
        for other in {before.case_id, after.case_id} - {self._case.pk}:
            shared = CaseQuery.objects.present().filter(case=other, query=OuterRef("query"))
            case_queries = case_queries.filter(Exists(shared))
        return case_queries.with_scores(after, self._version, before)

    @cached_property
    def total(self) -> int:
        """The number of queries in the case."""
        return scores.count_queries(self._case)

    @cached_property
    def page(self) -> Page[int] | KeyPage:
        if self._ranked is not None:
            return Paginator(self._ranked, PAGE_SIZE).get_page(self._filter.page)
        key = self._filter.sort.removeprefix("-")
        sort = "" if self._filter.is_active else self._filter.sort.replace(key, SORTS.get(key, ""))
        listed = LargeList(self._case, _ListFilter(self._filter, sort), self._scored, self.total, PAGE_SIZE)
        return listed.read(self._runs[0] if key == "a" else self._runs[1], [self._version])

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to list, on other pages neither."""
        if isinstance(self.page, KeyPage):
            return not self.page.case_queries and not self.page.has_other_pages
        return not self.page.paginator.count

    @property
    def count_text(self) -> str:
        """Which queries the list has."""
        if self._ranked is None or self._pair is None:
            return f"{self.total:,}"
        is_loss = self._filter.sort == "difference"
        count, verb = (self._pair.losses, "lost") if is_loss else (self._pair.wins, "gained")
        ranked = len(self._ranked)
        return f"the {ranked:,} of {count:,} that {verb} most" if ranked < count else f"{count:,} that {verb}"

    @property
    def empty_text(self) -> str:
        """What the filter did not find."""
        if self._ranked is not None:
            return "No query lost" if self._filter.sort == "difference" else "No query gained"
        return "No query passes the filter"

    @property
    def scale(self) -> float:
        """The points at both ends of the column of bars: a multiple of 10, for all pages the same."""
        steps = self._pair.differences if self._pair else ()
        edges = [abs(-100 + (step + (step >= 20)) * 5) for step, count in enumerate(steps) if count]
        return float(max([10, *(10 * -(-edge // 10) for edge in edges)]))

    def headings(self) -> list[Heading]:
        """Returns the headings of the columns."""
        first, second = self._names
        is_short = self._runs[0].case_id == self._runs[1].case_id
        columns = [
            Column("Query", "query", "All queries, in the order of the case", css_class=""),
            Column(first if is_short else "Before", "a", f"Score in the baseline, {first}", starts_high=True),
            Column(second if is_short else "After", "b", f"Score in {second}", starts_high=True),
            Column("", css_class="bars"),
            Column("Difference", "difference", "Points"),
            Column("Unrated", "unrated", f"Unrated documents that the scorer considers in {second}", starts_high=True),
        ]
        return build_headings(columns, "query" if self._filter.sort == "-query" else self._filter.sort)

    def rows(self) -> list[TableRow]:
        """Returns the rows of the page. One SQL statement at most besides those of the page."""
        if isinstance(self.page, KeyPage):
            listed: Sequence[Any] = self.page.case_queries
        else:
            query_ids = list(self.page)
            by_query = {row.query_id: row for row in self._scored(self._present.filter(query__in=query_ids))}
            listed = [by_query[query_id] for query_id in query_ids if query_id in by_query]
        return [
            build_row(_query_row(row), row.pk, scale=self.scale, is_open=str(row.pk) == self._open_id) for row in listed
        ]

    def export_rows(self) -> Iterator[comparison.QueryRow]:
        """Yields all queries that pass the filter, in the order of the case. Two SQL statements for 500 of them."""
        list_filter = _ListFilter(self._filter, "")
        for part in self._case.case_queries.in_parts(PART):
            of_part = CaseQuery.objects.filter(pk__in=[pk for pk, _ in part]).order_by("position", "pk")
            yield from map(_query_row, list_filter.matching(self._scored(of_part)))


def _query_row(row: Any) -> comparison.QueryRow:
    """Returns a case query that is annotated with its scores as a row of a comparison, without what result lists tell."""
    return comparison.QueryRow(
        query_id=row.query_id,
        text=row.query.text,
        weight=row.weight,
        score_a=row.score_before,
        score_b=row.score,
        difference=row.difference if row.weight > 0 else None,
        unrated_b=row.unrated,
        took_b=row.took_ms,
    )
