"""The list of a case's queries: filtered, sorted, in pages, with the scores of the run shown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from typing import cast

from django.core.paginator import Page, Paginator
from django.db.models import F, Q, QuerySet
from django.http import Http404
from django.urls import reverse

from relevancy import queries, scores
from relevancy.models import Case, CaseQuery, Ranking, Run, ScorerVersion, User, compiled, hit_sizes
from relevancy.models.case import LARGE_CASE, CaseQueryQuerySet
from relevancy.views.tables import Column, Heading, build_headings

from . import large_list
from .access import CaseAccess
from .large_list import KeyPage
from .query_detail import QueryDetail
from .query_filter import COMPARED_STATES, MANUAL_ORDER, SECONDARY_FIELDS, STATES, QueryFilter
from .query_row import QueryRow, ScoredCaseQuery, SecondaryScore, row_state
from .query_tabs import RESULTS
from .run_selection import RunSelection

PAGE_SIZE = 50
READ_AT_ONCE = 500  # queries of a file
MAX_OPEN = 5  # each opened query costs statements of its own
MAX_OPEN_CHARACTERS = 2_000_000  # of the results of the opened queries; the first one opens in any case


class QueryList:
    """The queries of a case as the list shows them.

    previous_run: the run that scores are compared with; None if there is none.
    secondary: the versions of the secondary scorers that have a column, at most three.
    ratings, rankings: those that have been read already in the request, by query id; see `read_rankings`.
    """

    def __init__(
        self,
        case: Case,
        user: User,
        *,
        access: CaseAccess,
        selection: RunSelection,
        query_filter: QueryFilter,
        versions: list[ScorerVersion],
        previous_run: Run | None,
        tabs: Mapping[int, str] | None = None,
    ) -> None:
        """`tabs`: names of the tabs shown of opened queries, by id of the case query; others show their results."""
        self.secondary = versions[1 : 1 + len(SECONDARY_FIELDS)]
        self.ratings: dict[int, scores.QueryRatings] = {}
        self.rankings: dict[int, Mapping[int, Ranking]] = {}
        self._named_filter = query_filter
        self._tabs = tabs or {}
        self._case = case
        self._user = user
        self._access = access
        self._selection = selection
        self._versions = versions
        self._previous_run = previous_run

    @cached_property
    def filter(self) -> QueryFilter:
        """The filter and order that the address names, in the manual order if the list cannot be sorted by that column."""
        sort = self._named_filter.sort
        if sort == MANUAL_ORDER or self._can_sort_by(sort.removeprefix("-")):
            return self._named_filter
        return replace(self._named_filter, sort=MANUAL_ORDER)

    def _can_sort_by(self, key: str) -> bool:
        # An address can name the column of a scorer that the case has no more.
        if key in list(SECONDARY_FIELDS)[len(self.secondary) :]:
            return False
        return not self.is_large or (key in large_list.SORTS and not self._named_filter.is_active)

    @property
    def case_queries(self) -> CaseQueryQuerySet:
        """All case queries that pass the filter, in order, with their scores."""
        return self.filter.apply(self._with_scores(self._case.case_queries.present()))

    def numbered(self) -> Iterator[tuple[int | None, CaseQuery]]:
        """Yields all case queries that pass the filter, in order, with their scores, each after its number in the manual order. Those
        of a large case are read by key, or have no number if they are sorted by scores."""
        case_queries = self._case.case_queries
        if self.is_large and self.filter.sort == MANUAL_ORDER:
            start = 1
            for part in case_queries.in_parts(READ_AT_ONCE):
                numbers = {pk: number for number, (pk, _) in enumerate(part, start)}
                start += len(part)
                of_part = self._with_scores(case_queries.filter(pk__in=numbers)).order_by("position", "pk")
                yield from ((numbers[row.pk], row) for row in self.filter.matching(of_part))
            return
        numbers = {} if self.is_large else case_queries.numbers()
        for row in self.case_queries.iterator(chunk_size=READ_AT_ONCE):
            yield numbers.get(row.pk), row

    def _with_scores(self, case_queries: CaseQueryQuerySet) -> CaseQueryQuerySet:
        run, version = self._selection.run, self._versions[0]
        return case_queries.with_scores(run, version, self._previous_run, secondary=self.secondary)

    @cached_property
    def total(self) -> int:
        """The number of queries in the case; see `scores.count_queries`."""
        return scores.count_queries(self._case)

    @property
    def is_large(self) -> bool:
        """Whether the case has so many queries that its list is read by key."""
        return self.total > LARGE_CASE

    @property
    def large_note(self) -> str:
        """What the list of a large case does not offer; empty for others."""
        return large_list.NOTE if self.is_large else ""

    @property
    def is_empty(self) -> bool:
        """Whether the filter finds nothing."""
        if isinstance(self.page, KeyPage):
            return not self.page.case_queries and not self.page.has_other_pages
        return not self.page.paginator.count

    @cached_property
    def page(self) -> "Page[CaseQuery] | KeyPage":
        if self.is_large:
            listed = large_list.LargeList(self._case, self.filter, self._with_scores, self.total, PAGE_SIZE)
            return listed.read(self._selection.run, [self._versions[0], *self.secondary])
        paginator = Paginator(self.case_queries, PAGE_SIZE)
        if not self.filter.is_active:
            paginator.__dict__["count"] = self.total
        return paginator.get_page(self.filter.page)

    @cached_property
    def tags(self) -> list[str]:
        """The tags that the list can be filtered by; those of a large case are not listed."""
        return [] if self.is_large else queries.tags.of_case(self._case)

    @property
    def shows_tags(self) -> bool:
        """Whether there is a tag to filter by, or the list is filtered by one that no query has any more."""
        return bool(self.is_large or self.tags or self.filter.tag)

    @property
    def states(self) -> list[tuple[str, str]]:
        """The states that the list can be filtered by: name and label."""
        available = {name: label for name, (label, _) in STATES.items()}
        if self._previous_run is None:
            available = {name: label for name, label in available.items() if name not in COMPARED_STATES}
        return list(available.items())

    @property
    def can_reorder(self) -> bool:
        """Whether queries can be dragged to another position."""
        return self._access.can_edit and self.filter.is_manual_order

    @property
    def empty_text(self) -> str:
        """Returns what the filter did not find."""
        if self.filter.text:
            return f"No query contains “{self.filter.text}”"
        if self.filter.tag:
            return f"No query has the tag “{self.filter.tag}”"
        return "No query is in this state"

    # --- addresses ---

    def url(self, **changes: object) -> str:
        """Returns the address of the workbench with the list as it is, but for some parameters."""
        query_string = self.filter.query_string(**changes)
        return reverse("case", args=[self._case.pk]) + (f"?{query_string}" if query_string else "")

    @property
    def page_number(self) -> int | str:
        """The number of the page as addresses have it: empty for the first one."""
        return "" if self.page.number == 1 else self.page.number

    @property
    def page_url(self) -> str:
        """The address of the list with its page."""
        return self.url(page=self.page_number)

    def open_url(self, case_query: CaseQuery | ScoredCaseQuery) -> str:
        """Returns the address of the workbench with one query open, on its page of the unfiltered list."""
        page: int | str = f"from-{case_query.pk}"
        if not self.is_large:
            earlier = Q(position__lt=case_query.position) | Q(position=case_query.position, pk__lt=case_query.pk)
            page = self._case.case_queries.present().filter(earlier).count() // PAGE_SIZE + 1
        tab = self._tabs.get(case_query.pk)
        changes = {
            "open": case_query.pk,
            "page": "" if page == 1 else page,
            "tab": f"{case_query.pk}-{tab}" if tab else "",
        }
        return self.url(**changes) + f"#query-{case_query.pk}"

    # --- rows ---

    def headings(self) -> list[Heading]:
        """Returns the headings of the columns."""
        gap = "Points between the score and that of the best order of the rated documents"
        columns = [
            Column("#", MANUAL_ORDER),
            Column("Score", "score", css_class=""),
            Column("Query", "query", css_class=""),
            Column(f"vs run {self._previous_run.number}" if self._previous_run else "Change", "difference"),
            Column("Could gain", "gap", gap, starts_high=True),
            Column("Hits", "hits", starts_high=True),
            Column("Unrated", "unrated", starts_high=True),
            Column("ms", "ms", starts_high=True),
            *(
                Column(version.scorer.name, key, f"Score under {version.scorer.name}", "num secondary")
                for key, version in zip(SECONDARY_FIELDS, self.secondary, strict=False)
            ),
        ]
        if self.is_large:
            offered = {column.key for column in columns if self._can_sort_by(column.key)}
            if self.filter.sort != MANUAL_ORDER:
                offered.add(MANUAL_ORDER)
            columns = [column if column.key in offered else replace(column, key="") for column in columns]
        return build_headings(columns, self.filter.sort)

    def rows(self, open_ids: Iterable[int] = ()) -> list[QueryRow]:
        """Returns the rows of the page; those of `open_ids` (ids of case queries) are open, at most five."""
        case_queries = cast("list[ScoredCaseQuery]", list(self.page))
        opened = self._opened(list(open_ids)[:MAX_OPEN])
        earlier, numbers = self._scores_before(case_queries), self._numbers(case_queries)
        return [
            self._row(
                case_query,
                earlier.get(case_query.pk),
                position=numbers.get(case_query.pk),
                is_open=case_query.pk in opened,
            )
            for case_query in case_queries
        ]

    def _opened(self, ids: Sequence[int]) -> set[int]:
        """Returns the ids of the queries that are opened: as many of these as do not make the page too large."""
        run = self._selection.run
        if run is None or len(ids) < 2:
            return set(ids)
        opened = run.rankings.filter(query__case_queries__in=ids, query__case_queries__case=self._case)
        rankings = list(opened.annotate(case_query_id=F("query__case_queries")))
        sizes = dict(zip((vars(row)["case_query_id"] for row in rankings), hit_sizes(rankings), strict=True))
        totals = accumulate(sizes.get(pk, 0) for pk in ids)
        return {
            pk
            for number, (pk, total) in enumerate(zip(ids, totals, strict=True))
            if not number or total <= MAX_OPEN_CHARACTERS
        }

    def _numbers(self, case_queries: Sequence[ScoredCaseQuery]) -> dict[int, int]:
        """Returns the numbers of the queries in the manual order, whatever the list is filtered and sorted by; in a large case only
        without a filter and in this order."""
        if self.filter.is_manual_order:
            start = self.page.start if isinstance(self.page, KeyPage) else self.page.start_index()
            return {case_query.pk: number for number, case_query in enumerate(case_queries, start or 1)}
        ids = [case_query.pk for case_query in case_queries]
        return {} if self.is_large or not ids else self._case.case_queries.numbers(ids)

    def _scores_before(self, case_queries: Sequence[ScoredCaseQuery]) -> dict[int, ScoredCaseQuery]:
        """Returns the queries that an active run has not searched yet as the run before has them, by id of the case query."""
        run = self._selection.run
        waiting = [case_query.pk for case_query in case_queries if case_query.ranking_id is None]
        if run is None or not run.is_active or self._previous_run is None or not waiting:
            return {}
        present = self._case.case_queries.present()
        earlier = present.filter(pk__in=waiting)
        scored = earlier.with_scores(self._previous_run, self._versions[0], secondary=self.secondary)
        return {row.pk: cast("ScoredCaseQuery", row) for row in scored if vars(row)["ranking_id"] is not None}

    def row(
        self,
        case_query: ScoredCaseQuery,
        *,
        position: int | None = None,
        is_open: bool = False,
        detail: bool = True,
    ) -> QueryRow:
        """Returns one row. `detail` false leaves out what an open one shows, where only the row itself is needed."""
        earlier = self._scores_before([case_query]).get(case_query.pk)
        return self._row(case_query, earlier, position=position, is_open=is_open, detail=detail)

    def _row(
        self,
        case_query: ScoredCaseQuery,
        earlier: ScoredCaseQuery | None,
        *,
        position: int | None,
        is_open: bool,
        detail: bool = True,
    ) -> QueryRow:
        """Returns one row. `earlier`: the query as the run before has it, until the active run has searched it."""
        values = vars(earlier or case_query)
        return QueryRow(
            case_query=earlier or case_query,
            state=row_state(self._case.pk, case_query, self._selection, can_edit=self._access.can_edit),
            position=position,
            detail=self._detail(case_query, is_earlier=earlier is not None) if is_open and detail else None,
            can_edit=self._access.can_edit,
            can_reorder=self.can_reorder,
            is_open=is_open,
            tab_name=self._tabs.get(case_query.pk, RESULTS),
            is_earlier=earlier is not None,
            secondary=[
                SecondaryScore(values[f"score_{number}"], values[f"is_stale_{number}"])
                for number, _ in enumerate(self.secondary, 1)
            ],
        )

    def position(self, case_query_id: int) -> int | None:
        """Returns the number of a query in the manual order of the case; None if it is not on the page of the list."""
        case_queries = cast("list[ScoredCaseQuery]", list(self.page))
        listed = {case_query.pk for case_query in case_queries}
        return self._numbers(case_queries).get(case_query_id) if case_query_id in listed else None

    def detail(self, case_query: ScoredCaseQuery) -> QueryDetail:
        """Returns what an opened query shows."""
        return self._detail(case_query, is_earlier=bool(self._scores_before([case_query])))

    def _detail(self, case_query: ScoredCaseQuery, *, is_earlier: bool) -> QueryDetail:
        return QueryDetail(
            self._case,
            case_query.query_id,
            self._user,
            run=self._previous_run if is_earlier else self._selection.run,
            previous_run=None if is_earlier else self._previous_run,
            versions=self._versions,
            can_search=self._access.can_edit and not is_earlier,
            is_blind=self._access.is_blind,
            ratings=self.ratings.get(case_query.query_id),
            rankings=self.rankings.get(case_query.query_id),
        )

    def get(self, case_query_id: int) -> ScoredCaseQuery:
        """Returns one query of the case with its scores, whatever the filter; raises `Http404` if the case does not have it."""
        shown = [run.pk if run else 0 for run in (self._selection.run, self._previous_run)]
        versions = [version.pk for version in (self._versions[0], *self.secondary)]
        for case_query in _scored_case_queries(self._case.pk, case_query_id, *shown, *versions):
            case_query.case = self._case
            return cast("ScoredCaseQuery", case_query)
        raise Http404("This query is not in the case, or has been removed from it.")


@compiled
def _scored_case_queries(case_id: int, pk: int, run_id: int, before_id: int, *version_ids: int) -> QuerySet[CaseQuery]:
    version, *secondary = (ScorerVersion(pk=version_id) for version_id in version_ids)
    present = CaseQuery.objects.present().filter(case=case_id, pk=pk)
    return present.with_scores(Run(pk=run_id), version, Run(pk=before_id), secondary=secondary)
