"""The best order of the documents that are rated for a query, beside what the run returned."""

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.views.decorators.http import require_GET

from relevancy import comparison, scores
from relevancy.models.errors import error_text
from relevancy.views.compare.best_order import compare_with_best_order
from relevancy.views.requests import HtmxRequest

from .access import get_case_query
from .rankings import get_ranking
from .workbench import open_workbench


@require_GET
def best_order(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Shows both lists under the primary scorer, or why its best order is not known."""
    workbench = open_workbench(request, case_id)
    case_query = get_case_query(workbench.case, case_query_id)
    run = get_ranking(workbench.selection, case_query_id).run
    version = workbench.versions[0]
    error, opened = "", None
    try:
        comparison.check_best_order(version)
    except ValidationError as reason:
        error = error_text(reason)
    else:
        if scores.missing_measures([version]):
            error = f"The measure {version.measure} is not installed, so its best order is not known."
        else:
            opened = compare_with_best_order(case_query, run, version, workbench.user, workbench.access, name=str(run))
    return workbench.render(
        "workbench/best_order.html", case_query=case_query, version=version, opened=opened, error=error
    )
