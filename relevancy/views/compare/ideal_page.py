"""The parts of the comparison of a run with the best order, put together for one request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.urls import reverse

from relevancy import comparison, queries, scores, tasks
from relevancy.models import Case, Run, ScorerVersion, User
from relevancy.models.errors import error_text
from relevancy.views.charts import Chart
from relevancy.views.workbench.access import CaseAccess

from .charts import build_ideal_charts
from .comparison_page import PresentQuery, RunChoice, read_queries, run_options
from .forms import comparable_runs, run_value
from .query_filter import ComparedFilter
from .query_table import Column, QueryTable, TableRow
from .summary import PENDING, LinkedFigure, Summary
from .tag_table import TagRow

IDEAL = "ideal"  # what addresses call the best order, in place of a run
STATES = {"better": "Can gain", "same": "At their best", "unrated": "Unrated among the first k", "left_out": "Left out"}
COUNTED = {
    "counts": "better",
    "unrated": "unrated",
    "left_out": "left_out",
}  # the states of the queries that a figure counts


def names_ideal(parameters: QueryDict) -> bool:
    """Whether an address compares a run with the best order."""
    return IDEAL in parameters.getlist("run")


class IdealForm(forms.Form):
    """The run and the scorer. Bound to the address of the page."""

    run = forms.ChoiceField(
        error_messages={
            "required": "Choose a run.",
            "invalid_choice": "Run %(value)s does not exist in this case, or has no results yet. Choose another run.",
        }
    )
    scorer = forms.ChoiceField(
        required=False,
        error_messages={"invalid_choice": "This scorer does not belong to the case. Choose one of its scorers."},
    )

    def __init__(self, parameters: QueryDict, runs: Mapping[str, Run], versions: Mapping[str, ScorerVersion]) -> None:
        named = [value for value in parameters.getlist("run") if value not in {IDEAL, ""}]
        newest = next((value for value, run in runs.items() if run.status == Run.Status.COMPLETE), next(iter(runs), ""))
        super().__init__({"run": named[0] if named else newest, "scorer": parameters.get("scorer", "")})
        self._is_one_run = len(named) <= 1
        self._runs, self._versions = runs, versions
        self.fields["run"].choices = [(value, value) for value in runs]  # type: ignore[attr-defined]
        self.fields["scorer"].choices = [(value, value) for value in versions]  # type: ignore[attr-defined]

    def clean_run(self) -> Run:
        """Raises ValidationError if the address names more than one run."""
        if not self._is_one_run:
            raise ValidationError("The best order is compared with one run. Remove the others.")
        return self._runs[self.cleaned_data["run"]]

    def clean_scorer(self) -> ScorerVersion:
        """Returns the version of the scorer that the case uses; of its primary scorer if none is named."""
        chosen = self._versions.get(self.cleaned_data["scorer"]) or next(iter(self._versions.values()), None)
        if chosen is None:
            raise ValidationError("This case has no scorer. Add one on its page first.")
        return chosen


@dataclass(frozen=True)
class IdealTableRow(TableRow):
    """A row of the list. split: None if the query does not count, or its search failed."""

    split: comparison.GainSplit | None


class IdealTable(QueryTable):
    """The queries with what each can gain: a page of those that pass the filter at a time. Reads the hits of the page."""

    def __init__(self, page: "IdealPage") -> None:
        super().__init__(page.rows, page.queries, page.filter, page.list_url, page.open_id)
        self._run, self._version = page.run, page.version

    def columns(self, pair: Sequence[Run] = ()) -> list[Column]:
        """Returns the columns that the list can be sorted by."""
        labels = {
            "query": ("Query", ""),
            "a": (str(self._run), f"Score in {self._run}"),
            "b": ("Best", "Score of the best order of the documents that are rated today"),
            "difference": ("To gain", "Points"),
            "unrated": ("Unrated", "Documents that the scorer considers and nobody has rated"),
        }
        return [self._column(key, label, title) for key, (label, title) in labels.items()]

    def rows(self) -> Sequence[IdealTableRow]:
        splits = comparison.split_gains(self._run, self._version, self.page)
        return [IdealTableRow(**vars(item), split=splits.get(item.row.query_id)) for item in super().rows()]


class IdealPage:
    """Builds each part of the page when it is first needed. `case` was read by `get_case`. Nothing is stored."""

    is_ideal = True
    other = 1
    add_url = swapped_url = failure = ""
    stored = None  # no comparison of two runs

    def __init__(self, case: Case, user: User, parameters: QueryDict) -> None:
        self.case = case
        self.user = user
        self.access = CaseAccess(case, user)
        self.runs = comparable_runs(case)
        self.versions = list(ScorerVersion.objects.used_by(case))
        self.filter = ComparedFilter.from_parameters(parameters)
        self.open_id = parameters.get("open", "")
        self.form = IdealForm(
            parameters,
            {run_value(run, case): run for run in self.runs},
            {str(version.scorer_id): version for version in self.versions},
        )
        self.errors: list[str] = self._check()
        self.is_shown = not self.errors

    def _check(self) -> list[str]:
        if not self.form.is_valid():
            return [str(message) for errors in self.form.errors.values() for message in errors]
        try:
            comparison.check_ideal(self.run, self.version)
        except ValidationError as error:
            return [error_text(error)]
        return []

    @property
    def has_runs(self) -> bool:
        return bool(self.runs)

    @property
    def run(self) -> Run:
        run: Run = self.form.cleaned_data["run"]
        return run

    @property
    def version(self) -> ScorerVersion:
        version: ScorerVersion = self.form.cleaned_data["scorer"]
        return version

    @property
    def choices(self) -> list[RunChoice]:
        """The fields of the form: the run, and the best order."""
        run = self.form.cleaned_data.get("run")
        number = run_value(run, self.case) if run else ""
        details_url = (
            reverse("run_details", args=[self.case.pk, run.number], query={"next": self.parameters})
            if run and self.is_shown
            else ""
        )
        return [
            RunChoice("Run", number, run, is_own=True, remove_url="", details_url=details_url),
            RunChoice("Compared with", IDEAL, None, is_own=False, remove_url="", details_url=""),
        ]

    @cached_property
    def own_options(self) -> list[tuple[str, str]]:
        """The runs of the case as they can be chosen: value and text."""
        return run_options(self.runs, self.case)

    @property
    def other_options(self) -> list[tuple[str, list[tuple[str, str]]]]:
        return []

    @property
    def states(self) -> list[tuple[str, str]]:
        """The states that the list can be filtered by: name and label."""
        return list(STATES.items())

    @cached_property
    def is_pending(self) -> bool:
        """Whether scores of the run are missing or older than the ratings."""
        return self.is_shown and scores.count_stale(self.run, self.version) > 0

    def request_figures(self) -> None:
        """Enqueues the scoring of the run if it is needed."""
        if self.is_pending:
            tasks.enqueue_run_rescore(self.run)

    @cached_property
    def queries(self) -> Mapping[int, PresentQuery]:
        """The present queries of the case by id. One SQL statement."""
        return read_queries(self.case)

    @cached_property
    def figures(self) -> comparison.IdealComparison | None:
        """None as long as scores are being computed."""
        if not self.is_shown or self.is_pending:
            return None
        return comparison.compare_with_ideal(self.run, self.version)

    @cached_property
    def rows(self) -> list[comparison.QueryRow]:
        """All queries."""
        return [row for row in self.figures.rows if row.query_id in self.queries] if self.figures else []

    @cached_property
    def tags(self) -> list[str]:
        return queries.tags.of_case(self.case)

    def summary(self) -> Summary | None:
        """What can be gained; with “…” instead of numbers as long as scores are being computed."""
        if not self.is_shown:
            return None
        if self.figures is None:
            figures = [
                LinkedFigure(comparison.Figure(key, label, PENDING)) for key, label in comparison.IDEAL_LABELS.items()
            ]
            sentence = f"{self.run} is being scored."
            return Summary(self.run, self.run, sentence, figures, is_pending=True)
        result = self.figures
        return Summary(
            self.run,
            self.run,
            result.sentence,
            [LinkedFigure(figure, self._counted_url(figure.key)) for figure in comparison.list_ideal_figures(result)],
            details=result.details,
            warnings=result.warnings,
            score_a=result.score,
            score_b=result.ideal,
            difference=result.gain,
        )

    def _counted_url(self, key: str) -> str:
        state = COUNTED.get(key)
        return self.list_url(state=state, page="") if state else ""

    def tag_table(self) -> list[TagRow]:
        """The tags whose queries can gain most first; empty without tags, and as long as scores are being computed."""
        tags = self.figures.tags if self.figures else []
        return [TagRow(tag, self.list_url(tag=tag.tag, page="")) for tag in tags]

    def charts(self) -> list[Chart]:
        """The charts; none as long as scores are being computed."""
        return build_ideal_charts(self.rows, lambda query_id: self.queries[query_id].case_query_id, str(self.run))

    def table(self) -> IdealTable:
        return IdealTable(self)

    # --- addresses ---

    @property
    def parameters(self) -> str:
        """The parameters that name the comparison."""
        return urlencode([("run", self.run.number), ("run", IDEAL), ("scorer", self.version.scorer_id)])

    shown_parameters = parameters

    def url(self, name: str = "compare", *args: object, query: str = "") -> str:
        """Returns an address of the comparison. query: further parameters."""
        address = reverse(name, args=[self.case.pk, *args])
        if not self.is_shown:
            return f"{address}?run={IDEAL}"
        return f"{address}?{'&'.join(filter(None, (self.parameters, query)))}"

    def list_url(self, **changes: object) -> str:
        """Returns the address of the page with the filter as it is, but for some parameters."""
        return self.url(query=self.filter.query_string(**changes))

    @property
    def list_page_url(self) -> str:
        """The address of the list with its page and the open query."""
        page = self.filter.page if self.filter.page != "1" else ""
        return self.list_url(page=page, open=self.open_id)

    @property
    def state_url(self) -> str:
        return self.url("compare_state")

    @property
    def csv_url(self) -> str:
        return self.url("compare_csv", query=self.filter.query_string())

    @property
    def json_url(self) -> str:
        return self.url("compare_json")

    @property
    def report_url(self) -> str:
        return self.url("compare_report")
