"""The parts of the comparison page, put together for one request."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.urls import reverse

from relevancy import comparison, queries, tasks
from relevancy.models import Case, Run, ScorerVersion, StoredComparison, User
from relevancy.models.errors import error_text
from relevancy.views.requests import parse_number
from relevancy.views.workbench.access import CaseAccess

from .charts import Chart, build_charts
from .forms import ComparisonForm, comparable_runs
from .query_filter import ComparedFilter
from .query_table import QueryTable
from .summary import Summary, pending_summary, summarize
from .tag_table import TagRow, build_tag_rows

LABELS = ("Before", "After")


@dataclass(frozen=True, slots=True)
class PresentQuery:
    """A query of the case. entry_id: of its case query, which addresses name."""

    entry_id: int
    text: str
    tags: list[str]


@dataclass(frozen=True)
class RunChoice:
    """A field of the form: which run is chosen. number: 0 if none is. run: None unless the comparison exists.

    details_url: of the form with its name and note, which leads back to the comparison; empty without one.
    """

    label: str
    number: int
    run: Run | None
    details_url: str


class ComparisonPage:
    """Builds each part of the page when it is first needed. `case` was read by `get_case`."""

    def __init__(self, case: Case, user: User, parameters: QueryDict) -> None:
        self.case = case
        self.user = user
        self.access = CaseAccess(case, user)
        self.runs = comparable_runs(case)
        self.versions = list(ScorerVersion.objects.used_by(case))
        self.form = ComparisonForm(parameters, self.runs, self.versions)
        self.filter = ComparedFilter.from_parameters(parameters)
        self.open_id = parameters.get("open", "")
        self.errors: list[str] = []
        self.stored = self._find() if self.has_runs else None

    def _find(self) -> StoredComparison | None:
        if not self.form.is_valid():
            self.errors = self.form.messages
            return None
        try:
            return comparison.stored.find_or_create(case=self.case, runs=self.compared_runs, version=self.version)
        except ValidationError as error:
            self.errors = [error_text(error)]
            return None

    @property
    def has_runs(self) -> bool:
        """Whether the case has two runs to compare."""
        return len(self.runs) > 1

    @property
    def compared_runs(self) -> list[Run]:
        """The baseline and the other run."""
        runs: list[Run] = self.form.cleaned_data["run"]
        return runs

    @property
    def version(self) -> ScorerVersion:
        version: ScorerVersion = self.form.cleaned_data["scorer"]
        return version

    @property
    def choices(self) -> list[RunChoice]:
        """The two fields of the form."""
        numbers = [parse_number(number) for number in self.form.selected_numbers]
        numbers += [0] * (len(LABELS) - len(numbers))
        runs = self.compared_runs if self.stored else [None] * len(LABELS)
        return [
            RunChoice(label, number, run, self._details_url(number))
            for label, number, run in zip(LABELS, numbers, runs, strict=True)
        ]

    def _details_url(self, number: int) -> str:
        if self.stored is None:
            return ""
        return reverse("run_details", args=[self.case.pk, number], query={"next": self.parameters})

    @property
    def states(self) -> list[tuple[str, str]]:
        """The states that the list can be filtered by: name and label."""
        return [(name, label) for name, (label, _) in comparison.STATES.items()]

    # --- state ---

    @property
    def is_pending(self) -> bool:
        """Whether the figures are being computed."""
        return self.stored is not None and comparison.stored.needs_computing(self.stored)

    def request_figures(self, *, again: bool = False) -> None:
        """Enqueues the computation if it is needed. `again`: also if it failed."""
        if self.stored is not None and comparison.stored.needs_computing(self.stored, again=again):
            if again:
                self.stored.error = ""
            tasks.enqueue_comparison(self.stored)

    @property
    def failure(self) -> str:
        """Why the figures could not be computed, in a sentence; empty if they could."""
        return self.stored.error if self.stored and not self.is_pending and not self.stored.is_current else ""

    # --- parts ---

    @cached_property
    def queries(self) -> Mapping[int, PresentQuery]:
        """The present queries of the case by id. One SQL statement."""
        present = self.case.case_queries.present()
        rows = present.values_list("query_id", "pk", "query__text", "query__tags")
        return {query_id: PresentQuery(entry_id, text, tags) for query_id, entry_id, text, tags in rows}

    @cached_property
    def figures(self) -> comparison.ComparisonFigures | None:
        """None as long as they are being computed."""
        if self.stored is None or not self.stored.is_current:
            return None
        texts = {query_id: query.text for query_id, query in self.queries.items()}
        return comparison.stored.load(self.stored, self.compared_runs, texts)

    @cached_property
    def rows(self) -> list[comparison.QueryRow]:
        """All queries of the comparison."""
        if self.figures is None:
            return []
        # A query may have been removed since the figures were read.
        return [row for row in comparison.list_rows(self.figures) if row.query_id in self.queries]

    @cached_property
    def tags(self) -> list[str]:
        return queries.tags.of_case(self.case)

    def summary(self) -> Summary | None:
        """The verdict and its figures; with “…” instead of numbers as long as they are being computed."""
        if self.stored is None:
            return None
        if self.figures is None:
            return pending_summary(*self.compared_runs)
        pair = self.figures.comparison.pairs[0]
        tried = comparison.count_attempts_tried(pair.a, pair.b, self.version, pair.paired.p)
        return summarize(self.figures, tried, self.rows, self.list_url)

    def tag_table(self) -> list[TagRow]:
        """The comparison for each tag, the surest first; empty without tags, and as long as the figures are being computed."""
        return [] if self.figures is None else build_tag_rows(self.figures.comparison.tags, self.list_url)

    def charts(self) -> list[Chart]:
        """The charts; none as long as the figures are being computed."""
        if self.figures is None:
            return []
        first, second = (f"Run {run.number}" for run in self.compared_runs)
        return build_charts(self.rows, lambda query_id: self.queries[query_id].entry_id, first, second)

    def table(self) -> QueryTable:
        return QueryTable(self.rows, self.queries, self.filter, self.list_url, self.open_id)

    # --- addresses ---

    @property
    def parameters(self) -> str:
        """The parameters that name the comparison."""
        numbers = [("run", str(run.number)) for run in self.compared_runs]
        return urlencode([*numbers, ("scorer", str(self.version.scorer_id))])

    def url(self, name: str = "compare", *args: object, query: str = "") -> str:
        """Returns an address of the comparison. query: further parameters."""
        if self.stored is None:
            return reverse(name, args=[self.case.pk, *args])
        return f"{reverse(name, args=[self.case.pk, *args])}?{self.parameters}{'&' if query else ''}{query}"

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
    def swapped_url(self) -> str:
        """The address with both runs exchanged."""
        numbers = [("run", str(run.number)) for run in reversed(self.compared_runs)]
        return f"{reverse('compare', args=[self.case.pk])}?{urlencode([*numbers, ('scorer', self.version.scorer_id)])}"
