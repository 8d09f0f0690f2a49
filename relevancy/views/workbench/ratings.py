"""Ratings given on the workbench. The response updates what a rating changes: the result, its query, the case's score."""

from collections.abc import Sequence
from typing import TypedDict

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.views.decorators.http import require_POST
from django_htmx.http import reswap, retarget

from relevancy import judgments, tasks
from relevancy.models import CaseQuery, Query, Ranking, Role, Run, ScorerVersion, User
from relevancy.views.forms import form_error
from relevancy.views.requests import HtmxRequest, page_parameters
from relevancy.views.responses import conflict, redirect_to, redirect_with_message, refresh_after_conflict, toast

from .access import get_case, get_rateable_query
from .forms import RateShownForm, RatingForm
from .history_chart import HistoryChart
from .query_detail import RatedQuery, read_rankings
from .query_filter import QueryFilter
from .query_row import with_scores
from .score_panel import ScorePanel
from .stale_scores import rescore_scripts
from .workbench import Workbench


@require_POST
def rate(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Rates one document; takes the user's rating back if `value` is empty."""
    workbench, case_query = _get_rateable(request, case_id, case_query_id)
    form = RatingForm(request.POST)
    if not form.is_valid():
        return conflict(request, workbench.queries.open_url(case_query), form_error(form))
    value = form.cleaned_data["value"]
    rankings, arguments = _prepare(request, workbench, case_query)
    try:
        doc_id = judgments.clean_doc_id(form.cleaned_data["doc_id"])
        if value is None:
            result = judgments.remove(doc_ids=[doc_id], **arguments)
        else:
            result = judgments.rate(doc_id=doc_id, value=value, expected_scale=form.cleaned_data["scale"], **arguments)
    except judgments.ScaleChanged as reason:
        return refresh_after_conflict(request, workbench.queries.open_url(case_query), reason)
    except judgments.InvalidRating as reason:
        return conflict(request, workbench.queries.open_url(case_query), reason)
    if result.changed:
        _rescore_other_runs(workbench)
    workbench.is_rescoring = rescore_scripts(workbench.selection, workbench.versions)
    return _render_change(request, workbench, case_query, RatedQuery(rankings, result.ratings, result.rescored), doc_id)


@require_POST
def rate_shown(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Gives the same grade to every document shown that the user has not rated; with `all` also to the others."""
    workbench, case_query = _get_rateable(request, case_id, case_query_id)
    form = RateShownForm(request.POST)
    if not form.is_valid():
        return conflict(request, workbench.queries.open_url(case_query), form_error(form))
    grade = form.cleaned_data["value"]
    results = workbench.queries.detail(workbench.queries.get(case_query_id)).results
    own_ratings = {result.doc_id: result.mine for result in results}
    doc_ids = [doc_id for doc_id, own in own_ratings.items() if own is None or form.cleaned_data["all"]]
    rankings, arguments = _prepare(request, workbench, case_query)
    try:
        result = judgments.rate_many(
            values=dict.fromkeys(doc_ids, grade), expected_scale=form.cleaned_data["scale"], **arguments
        )
    except judgments.ScaleChanged as reason:
        return refresh_after_conflict(request, workbench.queries.open_url(case_query), reason)
    except judgments.InvalidRating as reason:
        return conflict(request, workbench.queries.open_url(case_query), reason)
    if result.changed:
        _rescore_other_runs(workbench)
    workbench.is_rescoring = rescore_scripts(workbench.selection, workbench.versions)
    response = _render_change(request, workbench, case_query, RatedQuery(rankings, result.ratings, result.rescored))
    text = f"{len(doc_ids)} document{pluralize(len(doc_ids))} rated {grade:g}"
    undo_url = reverse("rating_undo", args=[case_id]) if result.changed else ""
    if not request.htmx:
        return redirect_with_message(request, workbench.queries.open_url(case_query), text, undo=undo_url)
    return toast(response, text, undo=undo_url)


@require_POST
def undo(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Takes back the user's last rating in the case, or the last ones that were given together."""
    case = get_case(request, case_id, needs=Role.RATER)
    workbench = Workbench(request, case, query_filter=QueryFilter.from_parameters(page_parameters(request)))
    run, versions = workbench.selection.run, workbench.versions
    undone = judgments.undo(
        case=case, by=request.user, run=run, versions=versions, baseline=workbench.selection.baseline
    )
    if undone is None:
        return conflict(request, workbench.queries.url(), "You have no rating in this case that could be taken back.")
    _rescore_other_runs(workbench)
    case_query = case.case_queries.present().get(query=undone.query)
    level = "warning" if undone.kept else "info"
    text = _undone_text(undone)
    if not request.htmx:
        message_level = messages.WARNING if undone.kept else messages.INFO
        return redirect_with_message(request, workbench.queries.open_url(case_query), text, level=message_level)
    changed = Workbench(request, case, selection=workbench.selection, query_filter=workbench.filter)
    is_open = str(case_query.pk) in request.POST.getlist("open")
    row = changed.row(
        changed.queries.get(case_query.pk), is_open=is_open, position=changed.queries.position(case_query.pk)
    )
    return toast(render(request, "workbench/_undone.html", {**changed.score_context(), "row": row}), text, level=level)


def _undone_text(undone: judgments.UndoneRatings) -> str:
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


def _get_rateable(request: HtmxRequest, case_id: int, case_query_id: int) -> tuple[Workbench, CaseQuery]:
    """Returns the query to be rated."""
    case_query = get_rateable_query(request, case_id, case_query_id)
    return Workbench(request, case_query.case), case_query


def _rescore_other_runs(workbench: Workbench) -> None:
    """Rescores the other runs of the case, and those of the book's other cases, in the background."""
    tasks.enqueue_book_rescore(workbench.case.book_id)


class _RatingArguments(TypedDict):
    """What `judgments.rate`, `rate_many` and `remove` all take."""

    query: Query
    by: User
    run: Run | None
    ranking: Ranking | None
    versions: Sequence[ScorerVersion]
    baseline: Ranking | None


def _prepare(
    request: HtmxRequest, workbench: Workbench, case_query: CaseQuery
) -> tuple[tuple[Ranking | None, Ranking | None], _RatingArguments]:
    """Reads what a rating does not change, before it is stored. Returns the rankings of the run shown and of the run before, and
    the arguments of the service."""
    run, previous_run, versions = workbench.selection.run, workbench.selection.baseline, workbench.versions
    ranking, previous = read_rankings(run, previous_run, case_query.query_id)
    if ranking is not None and run is not None:
        ranking.run = run
    if previous is not None and previous_run is not None:
        previous.run = previous_run
    arguments: _RatingArguments = {
        "query": case_query.query,
        "by": request.user,
        "run": run,
        "ranking": ranking,
        "versions": versions,
        "baseline": previous,
    }
    return (ranking, previous), arguments


def _render_change(
    request: HtmxRequest, workbench: Workbench, case_query: CaseQuery, rated: RatedQuery, doc_id: str = ""
) -> HttpResponse:
    """Renders what a rating has changed: one result at its rank, or the whole query. Reads only what the rating did not return."""
    if not request.htmx:
        return redirect_to(request, workbench.queries.open_url(case_query))
    primary, ranking = workbench.versions[0], rated.rankings[0]
    rescored = rated.rescored
    if rescored is None or primary.pk not in rescored.query_scores:
        is_rescoring = workbench.is_rescoring
        workbench = Workbench(request, workbench.case, selection=workbench.selection)
        workbench.is_rescoring = is_rescoring
        scored_query = workbench.queries.get(case_query.pk)
    else:
        scored_query = with_scores(
            case_query,
            ranking,
            rescored.query_scores[primary.pk],
            rescored.baseline_score,
            secondary=[rescored.query_scores.get(version.pk) for version in workbench.queries.secondary],
        )
        if case_score := rescored.case_scores.get(primary.pk):
            if workbench.selection.is_older:
                # The newest run may have been rescored as well, and the history shows it.
                workbench.chart = HistoryChart(workbench.case, primary, workbench.selection.run)
            else:
                workbench.chart.replace_score(case_score)
            workbench.queries.total = case_score.queries
            if rescored.baseline_case_score:
                workbench.chart.replace_score(rescored.baseline_case_score)
            workbench.panel = ScorePanel(
                workbench.case, request.user, workbench.selection, workbench.versions, workbench.chart
            )
            if rescored.difference and workbench.selection.finished_run:
                workbench.panel.difference = rescored.difference
    row = workbench.row(scored_query, is_open=True, rated=rated)
    context = {**workbench.score_context(), "row": row}
    if request.GET.get("unretrieved"):
        grades = rated.ratings.grades(workbench.case.book)
        records = rated.ratings.by_document.get(doc_id, ())
        own = next((record.value for record in records if record.rater_id == request.user.pk), None)
        context |= {"doc_id": doc_id, "mine": own, "grade": grades.get(doc_id)}
        return render(request, "workbench/_unretrieved_rated.html", context)
    rank = request.GET.get("rank", "")
    results = [result for result in row.detail.results if result.doc_id == doc_id] if row.detail else []
    results.sort(key=lambda result: str(result.rank) != rank)
    if results and str(results[0].rank) == rank:
        return render(request, "workbench/_rated.html", {**context, "results": results})
    # A run has replaced the ranking since the page was rendered, so another document may be at this rank.
    response = render(request, "workbench/_query.html", {**context, "with_head": True})
    return reswap(retarget(response, f"#query-{case_query.pk}"), "outerHTML")
