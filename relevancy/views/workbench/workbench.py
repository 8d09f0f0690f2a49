"""The parts of the workbench page, put together for one request."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.functional import SimpleLazyObject

from relevancy.models import Case, Role, ScorerVersion, User, compiled
from relevancy.views.next_steps import NextSteps
from relevancy.views.notices import Notice
from relevancy.views.requests import HtmxRequest, page_parameters, parse_number
from relevancy.views.ticks import Tick, ticks_to_show

from .access import CaseAccess, get_case
from .attempt_form import AttemptForm
from .history_chart import HistoryChart
from .next_step import first_steps, next_step
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

PARTS = ("back_url", "chart", "header", "next", "notices", "panel", "queries", "rows", "ticks", "tune")


def open_workbench(
    request: HtmxRequest, case_id: int, *, needs: Role = Role.VIEWER, of_page: bool = False
) -> "Workbench":
    """Returns the workbench of a case on which the user has at least the role `needs`; see `get_case` and `Workbench`."""
    return Workbench(request, get_case(request, case_id, needs=needs), of_page=of_page)


class Workbench:
    """The parts of the page, each of which is built when a view or a template first needs it.

    They share the case, its run and its scorers.

    is_rescoring: whether the head polls until scripts have been run in the background.
    stale_scores: how many scores are being computed in the background.
    attempt_number, attempt_form: of the tune pane: the attempt it shows, and the form that was sent, with its errors.
    """

    def __init__(
        self, request: HtmxRequest, case: Case, *, selection: RunSelection | None = None, of_page: bool = False
    ) -> None:
        """`case` was read by `get_case`.

        selection: instead of the run that the address names; its runs are not read again.
        of_page: filter and order are those of the page that the request was sent from.
        """
        self.case = case
        self.user: User = request.user
        self.filter = QueryFilter.from_parameters(page_parameters(request) if of_page else request.GET)
        self.access = CaseAccess(case, self.user)
        if selection:
            self.filter = replace(self.filter, run=selection.parameters.get("run", 0))
        number = self.filter.run or parse_number(request.POST.get("run", ""))
        self.selection = selection or RunSelection(case, number)
        self.is_rescoring = False
        self.stale_scores = 0
        self.attempt_number = request.GET.get("attempt", "")
        self.attempt_form: AttemptForm | None = None
        self._request = request

    def render(self, template: str, *, status: int = 200, **context: object) -> HttpResponse:
        """Renders a template with the parts of the page by their names, and with what else it needs."""
        page = {"case": self.case, "access": self.access, "selection": self.selection}
        parts = {name: SimpleLazyObject(partial(getattr, self, name)) for name in PARTS}
        return render(self._request, template, {**page, **parts, **context}, status=status)

    def render_page(self, *, status: int = 200) -> HttpResponse:
        return self.render("workbench/workbench.html", status=status, zero_rates_ten=self.case.book.top == 10)

    @cached_property
    def versions(self) -> list[ScorerVersion]:
        """The versions of the case's scorers, the primary first."""
        return _versions(self.case.pk)

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
            tabs=parse_tabs(self._request.GET.getlist("tab")),
        )

    @property
    def back_url(self) -> str:
        """Where Back leads to."""
        return self.queries.url()

    @cached_property
    def progress(self) -> RunProgress:
        """What the page knows of an active run."""
        return RunProgress.from_parameters(self._request.GET)

    @property
    def header(self) -> RunHeader:
        return RunHeader(
            self.access,
            self.selection,
            self.progress,
            has_queries=self.access.can_edit and self.queries.total > 0,
            has_annotations=bool(self.chart.annotations),
            is_rescoring=self.is_rescoring,
        )

    @property
    def next(self) -> NextSteps:
        """What to do next, below the score."""
        return next_step(self.case, self.access, self.selection, self.panel, self.queries)

    @property
    def ticks(self) -> Sequence[Tick]:
        """The first steps of a new case."""
        has_queries = self.queries.total > 0
        steps = first_steps(self.case, self.access, self.panel, has_queries=has_queries, attempts=self.tune.last_number)
        return ticks_to_show(self._request, f"case-{self.case.pk}", steps)

    @property
    def notices(self) -> list[Notice]:
        """The notices above the list."""
        return run_notices(
            self.case, self.user, self.access, self.selection, self.panel, stale_scores=self.stale_scores
        )

    @cached_property
    def rows(self) -> list[QueryRow]:
        """The rows of the list."""
        opened = map(parse_number, self._request.GET.getlist("open"))
        return self.queries.rows(opened) if self.queries.total else []

    def row(
        self,
        case_query: ScoredCaseQuery,
        *,
        is_open: bool = False,
        detail: bool = True,
        position: int | None = None,
    ) -> QueryRow:
        """Returns a row that replaces one on the page; its position there is sent along unless it is given."""
        sent = self._request.POST.get("position") or self._request.GET.get("position") or ""
        position = position or parse_number(sent) or None
        return self.queries.row(case_query, position=position, is_open=is_open, detail=detail)

    @cached_property
    def tune(self) -> TunePane:
        return tune_pane(
            self.case,
            self.user,
            self.versions[0],
            can_edit=self.access.can_edit,
            number=self.attempt_number,
            form=self.attempt_form,
        )


@compiled
def _versions(case_id: int) -> QuerySet[ScorerVersion]:
    return ScorerVersion.objects.used_by(case_id)
