"""One row of the list of queries, and the state it is in."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from django.urls import reverse

from relevancy import runs
from relevancy.models import Query, Run

from .query_detail import QueryDetail
from .query_tabs import EDIT_NOTES, ONLY_RATED, RESULTS, QueryTab, query_tabs
from .run_selection import RunSelection

StateName = Literal["never", "waiting", "new", "failed", "scorer", "edited", "empty", "done"]
NOT_SCOREABLE = "Not scoreable: no returned document is rated, or no relevant document is known"


@dataclass
class ScoredCaseQuery:
    """What a row shows of a query, with the names that `CaseQuerySet.with_scores` annotates; None where there is nothing."""

    pk: int
    query_id: int
    query: Query
    position: float
    weight: float
    options: dict[str, object]
    ranking_id: int | None
    hits: int | None
    returned: int | None
    took_ms: int | None
    error_kind: str | None
    error: str | None
    former_text: str | None
    score: float | None
    low: float | None
    high: float | None
    unrated: int | None
    score_error: str | None
    gap: float | None
    difference: float | None
    is_stale: bool


@dataclass(frozen=True)
class SecondaryScore:
    """The score of a query under a secondary scorer: 0–100, None where there is none. is_stale: computed from older ratings."""

    score: float | None
    is_stale: bool


@dataclass(frozen=True)
class Pill:
    """A short state beside a query. kind: a class of `_ui/pill.html`."""

    text: str
    kind: str
    title: str = ""


@dataclass(frozen=True)
class RowState:
    """What a row says about its query in the run shown.

    name: for tests, styles and scripts (`data-state`).
    why_no_score: why a score is missing, for the title of the dash in its place.
    pill: the state in a word; None if there is nothing to say.
    error: why the search or the scorer failed; shown in place of the numbers.
    retry_label, retry_url: the button that searches or scores again; empty if there is none.
    """

    name: StateName
    why_no_score: str = NOT_SCOREABLE
    pill: Pill | None = None
    error: str = ""
    retry_label: str = ""
    retry_url: str = ""

    @property
    def has_failed(self) -> bool:
        return self.name in {"failed", "scorer"}


@dataclass(frozen=True)
class QueryRow:
    """One query of the list.

    position: its number in the manual order of the case; None if it is not known.
    detail: what the opened query shows; None if it is closed.
    can_edit: whether the user may edit the case. can_reorder: whether the query can be dragged to another position.
    tab_name: of the tab that the address names.
    is_earlier: whether the numbers and results are those of the run before, because the active run has not searched it yet.
    secondary: the scores under the secondary scorers that have a column.
    """

    case_query: ScoredCaseQuery
    state: RowState
    position: int | None
    detail: QueryDetail | None
    can_edit: bool
    can_reorder: bool
    is_open: bool
    tab_name: str
    is_earlier: bool
    secondary: Sequence[SecondaryScore]

    @cached_property
    def tabs(self) -> Sequence[QueryTab]:
        """Those of the opened query; empty if it is closed."""
        if self.detail is None:
            return ()
        return query_tabs(self.case_query.pk, self.detail, self.tab_name, can_search=self.can_edit)

    @property
    def tags(self) -> list[str]:
        """The first tags, without one that says the same as the state."""
        said = self.state.pill.text if self.state.pill else ""
        return [tag for tag in self.case_query.query.tags if tag.lower() != said][:3]

    @property
    def edits_notes(self) -> bool:
        """Whether the tab of the notes shows the form to edit them."""
        return self.tab_name == EDIT_NOTES

    @property
    def only_rated(self) -> bool:
        """Whether the tab of the results shows only rated documents, with those that the run did not show."""
        return self.tab_name == ONLY_RATED and self.detail is not None and self.detail.found is not None

    @property
    def columns(self) -> int:
        """The number of columns of the list."""
        return 8 + len(self.secondary)

    @property
    def tab(self) -> str:
        """The name of the tab that is shown."""
        return next((tab.name for tab in self.tabs if tab.is_current), "")

    @property
    def tab_parameter(self) -> str:
        """The tab that is shown as the value of `tab` in an address; empty for the first one."""
        if self.only_rated:
            return f"{self.case_query.pk}-{ONLY_RATED}"
        return next((tab.parameter for tab in self.tabs if tab.is_current), "")

    @property
    def results(self) -> list[runs.Result]:
        """The results that are shown, with their ranks."""
        results = self.detail.results if self.detail else ()
        return [result for result in results if not self.only_rated or result.grade is not None]

    @property
    def has_rated_switch(self) -> bool:
        """Whether the page offers to show only rated documents, or all again."""
        if self.detail is None or self.tab != RESULTS:
            return False
        return self.only_rated or any(result.grade is not None for result in self.detail.results)

    @property
    def hit_count(self) -> int | None:
        """The number of hits that the engine counted, or of those it returned."""
        return self.case_query.returned if self.case_query.hits is None else self.case_query.hits


def row_state(case_id: int, case_query: ScoredCaseQuery, selection: RunSelection, *, can_edit: bool) -> RowState:
    """Returns the state of a query in the run shown. `can_edit` adds the button that tries again."""
    name = _state_name(case_query, selection.run)
    if name == "never":
        return RowState(name, "Nothing has been run yet")
    if name == "waiting":
        return RowState(name, "Not searched yet")
    if name == "new":
        return RowState(name, "Not searched yet", Pill("not searched", "live"))
    if name == "failed":
        can_retry = can_edit and not selection.is_older
        return RowState(
            name,
            "No score: the search failed",
            Pill("failed", "bad"),
            error=case_query.error or "",
            retry_label="Try again" if can_retry else "",
            retry_url=reverse("query_search", args=[case_id, case_query.pk]) if can_retry else "",
        )
    if name == "scorer":
        score_again = reverse("case_score_again", args=[case_id], query=selection.parameters or None)
        return RowState(
            name,
            "No score: the scorer failed",
            Pill("scorer failed", "bad"),
            error=f"Scorer: {case_query.score_error}",
            retry_label="Score again" if can_edit else "",
            retry_url=score_again if can_edit else "",
        )
    if name == "edited":
        return RowState(name, pill=Pill("edited", "warn", f"The run searched “{case_query.former_text}”"))
    if name == "empty":
        return RowState(name, pill=Pill("no results", "warn"))
    return RowState(name)


def _state_name(case_query: ScoredCaseQuery, run: Run | None) -> StateName:
    if run is None:
        return "never"
    if case_query.ranking_id is None:
        return "waiting" if run.is_active else "new"
    if case_query.error_kind:
        return "failed"
    if case_query.score_error:
        return "scorer"
    if case_query.former_text not in ("", case_query.query.text):
        return "edited"
    return "done" if case_query.returned else "empty"
