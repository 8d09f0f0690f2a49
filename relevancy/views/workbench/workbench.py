"""The parts of the workbench page, put together for one request."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypedDict

from relevancy.models import Case, ScorerVersion, User
from relevancy.views.notices import Notice
from relevancy.views.requests import HtmxRequest, parse_number

from .access import CaseAccess
from .attempt_form import AttemptForm
from .history_chart import HistoryChart
from .notices import run_notices
from .query_filter import QueryFilter
from .query_list import QueryList
from .query_row import QueryRow, ScoredCaseQuery
from .query_tabs import parse_tabs
from .run_header import RunHeader
from .run_progress import RunProgress
from .run_selection import RunSelection
from .score_panel import ScorePanel
from .tune_pane import TunePane, tune_pane


class BaseContext(TypedDict):
    """What every template of the workbench needs. back_url: where Back leads to."""

    case: Case
    access: CaseAccess
    selection: RunSelection
    back_url: str


class ScoreContext(BaseContext):
    """What `_case_score.html` needs, the head with score, history and state of the run."""

    panel: ScorePanel
    chart: HistoryChart
    header: RunHeader


class ListContext(BaseContext):
    """What the list of queries with its notices needs."""

    queries: QueryList
    rows: Sequence[QueryRow]
    notices: Sequence[Notice]


class TuneContext(BaseContext):
    """What the tune pane needs."""

    panel: ScorePanel
    tune: TunePane


class Workbench:
    """Builds each part of the page when it is first needed, from what the parts share: case, run and scorers.

    The methods return what a template needs, by name.
    """

    def __init__(
        self,
        request: HtmxRequest,
        case: Case,
        *,
        selection: RunSelection | None = None,
        query_filter: QueryFilter | None = None,
    ) -> None:
        """`case` was read by `get_case`. `selection` avoids reading the runs twice in one request. `query_filter`: instead of
        that of the address."""
        self.case = case
        self.user: User = request.user
        self.filter = query_filter or QueryFilter.from_parameters(request.GET)
        self.access = CaseAccess(case, self.user)
        number = self.filter.run or parse_number(request.POST.get("run", ""))
        self.selection = selection or RunSelection(case, number)
        self.is_rescoring = False  # whether the head polls until scripts have been run in the background
        self._request = request
        self._sent_position = request.POST.get("position") or request.GET.get("position") or ""
        self._tabs = parse_tabs(request.GET.getlist("tab"))
        self._open_ids = [parse_number(text) for text in request.GET.getlist("open")]

    def showing_newest_run(self) -> "Workbench":
        """Returns the same page with the newest run, after one was started."""
        return Workbench(
            self._request, self.case, selection=RunSelection(self.case), query_filter=replace(self.filter, run=0)
        )

    # --- parts ---

    @cached_property
    def versions(self) -> list[ScorerVersion]:
        """The versions of the case's scorers, the primary first."""
        return list(ScorerVersion.objects.used_by(self.case))

    @cached_property
    def chart(self) -> HistoryChart:
        return HistoryChart(self.case, self.versions[0], self.selection.run)

    @cached_property
    def panel(self) -> ScorePanel:
        return ScorePanel(self.case, self.user, self.selection, self.versions, self.chart)

    @cached_property
    def queries(self) -> QueryList:
        return QueryList(
            self.case,
            self.user,
            access=self.access,
            selection=self.selection,
            query_filter=self.filter,
            versions=self.versions,
            previous_run=self.selection.baseline,
            tabs=self._tabs,
        )

    @cached_property
    def progress(self) -> RunProgress:
        """What the page knows of an active run."""
        return RunProgress.from_parameters(self._request.GET, self.selection.run)

    def header(self) -> RunHeader:
        return RunHeader(
            self.access,
            self.selection,
            self.progress,
            has_queries=self.access.can_edit and self.queries.total > 0,
            has_annotations=bool(self.chart.annotations),
            is_rescoring=self.is_rescoring,
        )

    def notices(self, *, stale_scores: int) -> list[Notice]:
        """Returns the notices above the list. `stale_scores`: how many are being computed in the background."""
        return run_notices(self.case, self.user, self.access, self.selection, self.panel, stale_scores=stale_scores)

    def row(
        self,
        case_query: ScoredCaseQuery,
        *,
        is_open: bool = False,
        detail: bool = True,
        position: int | None = None,
    ) -> QueryRow:
        """Returns a row that replaces one on the page; its position there is sent along unless it is given."""
        position = position or parse_number(self._sent_position) or None
        return self.queries.row(case_query, position=position, is_open=is_open, detail=detail)

    # --- what templates need ---

    def base_context(self) -> BaseContext:
        return {
            "case": self.case,
            "access": self.access,
            "selection": self.selection,
            "back_url": self.queries.url(),
        }

    def score_context(self) -> ScoreContext:
        return {**self.base_context(), "panel": self.panel, "chart": self.chart, "header": self.header()}

    def list_context(self, *, stale_scores: int) -> ListContext:
        return {
            **self.base_context(),
            "queries": self.queries,
            "rows": self.queries.rows(self._open_ids) if self.queries.total else [],
            "notices": self.notices(stale_scores=stale_scores),
        }

    def page_context(
        self, *, stale_scores: int, attempt_number: str = "", form: AttemptForm | None = None
    ) -> dict[str, object]:
        """Returns what the whole page needs. `form`: that of the tune pane with its errors, if it was sent."""
        return {
            **self.score_context(),
            **self.list_context(stale_scores=stale_scores),
            **self.tune_context(attempt_number=attempt_number, form=form),
            "zero_rates_ten": self.case.book.top == 10,
        }

    def tune_context(self, *, attempt_number: str = "", form: AttemptForm | None = None) -> TuneContext:
        tune = tune_pane(self.case, self.user, self.versions[0], number=attempt_number, form=form)
        return {**self.base_context(), "panel": self.panel, "tune": tune}
