"""Tags, information need, reference answer and notes of a query. They belong to the book and change in every case on it."""

from collections.abc import Sequence

from django.core.exceptions import ValidationError
from django.forms import model_to_dict
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy import queries
from relevancy.views.forms import add_errors, form_error
from relevancy.views.requests import HtmxRequest, page_parameters
from relevancy.views.responses import conflict, redirect_to

from .access import get_case, get_case_query, get_case_with_editable_book
from .forms import NotesForm, TagsForm
from .query_filter import QueryFilter
from .workbench import Workbench


@require_GET
def about(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Shows tags, information need, reference answer and notes."""
    workbench = Workbench(request, get_case(request, case_id))
    return _render_notes(request, workbench, case_query_id)


@require_http_methods(["GET", "POST"])
def notes(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Edits information need, reference answer and notes."""
    workbench = Workbench(request, get_case_with_editable_book(request, case_id))
    case_query = get_case_query(workbench.case, case_query_id)
    query = case_query.query
    form = NotesForm(request.POST or None, initial=model_to_dict(query, NotesForm.base_fields))
    if request.method == "POST" and form.is_valid():
        try:
            queries.describe(query=query, **form.cleaned_data, by=request.user)
        except ValidationError as error:
            add_errors(form, error)
        else:
            return _render_notes(request, workbench, case_query_id)
    context = {**workbench.base_context(), "case_query": case_query, "form": form}
    return render(request, "workbench/notes_form.html", context, status=422 if request.method == "POST" else 200)


@require_POST
def tag(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Adds the tags in `add` to the query, removes the tag in `remove`."""
    page_filter = QueryFilter.from_parameters(page_parameters(request))
    workbench = Workbench(request, get_case_with_editable_book(request, case_id), query_filter=page_filter)
    case_query = get_case_query(workbench.case, case_query_id)
    form = TagsForm(request.POST)
    if not form.is_valid():
        return conflict(request, workbench.queries.open_url(case_query), form_error(form))
    removed = form.cleaned_data["remove"].casefold()
    kept = [name for name in case_query.query.tags if name.casefold() != removed]
    tags_before = queries.tags.of_case(workbench.case)
    try:
        queries.tags.set_tags(query=case_query.query, tags=[*kept, form.cleaned_data["add"]], by=request.user)
    except ValidationError as error:
        return conflict(request, workbench.queries.open_url(case_query), error)
    return _render_notes(request, workbench, case_query_id, tags_before=tags_before)


@require_GET
def segments(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Shows the mean score of the queries of each tag."""
    workbench = Workbench(request, get_case(request, case_id))
    run = workbench.selection.finished_run
    context = {
        **workbench.base_context(),
        "scorer": workbench.versions[0].scorer,
        "segments": queries.tags.segments(case=workbench.case, run=run, version=workbench.versions[0]),
    }
    return render(request, "workbench/segments.html", context)


def _render_notes(
    request: HtmxRequest, workbench: Workbench, case_query_id: int, *, tags_before: Sequence[str] | None = None
) -> HttpResponse:
    """Renders the notes in an opened query, and the row of the query, whose tags may have changed.

    tags_before: the tags of the case before the change, if it was one of tags; the toolbar is sent if they differ.
    """
    case_query = workbench.queries.get(case_query_id)
    if not request.htmx:
        return redirect_to(request, workbench.queries.open_url(case_query))
    row = workbench.row(case_query, is_open=True, detail=False)
    context: dict[str, object] = {**workbench.base_context(), "case_query": case_query, "row": row}
    if tags_before is not None and tags_before != workbench.queries.tags:
        has_first_or_last = not (tags_before and workbench.queries.tags)
        context |= {"queries": workbench.queries, "with_tags": True, "with_tag_scores": has_first_or_last}
    return render(request, "workbench/query_notes.html", context)
