"""Ratings given on the workbench. The response has the result and the row of its query; its event `rated` lets the head follow."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.views.decorators.http import require_POST
from django_htmx.http import reswap, retarget, trigger_client_event

from relevancy import ratings, scores, tasks
from relevancy.models import CaseQuery, Query, Role
from relevancy.views.forms import form_error
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, redirect_to, redirect_with_message, toast

from .access import get_rateable_query
from .forms import RateShownForm, RatingForm, rating_refused
from .query_detail import read_rankings
from .query_row import QueryRow
from .workbench import Workbench, open_workbench


@require_POST
def rate(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Rates one document; takes the user's rating back if `value` is empty."""
    case_query = get_rateable_query(request, case_id, case_query_id)
    workbench = Workbench(request, case_query.case)
    form = RatingForm(request.POST)
    try:
        changed = form.store(case_query.query, by=request.user)
    except ratings.InvalidRating as reason:
        return rating_refused(request, workbench.queries.open_url(case_query), reason)
    if changed:
        _rescore(workbench, case_query.query)
    return _render_change(request, workbench, case_query, form.rated_id)


@require_POST
def rate_shown(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Gives the same grade to every document shown that the user has not rated; with `all` also to the others."""
    case_query = get_rateable_query(request, case_id, case_query_id)
    workbench = Workbench(request, case_query.case)
    form = RateShownForm(request.POST)
    if not form.is_valid():
        return conflict(request, workbench.queries.open_url(case_query), form_error(form))
    grade = form.cleaned_data["value"]
    results = workbench.queries.detail(workbench.queries.get(case_query_id)).results
    doc_ids = {result.doc_id for result in results if result.mine is None or form.cleaned_data["all"]}
    values, scale = dict.fromkeys(doc_ids, grade), form.cleaned_data["scale"]
    try:
        changed = ratings.rate_many(query=case_query.query, values=values, by=request.user, expected_scale=scale)
    except ratings.InvalidRating as reason:
        return rating_refused(request, workbench.queries.open_url(case_query), reason)
    if changed:
        _rescore(workbench, case_query.query)
    text = f"{len(doc_ids)} document{pluralize(len(doc_ids))} rated {grade:g}"
    undo_url = reverse("rating_undo", args=[case_id]) if changed else ""
    if not request.htmx:
        return redirect_with_message(request, workbench.queries.open_url(case_query), text, undo=undo_url)
    return toast(_render_change(request, workbench, case_query), text, undo=undo_url)


@require_POST
def undo(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Takes back the user's last rating in the case, or the last ones that were given together."""
    workbench = open_workbench(request, case_id, needs=Role.RATER, of_page=True)
    case = workbench.case
    undone = ratings.undo(case=case, by=request.user)
    if undone is None:
        return conflict(request, workbench.queries.url(), "You have no rating in this case that could be taken back.")
    _rescore(workbench, undone.query)
    case_query = case.case_queries.present().get(query=undone.query)
    level = "warning" if undone.kept else "info"
    text = _undone_text(undone)
    if not request.htmx:
        message_level = messages.WARNING if undone.kept else messages.INFO
        return redirect_with_message(request, workbench.queries.open_url(case_query), text, level=message_level)
    scored_query, position = workbench.queries.get(case_query.pk), workbench.queries.position(case_query.pk)
    row = workbench.row(scored_query, is_open=str(case_query.pk) in request.POST.getlist("open"), position=position)
    return toast(_render("workbench/_undone.html", workbench, row), text, level=level)


def _undone_text(undone: ratings.UndoneRatings) -> str:
    """What was taken back, in a sentence."""
    count, kept = len(undone.undone), len(undone.kept)
    query = f"of “{undone.query}”"
    if kept:
        others = f"{kept} rating{pluralize(kept)} {query} kept: changed by another user since then"
        return f"{count} taken back, {others}" if count else f"Nothing taken back. {others[0].upper()}{others[1:]}"
    if count > 1:
        return f"{count} ratings {query} taken back"
    (change,) = undone.undone
    if change.new_value is None:
        return (
            f"Rating {change.old_value:g} {query} restored"
            if change.old_value is not None
            else f"Rating {query} restored"
        )
    return f"Rating {change.new_value:g} {query} taken back"


def _rescore(workbench: Workbench, query: Query) -> None:
    """Scores a query in the run shown and in its baseline after a rating; scripts, other runs and the book's other cases follow in the
    background."""
    rankings = read_rankings((workbench.selection.run, workbench.selection.baseline), query.pk)
    workbench.queries.rankings[query.pk] = rankings
    workbench.queries.ratings[query.pk] = scores.rescore_query(query, rankings.values(), workbench.versions)
    tasks.enqueue_book_rescore(workbench.case.book_id)


def _render_change(request: HtmxRequest, workbench: Workbench, case_query: CaseQuery, doc_id: str = "") -> HttpResponse:
    """Renders what a rating has changed: of one document at its rank, or the whole query."""
    if not request.htmx:
        return redirect_to(request, workbench.queries.open_url(case_query))
    row = workbench.row(workbench.queries.get(case_query.pk), is_open=True)
    assert row.detail is not None
    if request.GET.get("unretrieved"):
        known = row.detail.seen
        grade, own = known.grades(workbench.case.book).get(doc_id), known.own(doc_id, request.user)
        mine = own.value if own else None
        return _render("workbench/_unretrieved_rated.html", workbench, row, doc_id=doc_id, mine=mine, grade=grade)
    results = {str(result.rank): result for result in row.detail.results if result.doc_id == doc_id}
    if rated := results.pop(request.GET.get("rank", ""), None):
        return _render("workbench/_rated.html", workbench, row, results=[rated, *results.values()])
    # A run has replaced the ranking since the page was rendered, so another document may be at this rank.
    response = _render("workbench/_query.html", workbench, row)
    return reswap(retarget(response, f"#query-{case_query.pk}"), "outerHTML")


def _render(template: str, workbench: Workbench, row: QueryRow, **more: Any) -> HttpResponse:
    """Renders a row after a rating, with the event that lets the head ask for the new score of the case."""
    return trigger_client_event(workbench.render(template, row=row, **more), "rated")
