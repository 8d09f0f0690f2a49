"""Pages of the list of a large case (`LARGE_CASE`): read by key, so that each costs the same wherever it is in the list.

Addresses name a page by a query: `from-12` begins with the case query 12, `to-12` ends before it. In the manual order, a filter looks
at `WINDOW` queries at a time. Without a filter, the list can also be sorted by what the database sorts within two seconds: the columns
of the scores.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from relevancy.models import Case, CaseQuery, QueryScore, Run, ScorerVersion
from relevancy.models.case import CaseQueryQuerySet
from relevancy.views.requests import parse_number

from .query_filter import SECONDARY_FIELDS

WINDOW = 100_000  # queries that a filter looks at for one page
SORTS: Mapping[str, Combinable] = {
    "score": F("score"),
    "gap": Coalesce(F("ideal"), 100.0) - F("score"),
    "unrated": F("unrated"),
    **dict.fromkeys(SECONDARY_FIELDS, F("score")),
}
# See docs/decisions/0046.
NOTE = (
    "A case of more than 50,000 queries can be sorted by score, by what could be gained and by unrated documents, queries without a "
    f"score left out. A filter searches {WINDOW:,} queries at a time."
)


class ListFilter(Protocol):
    """How a list is filtered and sorted, and which page of it is read. sort: a key of `SORTS`, with "-" before it for the highest
    first; anything else is the manual order."""

    @property
    def page(self) -> str: ...
    @property
    def sort(self) -> str: ...
    @property
    def is_active(self) -> bool: ...
    def matching(self, case_queries: CaseQueryQuerySet, /) -> CaseQueryQuerySet: ...


@dataclass(frozen=True)
class KeyPage:
    """A page of the list, with the names that `_ui/pager.html` and lists know from Django's pages.

    number: how addresses name the page; empty for the first one. next_page_number, previous_page_number: its neighbours; empty if there
        are none.
    start, end: the numbers of the first and the last query, in the manual order, that were looked at for it; None in another order.
    total: the number of queries in the case.
    """

    case_queries: Sequence[CaseQuery]
    number: str
    next_page_number: str
    previous_page_number: str
    total: int
    start: int | None = None
    end: int | None = None

    def __iter__(self) -> Iterator[CaseQuery]:
        return iter(self.case_queries)

    @property
    def has_next(self) -> bool:
        return bool(self.next_page_number)

    @property
    def has_previous(self) -> bool:
        return bool(self.previous_page_number)

    @property
    def has_other_pages(self) -> bool:
        return self.has_next or self.has_previous

    @property
    def range_text(self) -> str:
        """Which queries the page is about."""
        if self.start is None or self.end is None:
            return f"{len(self.case_queries):,} of {self.total:,}"
        found = "" if len(self.case_queries) == self.end - self.start + 1 else f"{len(self.case_queries):,} found in "
        return f"{found}{self.start:,}–{self.end:,} of {self.total:,}"


@dataclass(frozen=True)
class LargeList:
    """The list of a large case. scored: adds to case queries what the list shows of them. size: queries on a page."""

    case: Case
    query_filter: ListFilter
    scored: Callable[[CaseQueryQuerySet], CaseQueryQuerySet]
    total: int
    size: int

    def read(self, run: Run | None, versions: Sequence[ScorerVersion]) -> KeyPage:
        """Returns the page that the filter names, or the first one. versions: the primary scorer's and those with a column."""
        match = re.fullmatch("(from|to)-([0-9]+)", self.query_filter.page)
        anchor = self.case.case_queries.filter(pk=parse_number(match[2])).first() if match else None
        is_backward = match is not None and match[1] == "to"
        key = self.query_filter.sort.removeprefix("-")
        if key not in SORTS or run is None:
            return self._in_manual_order(self._begin_before(anchor) if anchor and is_backward else anchor)
        number = list(SECONDARY_FIELDS).index(key) + 1 if key in SECONDARY_FIELDS else 0
        return self._sorted(run, versions[number], anchor, is_backward=is_backward)

    @property
    def _present(self) -> CaseQueryQuerySet:
        present: CaseQueryQuerySet = self.case.case_queries.present()
        return present

    def _in_manual_order(self, begin: CaseQuery | None) -> KeyPage:
        """Returns the page that begins with a query, or the first one."""
        ordered = self._present.order_by("position", "pk")
        if begin:
            ordered = ordered.filter(_not_before(begin))
        is_filtered = self.query_filter.is_active
        looked_at = WINDOW if is_filtered else self.size
        beyond: CaseQuery | None = ordered[looked_at : looked_at + 1].first()
        within = ordered.filter(_before(beyond)) if beyond else ordered
        if is_filtered:
            listed = list(self.query_filter.matching(self.scored(within))[: self.size + 1])
            if len(listed) > self.size:
                beyond = listed.pop()
                within = ordered.filter(_before(beyond))
            count = within.count()
        else:
            # Their ids first: so the database does not choose to join all queries.
            listed = list(self.scored(within.filter(pk__in=list(within.values_list("pk", flat=True)))))
            count = len(listed)
        earlier = self._present.filter(_before(begin)).count() if begin else 0
        return KeyPage(
            case_queries=listed,
            number=f"from-{begin.pk}" if begin else "",
            next_page_number=f"from-{beyond.pk}" if beyond else "",
            previous_page_number=f"to-{begin.pk}" if begin and earlier else "",
            total=self.total,
            start=earlier + 1,
            end=earlier + count,
        )

    def _begin_before(self, end: CaseQuery) -> CaseQuery | None:
        """Returns the query with which the page that ends before a query begins; None for the first page."""
        ordered = self._present.filter(_before(end)).order_by("-position", "-pk")
        if not self.query_filter.is_active:
            begin: CaseQuery | None = ordered[self.size - 1 : self.size].first()
            return begin
        farthest: CaseQuery | None = ordered[WINDOW - 1 : WINDOW].first()
        within = ordered.filter(_not_before(farthest)) if farthest else ordered
        return self.query_filter.matching(self.scored(within))[self.size - 1 : self.size].first() or farthest

    def _sorted(
        self, run: Run, version: ScorerVersion, anchor: CaseQuery | None, *, is_backward: bool = False
    ) -> KeyPage:
        """Returns the page that begins with a query, or ends before it, in the order of the values of a column; queries without a score
        are left out."""
        sort = self.query_filter.sort
        stored: QuerySet[Any] = QueryScore.objects.filter(run=run, version=version, score__isnull=False)
        stored = stored.filter(Exists(self._present.filter(query=OuterRef("query"))))
        stored = stored.annotate(sorted_by=SORTS[sort.removeprefix("-")])
        value = stored.filter(query=anchor.query_id).values_list("sorted_by", flat=True).first() if anchor else None
        is_ascending = sort.startswith("-") == is_backward
        if anchor and value is not None:
            side = "gt" if is_ascending else "lt"
            same = Q(sorted_by=value, **{f"query__{side}" if is_backward else f"query__{side}e": anchor.query_id})
            stored = stored.filter(Q(**{f"sorted_by__{side}": value}) | same)
        ordered = stored.order_by(*(("sorted_by", "query") if is_ascending else ("-sorted_by", "-query")))
        query_ids = list(ordered.values_list("query_id", flat=True)[: self.size + 1])
        if is_backward and value is not None:
            first = query_ids[self.size - 1 : self.size]  # in the order of the list, the last one of these
            return self._sorted(run, version, self._present.filter(query__in=first).first())
        by_query = {row.query_id: row for row in self.scored(self._present.filter(query__in=query_ids))}
        listed = [by_query[query_id] for query_id in query_ids if query_id in by_query]
        beyond = listed.pop() if len(listed) > self.size else None
        return KeyPage(
            case_queries=listed,
            number=f"from-{anchor.pk}" if anchor else "",
            next_page_number=f"from-{beyond.pk}" if beyond else "",
            previous_page_number=f"to-{anchor.pk}" if anchor else "",
            total=self.total,
        )


def _before(case_query: CaseQuery) -> Q:
    """The queries before one in the manual order. The first condition lets the database begin in the middle of an index."""
    position = case_query.position
    return Q(position__lte=position) & ~Q(position=position, pk__gte=case_query.pk)


def _not_before(case_query: CaseQuery) -> Q:
    position = case_query.position
    return Q(position__gte=position) & ~Q(position=position, pk__lt=case_query.pk)
