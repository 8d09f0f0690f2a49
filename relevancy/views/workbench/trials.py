"""The edited attempt is tried for a few queries, next to the run shown. Nothing is stored."""

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from relevancy import runs
from relevancy.engines.errors import EngineError
from relevancy.models import CaseQuery, Role
from relevancy.views.aligned_lists import AlignedLists, align
from relevancy.views.requests import HtmxRequest, page_parameters, parse_number

from .access import get_case
from .query_filter import QueryFilter
from .runs import sent_attempt_form
from .workbench import Workbench


@dataclass(frozen=True)
class TriedQuery:
    """A query searched with the draft, beside the run shown. names: of the run and of the draft."""

    trial: runs.Trial
    names: tuple[str, str]

    @property
    def case_query(self) -> CaseQuery:
        return self.trial.case_query

    @property
    def lists(self) -> AlignedLists:
        """Both result lists, aligned."""
        stored, draft = self.trial.stored, self.trial.results
        errors = (
            "" if stored else "The run has no results for this query.",
            self.trial.error or ("" if draft else "The engine returned no results."),
        )
        return align(self.names, stored, draft, errors)

    @property
    def new_results(self) -> list[runs.Result]:
        """The results that the run did not return, each once: what can be rated here and not behind the dialog."""
        return [result for result in self.trial.results if not result.repeat and result.moved is None]


@require_POST
def try_attempt(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Searches the attempt in the tune pane for the queries `try` (ids of case queries), or the first one of the case, and shows
    the results beside those of the run shown. For editors: the engine is asked."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    page_filter = QueryFilter.from_parameters(page_parameters(request))
    workbench = Workbench(request, case, query_filter=page_filter)
    form = sent_attempt_form(request, case)
    context: dict[str, object] = {**workbench.base_context()}
    errors: list[str]
    run = workbench.selection.finished_run
    try:
        attempt = form.build()
        if attempt is not None:
            trials = runs.try_attempt(
                attempt=attempt,
                case_queries=_chosen(workbench, request.POST.getlist("try")),
                run=run,
                version=workbench.versions[0],
                by=request.user,
            )
            warnings = runs.attempts.template_warnings(endpoint=attempt.endpoint, template=attempt.template)
            names = (str(run) if run else "Not run yet", "Draft")
            context |= {
                "tried_queries": [TriedQuery(trial, names) for trial in trials],
                "scorer": workbench.versions[0].scorer,
                "warnings": warnings,
            }
            return render(request, "workbench/trial.html", context)
        errors = [str(error) for listed in form.errors.values() for error in listed]
    except (runs.RunNotAllowed, EngineError) as reason:
        errors = [str(reason)]
    return render(request, "workbench/trial.html", {**context, "errors": errors}, status=422)


def _chosen(workbench: Workbench, ids: list[str]) -> list[CaseQuery]:
    """Returns the queries with these ids, at most three, in the order of the case; the first one of the case without any."""
    present = workbench.case.case_queries.present().select_related("query").order_by("position", "id")
    numbers = [parse_number(text) for text in ids[: runs.MAX_TRIED_QUERIES]]
    return list(present.filter(pk__in=numbers)) or list(present[:1])
