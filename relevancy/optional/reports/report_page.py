"""The parts of the report page, put together for one request."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.urls import reverse

from relevancy.models import Case, Run, ScorerVersion, User
from relevancy.views.requests import parse_number
from relevancy.views.workbench.access import CaseAccess

from .case_report import CaseReport, ReportQuery, ScoreStep, TagReport, build_report
from .planning import DEFAULT_DIFFERENCES
from .rating_candidates import RatingCandidate

MAX_LISTED_RUNS = 60
MAX_LISTED = 10  # queries of a list


class DifferenceForm(forms.Form):
    """A difference to plan for, in points."""

    delta = forms.FloatField(
        required=False,
        min_value=0.1,
        max_value=100,
        label="Another difference",
        widget=forms.NumberInput(attrs={"step": "any", "placeholder": "points"}),
    )


class ReportPage:
    """Builds each part of the page when it is first needed. `case` was read by `get_case`."""

    def __init__(self, case: Case, user: User, parameters: QueryDict) -> None:
        self.case = case
        self.access = CaseAccess(case, user)
        self.versions = list(ScorerVersion.objects.used_by(case))
        scorer = parse_number(parameters.get("scorer", ""))
        self.version = next((version for version in self.versions if version.scorer_id == scorer), self.versions[0])
        self.form = DifferenceForm(parameters)
        self._number = parse_number(parameters.get("run", ""))
        self.compared = parse_number(parameters.get("compared", ""))

    @cached_property
    def runs(self) -> list[Run]:
        """The runs that can be chosen, newest first; the one that was named among them."""
        finished = Run.objects.newest_for(self.case).finished().select_related("attempt")
        runs = list(finished.defer("attempt__template")[:MAX_LISTED_RUNS])
        if self._number and all(run.number != self._number for run in runs):
            runs += finished.filter(number=self._number)
        for run in runs:
            run.case = self.case
        return runs

    @cached_property
    def run(self) -> Run | None:
        """The run of the report: the one that was named, or else the newest complete one, or the newest finished one."""
        complete = (run for run in self.runs if run.status == Run.Status.COMPLETE)
        newest = next(complete, self.runs[0] if self.runs else None)
        return next((run for run in self.runs if run.number == self._number), newest)

    @cached_property
    def report(self) -> CaseReport | None:
        """None without a finished run."""
        if self.run is None:
            return None
        chosen = self.form.cleaned_data.get("delta") if self.form.is_valid() else None
        differences = (*DEFAULT_DIFFERENCES, *([chosen] if chosen else []))
        return build_report(self.run, self.version, differences=differences, compared=self.compared)

    def runs_to_rescore(self) -> list[Run]:
        """Returns the runs whose scores are missing or older than the ratings."""
        report = self.report
        if report is None:
            return []
        return [report.run] if report.is_being_rescored else list(report.awaited)

    @property
    def is_pending(self) -> bool:
        return bool(self.runs_to_rescore())

    # --- lists ---

    def query_lists(self) -> list[dict[str, Any]]:
        """Returns the lists of queries that need attention, as `reports/_queries.html` shows them."""
        report = self.report
        if report is None:
            return []
        coverage = "among the results that the scorer considers"
        covered = "Every document that the scorer considers is rated."
        return [
            self._list("empty", "Without results", "Every search found something.", report.empty, state="empty"),
            self._list("failed", "Failed searches", "No search failed.", report.failed, state="failed")
            | {"column": "Error"},
            self._list("covered", "Least rated queries", covered, report.least_covered(MAX_LISTED), state="unrated")
            | {"note": coverage, "column": "Rated"},
            self._list(
                "slowest", "Slowest searches", "The engine reports no times.", report.slowest(MAX_LISTED), sort="-ms"
            )
            | {"column": "Time"},
        ]

    def _list(
        self, key: str, title: str, empty: str, queries: Sequence[ReportQuery], **parameters: object
    ) -> dict[str, Any]:
        """key: stable name. empty: what is said if there are none. parameters: of the page that lists all of them."""
        return {
            "key": key,
            "title": title,
            "empty": empty,
            "lines": [(query, self._query_url(query)) for query in queries[:MAX_LISTED]],
            "more": max(0, len(queries) - MAX_LISTED),
            "all_url": self._list_url(**parameters),
        }

    def candidates(self) -> list[tuple[RatingCandidate, ReportQuery, str]]:
        """Returns the documents to rate, each with its query and the address that opens it in the run."""
        if self.report is None:
            return []
        by_id = {query.query_id: query for query in self.report.queries}
        lines = [(candidate, by_id[candidate.query_id]) for candidate in self.report.candidates]
        return [(candidate, query, self._query_url(query)) for candidate, query in lines]

    def tags(self) -> list[tuple[TagReport, str]]:
        """Returns the tags, each with the address of its queries."""
        return [(tag, self._list_url(tag=tag.tag)) for tag in self.report.tags] if self.report else []

    def distribution(self) -> list[tuple[ScoreStep, float]]:
        """Returns the steps of the distribution of scores, each with the width of its bar, of 100."""
        steps = self.report.distribution if self.report else []
        largest = max((step.queries for step in steps), default=0) or 1
        return [(step, round(100 * step.queries / largest, 1)) for step in steps]

    # --- addresses ---

    @property
    def unscored_url(self) -> str:
        return self._list_url(state="unscored")

    @property
    def unrated_url(self) -> str:
        return self._list_url(state="unrated")

    @property
    def run_url(self) -> str:
        return self._list_url()

    def _list_url(self, **parameters: object) -> str:
        assert self.run is not None
        return reverse("case", args=[self.case.pk], query={"run": self.run.number, **parameters})

    def _query_url(self, query: ReportQuery) -> str:
        assert self.run is not None
        return reverse("query", args=[self.case.pk, query.case_query_id], query={"run": self.run.number})

    @property
    def query_string(self) -> str:
        chosen = {
            "run": self.run.number if self.run and self._number else "",
            "scorer": self.version.scorer_id if self.version != self.versions[0] else "",
            "delta": self.form.data.get("delta", "") if self.form.is_valid() else "",
            "compared": self.compared or "",
        }
        return urlencode({key: value for key, value in chosen.items() if value})

    @property
    def url(self) -> str:
        return self._url("report")

    @property
    def csv_url(self) -> str:
        return self._url("report_csv")

    @property
    def json_url(self) -> str:
        return self._url("report_json")

    def _url(self, name: str) -> str:
        query = self.query_string
        return f"{reverse(name, args=[self.case.pk])}{'?' if query else ''}{query}"
