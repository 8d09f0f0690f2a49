"""The parts of the comparison page, put together for one request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from urllib.parse import urlencode

from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.urls import reverse
from django.utils.safestring import SafeString

from relevancy import comparison, queries, tasks
from relevancy.hooks import ComparisonTab
from relevancy.models import Case, CaseQuery, Run, ScorerVersion, StoredComparison, User
from relevancy.models.errors import error_text
from relevancy.views.charts import Chart
from relevancy.views.next_steps import NextSteps
from relevancy.views.requests import parse_number
from relevancy.views.workbench.access import CaseAccess

from .best_order import compare_with_best_order
from .charts import build_charts, build_large_charts
from .forms import ComparisonForm, comparable_runs, describe_run, run_value, runs_of_other_cases
from .large_table import STATES as LARGE_STATES
from .large_table import LargeTable
from .next_steps import find_next_steps
from .query_comparison import QueryComparison, compare_query
from .query_filter import MAX_PICKED, ComparedFilter
from .query_links import link_queries
from .query_table import PresentQuery, QueryTable
from .rating_list import RatingList, build_rating_list
from .several_runs import SeveralRuns, build_several
from .tabs import list_tabs

LABELS = ("Before", "After")
USUAL_TABS = ("runs", "tags")  # open unless the address names another one: the cheapest that are worth a look
# Parameters of the list of the queries that a figure counts.
COUNTED: dict[str, dict[str, str]] = {
    "counts": {"state": "worse"},
    "changed": {"state": "changed"},
    "gain": {"best": "1", "sort": "-gain"},
    "not-compared": {"state": "left_out"},
}
LABELS_OF_SEVERAL = ("Baseline", "Second run", "Third run", "Fourth run", "Fifth run")


@dataclass(frozen=True)
class RunChoice:
    """A field of the form: which run is chosen. number: as addresses name it; empty if none is. run: None unless the comparison exists.

    is_own: whether it belongs to the case of the page.
    others: the numbers of the comparison without the run; empty if there are only two.
    """

    label: str
    number: str
    run: Run | None
    is_own: bool
    others: list[str]


class ComparisonPage:
    """Builds each part of the page when it is first needed. `case` was read by `get_case`.

    stored: None unless the address names runs that can be compared. Only then are there `compared_runs`, the baseline first, `version`,
        `is_large`, whether one of them has so many queries that its list is read by key, and the `pair` that charts, tags, queries and
        lists show: the baseline and the run at the position `other`, 1 unless the address names it.
    shows_best: whether the best order of that run is shown.
    plain_query: the parameters of the comparison, without those of the list and the tab.
    query: the parameters of the page but for the page of the list and the open query; links change some of them.
    """

    def __init__(
        self, case: Case, user: User, parameters: QueryDict, *, query_filter: ComparedFilter | None = None
    ) -> None:
        """`query_filter`: that of the list, if the address is not that of the page."""
        self.case = case
        self.user = user
        self.access = CaseAccess(case, user)
        self.runs = comparable_runs(case)
        self.other_runs = runs_of_other_cases(case, user)
        self.has_runs = bool(self.runs) and len(self.runs) + len(self.other_runs) > 1
        self.versions = list(ScorerVersion.objects.used_by(case))
        self.form = ComparisonForm(parameters, case, self.runs, self.other_runs, self.versions)
        self.numbers = self.form.selected_numbers
        self.filter = query_filter or ComparedFilter.from_parameters(parameters)
        self.open_id = parameters.get("open", "")
        self._tab_key = parameters.get("tab", "")
        self.errors: list[str] = []
        self.query = QueryDict(mutable=True)
        self.query.setlist("run", self.numbers)
        self.stored = self._find() if self.has_runs else None
        if self.stored is not None:
            self.compared_runs: list[Run] = self.form.cleaned_data["run"]
            self.version: ScorerVersion = self.form.cleaned_data["scorer"]
            other = parse_number(parameters.get("other", ""))
            self.other = other if 1 <= other < len(self.compared_runs) else 1
            self.pair = [self.compared_runs[0], self.compared_runs[self.other]]
            self.pair_names = comparison.name_runs(self.pair)
            self.is_large = comparison.has_large(self.compared_runs)
            self.shows_best = parameters.get("best") == "1" and not self.version.script and not self.is_large
            self.query["scorer"] = str(self.version.scorer_id)
            if self.other > 1:
                self.query["other"] = str(self.other)
            if self.shows_best:
                self.query["best"] = "1"
            self.plain_query = self.query.copy()
            self.query.update(self.filter.parameters())
            if self._tab_key:
                self.query["tab"] = self._tab_key
        self.back = {"next": self.query.urlencode()}  # leads back from the form with the name and note of a run
        # Where the page is: which page of the list, and which query is open.
        self.location = {"page": self.filter.page if self.filter.page != "1" else None, "open": self.open_id or None}

    def _find(self) -> StoredComparison | None:
        if not self.form.is_valid():
            self.errors = [str(message) for errors in self.form.errors.values() for message in errors]
            return None
        chosen = self.form.cleaned_data
        try:
            return comparison.stored.find_or_create(runs=chosen["run"], version=chosen["scorer"])
        except ValidationError as error:
            self.errors = [error_text(error)]
            return None

    def url(self, **changes: object) -> str:
        """Returns the address of the page with some parameters changed."""
        parameters = self.query.copy()
        for name, value in changes.items():
            parameters[name] = str(value)
        address = reverse("compare", args=[self.case.pk])
        return f"{address}?{parameters.urlencode()}" if self.stored else address

    def plain_url(self, **changes: object) -> str:
        """Returns the address of the comparison, without filter, order and tab, with some parameters added."""
        parameters = self.plain_query.copy()
        parameters.update({name: str(value) for name, value in changes.items()})
        return f"{reverse('compare', args=[self.case.pk])}?{parameters.urlencode()}"

    # --- the form ---

    @cached_property
    def choices(self) -> list[RunChoice]:
        """The fields of the form: two to five."""
        runs: list[Run | None] = [*self.compared_runs] if self.stored else [None] * len(self.numbers)
        labels = LABELS if len(self.numbers) == len(LABELS) else LABELS_OF_SEVERAL
        return [
            RunChoice(
                label,
                number,
                run,
                is_own=run is not None and run.case_id == self.case.pk,
                others=[*self.numbers[:position], *self.numbers[position + 1 :]] if len(self.numbers) > 2 else [],
            )
            for position, (label, number, run) in enumerate(zip(labels, self.numbers, runs, strict=False))
        ]

    @cached_property
    def more_numbers(self) -> list[str]:
        """The runs with one more, the newest that is not chosen; empty if there is none, or five are compared."""
        added = self.form.next_number
        return [*self.numbers, added] if added and len(self.numbers) < comparison.MAX_RUNS else []

    @cached_property
    def options(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """The runs that can be chosen, by the name of their case, those of this case first: value and text."""
        return [
            (str(case), [(run_value(run, self.case), describe_run(run)) for run in runs])
            for case, runs in groupby([*self.runs, *self.other_runs], key=attrgetter("case"))
        ]

    @cached_property
    def swapped_url(self) -> str:
        """The address with both runs exchanged, on the page of the case that the new baseline belongs to; empty for more runs, and
        without a comparison."""
        if self.stored is None or len(self.compared_runs) > 2:
            return ""
        baseline, run = reversed(self.compared_runs)
        parameters = {"run": [run_value(baseline, baseline.case), run_value(run, baseline.case)]}
        if baseline.case_id == self.case.pk:  # another case may have other scorers
            parameters["scorer"] = [str(self.version.scorer_id)]
        return f"{reverse('compare', args=[baseline.case_id])}?{urlencode(parameters, doseq=True)}"

    @cached_property
    def judging_url(self) -> str:
        """The address of the settings of the book, filled in so that raters judge first what changes this comparison most."""
        a, b = self.pair
        chosen = {"order": "difference", "run_a": a.pk, "run_b": b.pk, "version": self.version.pk}
        return reverse("book_judging", args=[self.case.book_id], query=chosen)

    # --- state ---

    @cached_property
    def is_pending(self) -> bool:
        """Whether the figures are being computed."""
        return self.stored is not None and comparison.stored.needs_computing(self.stored)

    def request_figures(self, *, again: bool = False) -> None:
        """Enqueues the computation if it is needed. `again`: also if it failed."""
        if self.stored is not None and comparison.stored.needs_computing(self.stored, again=again):
            if again:
                self.stored.error = ""
            tasks.enqueue_comparison(self.stored)

    @cached_property
    def failure(self) -> str:
        """Why the figures could not be computed, in a sentence; empty if they could."""
        return self.stored.error if self.stored and not self.figures and not self.is_pending else ""

    # --- parts ---

    @cached_property
    def queries(self) -> Mapping[int, PresentQuery]:
        """The present queries of the case by id. One SQL statement."""
        rows = self.case.case_queries.present().values_list("query_id", "pk", "query__text", "query__tags")
        return {query_id: PresentQuery(case_query_id, text, tags) for query_id, case_query_id, text, tags in rows}

    @cached_property
    def large(self) -> comparison.LargeFigures | None:
        """The figures of runs of large cases, of which no others are kept; None for other runs, and as long as they are being
        computed."""
        return comparison.stored.find_large(self.stored) if self.stored and self.stored.is_current else None

    @property
    def large_pair(self) -> comparison.LargePair | None:
        """Of these figures, those of the pair that is shown."""
        return self.large.pairs[self.other - 1] if self.large else None

    @property
    def large_mean(self) -> float | None:
        """The mean of the run that is shown against the baseline."""
        return self.large.means[self.other] if self.large else None

    @property
    def large_lists(self) -> list[tuple[int, str, str]]:
        """How many queries of a large case are better, the same and worse, with the address of their list."""
        pair = self.large_pair
        if pair is None:
            return []
        return [
            (pair.wins, "better", self.plain_url(sort="-difference")),
            (pair.ties, "the same", self.plain_url(state="same", sort="query")),
            (pair.losses, "worse", self.plain_url()),
        ]

    @cached_property
    def figures(self) -> comparison.ComparisonFigures | None:
        """None as long as they are being computed, and for runs of large cases."""
        if self.stored is None or not self.stored.is_current or self.large:
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
    def summary(self) -> comparison.PairSummary | None:
        """The verdict and its figures; with “…” instead of numbers as long as they are being computed."""
        if self.stored is None:
            return None
        if self.figures is None:
            return comparison.summarize_pending(self.pair)
        summary = comparison.summarize_pair(self.figures, self.other)
        if self.shows_best:
            gain = comparison.find_gain(self.figures.comparison.table.present, self.other)
            summary = replace(summary, details=[*gain.describe(self.pair_names[1]), *summary.details])
        return summary

    def all_figures(self) -> list[tuple[comparison.Figure, Mapping[str, str]]]:
        """Returns the figures that there are, with the parameters of the list of the queries that each counts, or none."""
        assert self.figures is not None
        figures = comparison.list_figures(self.figures, self.other, self.rows)
        return [(figure, COUNTED.get(figure.key, {})) for figure in figures if figure.value]

    @cached_property
    def key_figures(self) -> list[tuple[comparison.Figure, Mapping[str, str]]]:
        """The figures below the verdict; none if no query is scored in all runs."""
        if self.summary is None or (self.figures is not None and self.summary.difference is None):
            return []
        links = COUNTED if self.figures is not None else {}
        return [(figure, links.get(figure.key, {})) for figure in self.summary.figures if figure.value]

    @cached_property
    def details(self) -> list[SafeString]:
        """What has to be known beside the verdict, in sentences whose queries are links."""
        sentences = self.summary.details if self.summary else ()
        if not sentences:
            return []
        ids = {query.text: query.case_query_id for query in self.queries.values()}
        pair = self.figures.comparison.pairs[self.other - 1] if self.figures else None
        carriers = [ids[text] for text in (pair.carriers if pair else ())[:MAX_PICKED] if text in ids]
        return [link_queries(sentence, ids, carriers, self.plain_url) for sentence in sentences]

    @cached_property
    def warnings(self) -> list[str]:
        """What makes the figures less than they seem, in sentences."""
        of_runs = self.figures.comparison.warnings if self.figures else ()
        return [*of_runs, *(self.summary.warnings if self.summary else ())]

    @property
    def others(self) -> list[tuple[int, str]]:
        """The positions and names of the runs that can be shown against the baseline; empty if there is only one."""
        if self.stored is None or len(self.compared_runs) == 2:
            return []
        return [*enumerate(comparison.name_runs(self.compared_runs))][1:]

    @cached_property
    def next_steps(self) -> NextSteps | None:
        """What to do next; None as long as the figures are being computed."""
        return find_next_steps(self)

    @cached_property
    def several(self) -> SeveralRuns | None:
        """All runs of the comparison; None if there are only two, and as long as the figures are being computed."""
        if self.figures is None or len(self.compared_runs) == 2:
            return None
        return build_several(self.figures.comparison, self.numbers, self.other, self.case)

    @cached_property
    def tag_figures(self) -> list[comparison.TagFigures]:
        """The comparison for each tag, those with the smallest corrected p first, and among the same the largest difference; empty
        without tags, and as long as the figures are being computed."""
        return sorted((tag for tag in self._all_tag_figures if tag.other == self.other), key=lambda tag: tag.order)

    @property
    def _all_tag_figures(self) -> Sequence[comparison.TagFigures]:
        return self.large.tags if self.large else self.figures.comparison.tags if self.figures else ()

    @property
    def tag_sentence(self) -> str:
        """Which tags gain and which lose; empty without tags."""
        return comparison.describe_tags(self.tag_figures)

    @property
    def tag_correction(self) -> str:
        """What the p of the tags is corrected for."""
        return comparison.describe_correction(self._all_tag_figures, len(self.compared_runs) - 1)

    @cached_property
    def documents_to_rate(self) -> list[comparison.DocumentToRate]:
        """The documents to rate next; none if nothing is unrated, for scorers without bounds, and as long as the figures are being
        computed."""
        plan = self.figures.plans[self.other - 1] if self.figures else None
        return [document for document in plan.documents if document.query_id in self.queries] if plan else []

    def rating_list(self) -> RatingList:
        """Returns what to rate next, if there are such documents."""
        assert self.figures is not None
        plan = self.figures.plans[self.other - 1]
        assert plan is not None
        return build_rating_list(self.documents_to_rate, plan, self.pair, self.queries)

    @cached_property
    def tabs(self) -> list[ComparisonTab]:
        """The tabs below the list; none as long as the figures are being computed."""
        return list_tabs(self)

    @cached_property
    def tab(self) -> ComparisonTab | None:
        """The tab that is open: all runs, or the tags, unless the address names another one; None without them, and while there are
        no tabs."""
        named = next((tab for tab in self.tabs if tab.key == self._tab_key), None)
        return named or next((tab for tab in self.tabs if tab.key in USUAL_TABS), None)

    @cached_property
    def charts(self) -> list[Chart]:
        """The charts; none as long as the figures are being computed."""
        if self.large:
            return build_large_charts(self.large, self.other, *self.pair_names)
        return build_charts(self.rows, self.queries, *self.pair_names) if self.figures else []

    @cached_property
    def table(self) -> QueryTable | LargeTable:
        """The list of queries."""
        if self.is_large:
            return LargeTable(
                self.case, self.large_pair, self.filter, self.pair, self.pair_names, self.version, open_id=self.open_id
            )
        best_of = self.version if self.shows_best else None
        return QueryTable(
            self.rows, self.queries, self.filter, self.pair, self.pair_names, open_id=self.open_id, version=best_of
        )

    @property
    def states(self) -> list[tuple[str, str]]:
        """Those that the list can be filtered by, name and label."""
        available: Mapping[str, tuple[str, object]] = LARGE_STATES if self.is_large else comparison.STATES
        return [(name, label) for name, (label, _) in available.items()]

    @cached_property
    def tags(self) -> list[str]:
        """The tags that the list can be filtered by. One SQL statement; for runs of large cases the tags that have figures."""
        if self.is_large:
            return sorted({tag.tag for tag in self._all_tag_figures}, key=str.casefold)
        return queries.tags.of_case(self.case)

    def open_query(self, case_query: CaseQuery) -> QueryComparison:
        """Returns a query in both runs; in the second run and in its best order if that is shown."""
        if self.shows_best:
            return compare_with_best_order(
                case_query, self.pair[1], self.version, self.user, self.access, name=self.pair_names[1]
            )
        return compare_query(case_query, self.pair, self.version, self.user, self.access)
