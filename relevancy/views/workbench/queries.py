"""Queries of a case: shown, added, edited, removed and searched again."""

from io import BytesIO

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import trigger_client_event

from relevancy import queries, runs, scores
from relevancy.engines.errors import EngineError
from relevancy.formats.file_formats import likely_format
from relevancy.models import CaseQuery, Ranking, Role
from relevancy.models.text import unify_newlines
from relevancy.views.forms import errors_to, form_error
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, pretty_json, redirect_to, redirect_with_message, toast

from .access import get_case_query, get_case_with_editable_book
from .forms import AddQueriesForm, QueryForm
from .sent_request import SentRequest
from .stale_scores import rescore_scripts
from .workbench import Workbench, open_workbench

MAX_NAMED = 5
MAX_PROBLEMS = 20


@require_GET
def show(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Returns one query for htmx: open, or closed with `closed=1`. Otherwise redirects to the page with the query open."""
    workbench = open_workbench(request, case_id)
    case_query = workbench.queries.get(case_query_id)
    is_open = request.GET.get("closed") != "1"
    if not request.htmx:
        closed_url = f"{workbench.queries.url()}#query-{case_query.pk}"
        return redirect_to(request, workbench.queries.open_url(case_query) if is_open else closed_url)
    return _render_query(workbench, case_query_id, is_open=is_open)


def _render_query(workbench: Workbench, case_query_id: int, *, is_open: bool, with_head: bool = False) -> HttpResponse:
    row = workbench.row(workbench.queries.get(case_query_id), is_open=is_open)
    return workbench.render("workbench/_query.html", row=row, with_head=with_head)


@require_GET
def document(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Shows one result with all its fields and the ratings of all raters; it can be rated there."""
    workbench = open_workbench(request, case_id)
    case_query, doc_id = workbench.queries.get(case_query_id), request.GET.get("doc_id", "")
    detail = workbench.queries.detail(case_query)
    index = next((index for index, result in enumerate(detail.results) if result.doc_id == doc_id), None)
    if index is None or detail.ranking is None:
        return workbench.render("workbench/document.html", case_query=case_query, doc_id=doc_id)
    before = [(detail.results[index - 1], "Previous", "prev")] if index else []
    after = [(result, "Next", "next") for result in detail.results[index + 1 : index + 2]]
    return workbench.render(
        "workbench/document.html",
        case_query=case_query,
        doc_id=doc_id,
        result=detail.results[index],
        fields=_displayed_fields(detail.ranking, detail.results[index]),
        neighbours=before + after,  # each with the label and the `rel` of the link to it
        document_url=runs.document_url(detail.ranking, doc_id),
    )


def _displayed_fields(ranking: Ranking, result: runs.Result) -> list[tuple[str, str]]:
    """Returns names and values of the fields of a result as the attempt displays them, without the id."""
    spec = runs.field_spec(ranking.run.config)
    order = {name: number for number, name in enumerate(spec.names or ())}
    names = sorted(result.fields, key=lambda name: (order.get(name, len(order)), name))
    return [(name, _readable(result.fields[name])) for name in names if name != spec.id]


def _readable(value: object) -> str:
    """The value of a field as text: lists of plain values with commas, anything nested as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and not any(isinstance(item, list | dict) for item in value):
        return ", ".join(map(str, value))
    return pretty_json(value)


@require_GET
def rendered_request(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Shows what the run sent for a query."""
    workbench = open_workbench(request, case_id)
    case_query, run = workbench.queries.get(case_query_id), workbench.selection.run
    ranking = run.rankings.filter(query=case_query.query_id).first() if run else None
    can_interpret, sent, error = False, None, ""
    if run is not None and ranking is not None:
        ranking.run = run
        can_interpret = workbench.access.can_edit and not ranking.error_kind and runs.abilities(run).interpret
        try:
            sent = SentRequest.of(runs.rendered_request(ranking))
        except EngineError as reason:
            error = str(reason)
    return workbench.render(
        "workbench/rendered_request.html",
        case_query=case_query,
        ranking=ranking,
        can_interpret=can_interpret,
        sent=sent,
        error=error,
    )


@require_POST
def add(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Adds queries, one per line. Names the lines that cannot be queries, and why."""
    workbench = Workbench(request, get_case_with_editable_book(request, case_id))
    form, is_dialog = AddQueriesForm(request.POST), workbench.queries.total > 0
    if not form.is_valid():
        return conflict(request, workbench.queries.url(), form_error(form))
    pasted = form.cleaned_data["queries"]
    if not form.cleaned_data["is_list"] and (recognized := likely_format(BytesIO(pasted.encode()))):
        return workbench.render("workbench/add_queries.html", status=422, pasted=pasted, recognized=recognized)
    try:
        added = queries.add(case=workbench.case, texts=queries.parse_pasted(pasted), by=request.user)
    except ValidationError as error:
        return conflict(request, workbench.queries.url(), error)
    _rescore_case(workbench)
    if not added.rejected and added.added:
        return redirect_with_message(request, workbench.queries.url(), _summary(added))
    lines = unify_newlines(pasted).split("\n")
    response = workbench.render(
        "workbench/add_queries.html",
        status=422,
        pasted="\n".join(lines[number - 1] for number, _ in added.rejected),
        problems=added.rejected[:MAX_PROBLEMS],
        summary=_summary(added),
    )
    # In a case without queries the form is part of the list: a new list would replace the lines to be corrected.
    return trigger_client_event(response, "run-progress", {}) if added.added and is_dialog else response


def _summary(added: queries.AddedQueries) -> str:
    """What happened to the pasted queries, in a sentence."""
    text = f"{len(added.added):,} queries added" if len(added.added) != 1 else f"“{added.added[0].query}” added"
    if added.repeated:
        more = "…" if len(added.repeated) > MAX_NAMED else ""
        text += f"; {len(added.repeated):,} already in the case: {', '.join(added.repeated[:MAX_NAMED])}{more}"
    if added.rejected:
        text += f"; {len(added.rejected):,} not added, see above"
    return text


@require_http_methods(["GET", "POST"])
def edit(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Edits text, information need, notes, tags, options and weight of a query."""
    workbench = Workbench(request, get_case_with_editable_book(request, case_id))
    case_query = get_case_query(workbench.case, case_query_id)
    case_query.query.book = workbench.case.book
    form = QueryForm(case_query, request.POST or None)
    if request.method == "POST" and form.is_valid():
        with errors_to(form):
            queries.edit(case_query=case_query, by=request.user, **form.cleaned_data)
            _rescore_case(workbench)
            return redirect_to(request, workbench.queries.open_url(case_query))
    status = 422 if request.method == "POST" else 200
    return workbench.render("workbench/edit_query.html", status=status, case_query=case_query, form=form)


@require_POST
def remove(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Removes a query from the case; `restore` undoes it."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    case_query = get_case_query(workbench.case, case_query_id)
    queries.remove(case_query=case_query, by=request.user)
    _rescore_case(workbench)
    undo = reverse("query_restore", args=[case_id, case_query_id])
    text = f"“{case_query.query}” removed from this case; its ratings stay in the book"
    if not request.htmx:
        return redirect_with_message(request, workbench.queries.url(), text, undo=undo)
    changed = Workbench(request, workbench.case, selection=workbench.selection)
    return toast(changed.render("workbench/_query_removed.html"), text, undo=undo)


@require_POST
def restore(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Undoes `remove`."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    case_query = get_object_or_404(CaseQuery.objects.filter(case=workbench.case), pk=case_query_id)
    queries.restore(case_query=case_query, by=request.user)
    _rescore_case(workbench)
    return redirect_to(request, workbench.queries.url())


def _rescore_case(workbench: Workbench) -> None:
    run = workbench.selection.rescorable_run
    if run and not run.pinned_at:
        scores.score_case(run, workbench.versions)


@require_POST
def search_again(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Searches one query of the newest run again, within the request."""
    workbench = open_workbench(request, case_id, needs=Role.EDITOR)
    case_query, run = get_case_query(workbench.case, case_query_id), workbench.selection.run
    if run is None:
        return conflict(request, workbench.queries.url(), "Nothing has been run yet. Run the attempt first.")
    try:
        runs.search_again(run=run, case_query=case_query, by=request.user)
    except (runs.RunNotAllowed, EngineError) as reason:
        text = f"“{case_query.query}” was not searched: {reason}"
        return conflict(request, workbench.queries.open_url(case_query), text)
    is_rescoring = rescore_scripts(workbench.selection, workbench.versions)
    if not request.htmx:
        return redirect_to(request, workbench.queries.open_url(case_query))
    changed = Workbench(request, workbench.case)
    changed.is_rescoring = is_rescoring
    return _render_query(changed, case_query_id, is_open=True, with_head=True)
