"""The edited attempt is tried for a few queries, next to the run shown. Nothing is stored."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpResponse
from django.views.decorators.http import require_POST

from relevancy import runs
from relevancy.engines.errors import EngineError
from relevancy.models import CaseQuery, Role
from relevancy.views.aligned_lists import AlignedLists, align
from relevancy.views.requests import HtmxRequest, parse_number

from .runs import sent_attempt_form
from .workbench import open_workbench


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
    workbench = open_workbench(request, case_id, needs=Role.EDITOR, of_page=True)
    case, version, run = workbench.case, workbench.versions[0], workbench.selection.finished_run
    present = case.case_queries.present().select_related("query").order_by("position", "id")
    ids = [parse_number(text) for text in request.POST.getlist("try")[: runs.MAX_TRIED_QUERIES]]
    form = sent_attempt_form(request, case)
    trials: Sequence[runs.Trial] = ()
    warnings = None
    try:
        attempt = form.build()
        if attempt is not None:
            chosen = list(present.filter(pk__in=ids)) or list(present[:1])
            trials = runs.try_attempt(attempt=attempt, case_queries=chosen, run=run, version=version, by=request.user)
            warnings = runs.attempts.template_warnings(endpoint=attempt.endpoint, template=attempt.template)
        errors = form.error_texts()
    except (runs.RunNotAllowed, EngineError) as reason:
        errors = [str(reason)]
    names = (str(run) if run else "Not run yet", "Draft")
    return workbench.render(
        "workbench/trial.html",
        status=422 if errors else 200,
        tried_queries=[TriedQuery(trial, names) for trial in trials],
        scorer=version.scorer,
        warnings=warnings,
        errors=errors,
    )
