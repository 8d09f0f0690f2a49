"""The parts of the comparison page, put together for one request."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.urls import reverse

from relevancy import comparison, queries, tasks
from relevancy.models import Case, Run, ScorerVersion, StoredComparison, User
from relevancy.models.errors import error_text
from relevancy.views.charts import Chart
from relevancy.views.requests import parse_number
from relevancy.views.workbench.access import CaseAccess
from relevancy.wording import counted

from .charts import build_charts
from .forms import ComparisonForm, comparable_runs, describe_run, run_value, runs_of_other_cases
from .query_filter import ComparedFilter
from .query_table import QueryTable
from .rating_list import RatingList, build_rating_list
from .several_runs import SeveralRuns, build_several
from .summary import Summary, pending_summary, summarize
from .tag_table import TagRow, build_tag_rows

LABELS = ("Before", "After")
LABELS_OF_SEVERAL = ("Baseline", "Second run", "Third run", "Fourth run", "Fifth run")


@dataclass(frozen=True, slots=True)
class PresentQuery:
    """A query of the case. case_query_id: of its case query, which addresses name."""

    case_query_id: int
    text: str
    tags: list[str]


@dataclass(frozen=True)
class RunChoice:
    """A field of the form: which run is chosen. number: as addresses name it; empty if none is. run: None unless the comparison exists.

    is_own: whether it belongs to the case of the page.
    remove_url: of the comparison without the run; empty if there are only two.
    details_url: of the form with its name and note, which leads back to the comparison; empty without one.
    """

    label: str
    number: str
    run: Run | None
    is_own: bool
    remove_url: str
    details_url: str


def read_queries(case: Case) -> dict[int, PresentQuery]:
    """Returns the present queries of a case by id. One SQL statement."""
    rows = case.case_queries.present().values_list("query_id", "pk", "query__text", "query__tags")
    return {query_id: PresentQuery(case_query_id, text, tags) for query_id, case_query_id, text, tags in rows}


def run_options(runs: Iterable[Run], case: Case) -> list[tuple[str, str]]:
    """Returns runs as they can be chosen on the page of a case: value and text."""
    return [(run_value(run, case), describe_run(run)) for run in runs]


class ComparisonPage:
    """Builds each part of the page when it is first needed. `case` was read by `get_case`."""

    is_ideal = False

    def __init__(self, case: Case, user: User, parameters: QueryDict) -> None:
        self.case = case
        self.user = user
        self.access = CaseAccess(case, user)
        self.runs = comparable_runs(case)
        self.other_runs = runs_of_other_cases(case, user)
        self.versions = list(ScorerVersion.objects.used_by(case))
        self.form = ComparisonForm(parameters, case, self.runs, self.other_runs, self.versions)
        self.filter = ComparedFilter.from_parameters(parameters)
        self.open_id = parameters.get("open", "")
        self.errors: list[str] = []
        self._other = parse_number(parameters.get("other", ""))
        self.stored = self._find() if self.has_runs else None

    def _find(self) -> StoredComparison | None:
        if not self.form.is_valid():
            self.errors = self.form.messages
            return None
        try:
            return comparison.stored.find_or_create(runs=self.compared_runs, version=self.version)
        except ValidationError as error:
            self.errors = [error_text(error)]
            return None

    @property
    def has_runs(self) -> bool:
        """Whether the case has a run, and another one that it can be compared with."""
        return bool(self.runs) and len(self.runs) + len(self.other_runs) > 1

    @property
    def is_shown(self) -> bool:
        """Whether the address names runs that can be compared."""
        return self.stored is not None

    @property
    def compared_runs(self) -> list[Run]:
        """The baseline and the other runs."""
        runs: list[Run] = self.form.cleaned_data["run"]
        return runs

    @property
    def other(self) -> int:
        """The position of the run that charts, tags, queries and lists show against the baseline: 1 unless the address names it."""
        return self._other if 1 <= self._other < len(self.compared_runs) else 1

    @property
    def pair(self) -> list[Run]:
        """The baseline and the run that is shown against it."""
        return [self.compared_runs[0], self.compared_runs[self.other]]

    @property
    def pair_names(self) -> list[str]:
        return comparison.name_runs(self.pair)

    @property
    def version(self) -> ScorerVersion:
        version: ScorerVersion = self.form.cleaned_data["scorer"]
        return version

    @property
    def choices(self) -> list[RunChoice]:
        """The fields of the form: two to five."""
        numbers = self.form.selected_numbers
        runs: list[Run | None] = [*self.compared_runs] if self.stored else [None] * len(numbers)
        labels = LABELS if len(numbers) == len(LABELS) else LABELS_OF_SEVERAL
        return [
            RunChoice(
                label,
                number,
                run,
                is_own=run is not None and run.case_id == self.case.pk,
                remove_url=self._choice_url([*numbers[:position], *numbers[position + 1 :]])
                if len(numbers) > 2
                else "",
                details_url=self._details_url(run),
            )
            for position, (label, number, run) in enumerate(zip(labels, numbers, runs, strict=False))
        ]

    @property
    def add_url(self) -> str:
        """The address with one more run; empty if there is none, or five are compared."""
        numbers, added = self.form.selected_numbers, self.form.next_number
        return self._choice_url([*numbers, added]) if added and len(numbers) < comparison.MAX_RUNS else ""

    @property
    def judging_url(self) -> str:
        """The address of the settings of the book, filled in so that raters judge first what changes this comparison most."""
        a, b = self.pair
        chosen = {"order": "difference", "run_a": a.pk, "run_b": b.pk, "version": self.version.pk}
        return f"{reverse('book', args=[self.case.book_id])}?{urlencode(chosen)}#settings"

    def _choice_url(self, numbers: Sequence[str]) -> str:
        """Returns the address of the comparison of other runs under the same scorer."""
        parameters = [("run", number) for number in numbers]
        if self.stored is not None:
            parameters.append(("scorer", str(self.version.scorer_id)))
        return f"{reverse('compare', args=[self.case.pk])}?{urlencode(parameters)}"

    @cached_property
    def own_options(self) -> list[tuple[str, str]]:
        """The runs of the case as they can be chosen: value and text."""
        return run_options(self.runs, self.case)

    @cached_property
    def other_options(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """The runs of other cases as they can be chosen, by the name of their case."""
        return [
            (str(case), run_options(runs, self.case))
            for case, runs in groupby(self.other_runs, key=lambda run: run.case)
        ]

    def _details_url(self, run: Run | None) -> str:
        if run is None or run.case_id != self.case.pk:
            return ""
        return reverse("run_details", args=[self.case.pk, run.number], query={"next": self.shown_parameters})

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
        return read_queries(self.case)

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
        return [row for row in comparison.list_rows(self.figures, self.other) if row.query_id in self.queries]

    @cached_property
    def tags(self) -> list[str]:
        return queries.tags.of_case(self.case)

    def summary(self) -> Summary | None:
        """The verdict and its figures; with “…” instead of numbers as long as they are being computed."""
        if self.stored is None:
            return None
        if self.figures is None:
            return pending_summary(*self.pair)
        pair = self.figures.comparison.pairs[self.other - 1]
        tried = comparison.count_attempts_tried(pair.a, pair.b, self.version, pair.paired.p)
        return summarize(self.figures, self.other, tried, self.rows, self.list_url)

    def several(self) -> SeveralRuns | None:
        """All runs of the comparison; None if there are only two, and as long as the figures are being computed."""
        if self.figures is None or len(self.compared_runs) == 2:
            return None
        return build_several(self.figures.comparison, self.other, self._show_url, self._baseline_url)

    def _show_url(self, position: int) -> str:
        """Returns the address that shows another run against the baseline."""
        return self.list_url(other=position if position > 1 else "", page="")

    def _baseline_url(self, position: int) -> str:
        """Returns the address with another run as the baseline; empty for runs of other cases."""
        numbers = self.form.selected_numbers
        if self.compared_runs[position].case_id != self.case.pk:
            return ""
        return self._choice_url([numbers[position], *numbers[:position], *numbers[position + 1 :]])

    def tag_table(self) -> list[TagRow]:
        """The comparison for each tag, the surest first; empty without tags, and as long as the figures are being computed."""
        if self.figures is None:
            return []
        of_pair = [tag for tag in self.figures.comparison.tags if tag.other == self.other]
        return build_tag_rows(of_pair, self.list_url)

    def rating_list(self) -> RatingList | None:
        """What to rate next; None if nothing is unrated, for scorers without bounds, and as long as the figures are being computed."""
        plan = self.figures.plans[self.other - 1] if self.figures else None
        return build_rating_list(plan, self.pair, self.queries, self.list_url) if plan else None

    @property
    def tag_correction(self) -> str:
        """Returns what the p of the tags is corrected for. Tags with too few queries have no p, and do not count."""
        tested = [] if self.figures is None else [tag for tag in self.figures.comparison.tags if tag.p is not None]
        tags = len({tag.tag for tag in tested})
        runs = len(self.compared_runs) - 1
        among = counted(tags, "tag") + (f" in {runs} runs" if runs > 1 else "")
        return (
            f"p is corrected for {among} by Holm's method" if tested else "No tag has enough queries for a p below .05"
        )

    def charts(self) -> list[Chart]:
        """The charts; none as long as the figures are being computed."""
        if self.figures is None:
            return []
        first, second = self.pair_names
        return build_charts(self.rows, lambda query_id: self.queries[query_id].case_query_id, first, second)

    def table(self) -> QueryTable:
        return QueryTable(self.rows, self.queries, self.filter, self.list_url, self.open_id)

    # --- addresses ---

    @property
    def parameters(self) -> str:
        """The parameters that name the comparison."""
        numbers = [("run", run_value(run, self.case)) for run in self.compared_runs]
        return urlencode([*numbers, ("scorer", str(self.version.scorer_id))])

    @property
    def shown_parameters(self) -> str:
        """The parameters that name the comparison, and the run that it shows against the baseline."""
        return self.parameters + (f"&other={self.other}" if self.other > 1 else "")

    def url(self, name: str = "compare", *args: object, query: str = "") -> str:
        """Returns an address of the comparison, with the same run shown. query: further parameters."""
        shown = f"other={self.other}" if self.stored is not None and self.other > 1 else ""
        return self._url(name, *args, queries=(shown, query))

    def list_url(self, **changes: object) -> str:
        """Returns the address of the page with the filter as it is, but for some parameters."""
        shown = {"other": self.other if self.stored is not None and self.other > 1 else ""}
        return self._url("compare", queries=(self.filter.query_string(**{**shown, **changes}),))

    def _url(self, name: str, *args: object, queries: Sequence[str]) -> str:
        address = reverse(name, args=[self.case.pk, *args])
        if self.stored is None:
            return address
        return f"{address}?{'&'.join(filter(None, (self.parameters, *queries)))}"

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

    @property
    def swapped_url(self) -> str:
        """The address with both runs exchanged, on the page of the case that the new baseline belongs to; empty for more runs, and
        without a comparison."""
        if self.stored is None or len(self.compared_runs) > 2:
            return ""
        baseline, run = reversed(self.compared_runs)
        parameters: list[tuple[str, object]] = [("run", run_value(side, baseline.case)) for side in (baseline, run)]
        if baseline.case_id == self.case.pk:  # another case may have other scorers
            parameters.append(("scorer", self.version.scorer_id))
        return f"{reverse('compare', args=[baseline.case_id])}?{urlencode(parameters)}"
