"""Tags, information need, reference answer and notes of a query. They belong to the book and change in every case on it."""

from collections.abc import Sequence

from django.core.exceptions import ValidationError
from django.forms import model_to_dict
from django.http import HttpResponse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from relevancy import queries
from relevancy.views.forms import errors_to, form_error
from relevancy.views.requests import HtmxRequest
from relevancy.views.responses import conflict, redirect_to

from .access import get_case_query, get_case_with_editable_book
from .forms import NotesForm, TagsForm
from .workbench import Workbench, open_workbench


@require_GET
def about(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Shows tags, information need, reference answer and notes."""
    workbench = open_workbench(request, case_id)
    return _render_notes(request, workbench, case_query_id)


@require_http_methods(["GET", "POST"])
def notes(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Edits information need, reference answer and notes."""
    workbench = Workbench(request, get_case_with_editable_book(request, case_id))
    case_query = get_case_query(workbench.case, case_query_id)
    query = case_query.query
    form = NotesForm(request.POST or None, initial=model_to_dict(query, NotesForm.base_fields))
    if request.method == "POST" and form.is_valid():
        with errors_to(form):
            queries.describe(query=query, **form.cleaned_data, by=request.user)
            return _render_notes(request, workbench, case_query_id)
    status = 422 if request.method == "POST" else 200
    return workbench.render("workbench/notes_form.html", status=status, case_query=case_query, form=form)


@require_POST
def tag(request: HtmxRequest, case_id: int, case_query_id: int) -> HttpResponse:
    """Adds the tags in `add` to the query, removes the tag in `remove`."""
    workbench = Workbench(request, get_case_with_editable_book(request, case_id), of_page=True)
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
    workbench = open_workbench(request, case_id)
    run, version = workbench.selection.finished_run, workbench.versions[0]
    segments = queries.tags.segments(case=workbench.case, run=run, version=version)
    return workbench.render("workbench/segments.html", scorer=version.scorer, segments=segments)


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
    tags = workbench.queries.tags if tags_before is not None else None
    return workbench.render(
        "workbench/query_notes.html",
        case_query=case_query,
        row=row,
        with_tags=tags != tags_before,
        with_tag_scores=tags != tags_before and not (tags and tags_before),
    )
