"""What a public link shows: scores, the history, queries and results. No names of people, and nothing about an endpoint."""

from collections.abc import Sequence
from functools import cached_property

from django.core.paginator import Page, Paginator

from relevancy import runs, scores
from relevancy.models import Case, CaseQuery, CaseScore, Run, ScorerVersion
from relevancy.views.workbench.history_chart import HistoryChart
from relevancy.views.workbench.query_detail import read_rankings
from relevancy.views.workbench.run_selection import RunSelection

from .models import PublicLink

PAGE_SIZE = 50


class PublicCase:
    """The last complete run of a case under its primary scorer."""

    def __init__(self, link: PublicLink) -> None:
        self.case: Case = link.case
        self._link = link

    @cached_property
    def run(self) -> Run | None:
        """The last complete run; None if there is none."""
        return RunSelection(self.case).last_complete

    @cached_property
    def version(self) -> ScorerVersion:
        """The version of the primary scorer that scores the case."""
        return ScorerVersion.objects.used_by(self.case)[0]

    @cached_property
    def _chart(self) -> HistoryChart:
        return HistoryChart(self.case, self.version, self.run)

    @property
    def score(self) -> CaseScore | None:
        """The score of the run; None if it has none."""
        return next((score for score in self._chart.case_scores if self.run and score.run_id == self.run.pk), None)

    @property
    def is_score_current(self) -> bool:
        """Whether the score is based on the present ratings."""
        return self.score is None or scores.is_settled(self.score)

    def points(self) -> list[dict[str, object]]:
        """Returns the points of the history, without links."""
        return self._chart.plain_points()

    def page(self, number: str | None) -> "Page[CaseQuery]":
        """Returns a page of the queries with their scores, in the order of the case."""
        ordered = self.case.case_queries.present().with_scores(self.run, self.version).order_by("position", "pk")
        return Paginator(ordered, PAGE_SIZE).get_page(number)

    def case_query(self, pk: int) -> CaseQuery | None:
        """Returns a present query with its score; None if the case has none with this id."""
        present = self.case.case_queries.present().filter(pk=pk)
        return present.with_scores(self.run, self.version).first()

    def results(self, case_query: CaseQuery) -> Sequence[runs.Result]:
        """Returns the documents that the run shows for a query; none if its search failed. A page shows their grades, never what single
        raters gave."""
        if self.run is None:
            return []
        ranking = read_rankings([self.run], case_query.query_id).get(self.run.pk)
        if ranking is None or ranking.error_kind:
            return []
        return runs.build_results(ranking, by=self._link.created_by, depth=self.run.config["depth"])
