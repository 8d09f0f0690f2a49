"""Ratings given on the comparison page: both sides follow at once, all other figures as soon as the worker has computed them."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from relevancy import ratings, scores, tasks
from relevancy.models import Query, Role
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, redirect_to
from relevancy.views.workbench.access import get_case, get_case_query
from relevancy.views.workbench.forms import RatingForm, rating_refused
from relevancy.views.workbench.query_detail import read_rankings

from .comparison_page import ComparisonPage


@require_POST
def rate(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Rates one document; takes the user's rating back if `value` is empty."""
    case = get_case(request, case_id, needs=Role.RATER)
    case_query = get_case_query(case, case_query_id)
    page = ComparisonPage(case, request.user, request.GET)
    if page.stored is None:
        return conflict(request, page.url(), " ".join(page.errors) or "The case has no two runs to compare.")
    back = page.url(open=case_query_id)
    form = RatingForm(request.POST)
    try:
        changed = form.store(case_query.query, by=request.user)
    except ratings.InvalidRating as reason:
        return rating_refused(request, back, reason)
    if changed:
        _rescore(page, case_query.query)
        tasks.enqueue_book_rescore(case.book_id)
    if not request.htmx:
        return redirect_to(request, back)
    rated = ComparisonPage(get_case(request, case_id), request.user, request.GET)
    rated.request_figures()
    opened = rated.open_query(case_query)
    doc_id = form.rated_id
    result = next((document.result for document in opened.documents if document.result.doc_id == doc_id), None)
    if result is None:
        # The results have changed since the page was rendered, or a document of the best order lost its rating.
        return redirect_to(request, back)
    context = {"case": rated.case, "access": rated.access, "page": rated, "opened": opened, "result": result}
    return render(request, "compare/_rated.html", context)


def _rescore(page: ComparisonPage, query: Query) -> None:
    """Scores the query in both runs; a worker scores the run of another case."""
    baseline, run = page.pair
    versions = [page.version, *(version for version in page.versions if version.pk != page.version.pk)]
    runs = [baseline] if run.case_id != baseline.case_id else [baseline, run]
    scores.rescore_query(query, read_rankings(runs, query.pk).values(), versions)
