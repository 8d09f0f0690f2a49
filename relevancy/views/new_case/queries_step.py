"""The last step of a new case: its queries, perhaps with ratings. It creates everything."""

from dataclasses import replace
from functools import partial

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render

from relevancy import cases, endpoints, formats, hooks, runs, tasks
from relevancy.engines.errors import EngineError
from relevancy.formats.cases.first_queries import FirstQueries, read_first_queries
from relevancy.formats.ratings import ratings_import
from relevancy.models import Case, RatingImport, UnreadableSecret
from relevancy.models.errors import error_text
from relevancy.views.requests import HtmxRequest, submitted
from relevancy.wording import counted

from .engine_steps import render_step
from .forms import QueriesForm
from .wizard import StepAction, WizardState

MAX_LISTED = 20  # repeated or rejected lines


def render_queries(
    request: HtmxRequest,
    state: WizardState,
    setup: cases.CaseSetup,
    form: QueriesForm,
    first: FirstQueries | None = None,
) -> HttpResponse:
    """Renders the step; for htmx only what was read."""
    context: dict[str, object] = {
        "book": setup.book,
        "book_queries": setup.book.queries.live().count() if setup.book else 0,
        "has_engine": state.has_engine,
    }
    if first is not None:
        context |= {
            "first": first,
            "repeated": sorted(set(first.pasted.repeated))[:MAX_LISTED],
            "rejected": first.pasted.rejected[:MAX_LISTED],
            "must_confirm": form.must_confirm(first),
        }
    is_invalid = bool(form.errors) or (first is not None and bool(first.errors or first.pasted.rejected))
    if request.htmx:
        page = {"form": form, **context}
        return render(request, "new_case/_first_queries.html", page, status=422 if is_invalid else 200)
    return render_step(request, state, "queries", form, context, is_invalid=is_invalid)


def check_or_create(
    request: HtmxRequest, state: WizardState, setup: cases.CaseSetup, form: QueriesForm
) -> HttpResponse:
    """Shows what a valid form contains, or creates the case. Lines that cannot be queries must be corrected, or left out explicitly."""
    action = submitted(request, StepAction, default=StepAction.CREATE)
    first = _read(request, setup, form)
    if first is None or action == StepAction.CHECK or first.errors or form.must_confirm(first):
        return render_queries(request, state, setup, form, first)
    if first.pasted.rejected and action != StepAction.WITHOUT:
        return render_queries(request, state, setup, form, first)
    try:
        # A file of ratings may lack some of the queries of an endpoint with stored rankings.
        known = endpoints.known_queries(setup.endpoint) if setup.endpoint and form.file_name else []
        complete = replace(setup, texts=[*known, *first.pasted.texts], changes=first.changes)
        created = cases.create_from_setup(setup=complete, by=request.user)
    except (ValidationError, runs.RunNotAllowed, EngineError, UnreadableSecret) as error:
        form.add_error(None, f"The case was not created. {error_text(error)}")
        return render_queries(request, state, setup, form, first)
    state.clear()
    _import_ratings(request, created.case, first)
    return _open(request, created, form, first)


def _read(request: HtmxRequest, setup: cases.CaseSetup, form: QueriesForm) -> FirstQueries | None:
    """Returns what the case starts with; None after adding what is wrong to the form."""
    if not form.content:
        return FirstQueries()
    book = setup.book or cases.build_book(
        name=setup.name, owner=request.user, scorers=[setup.scorer], scale=setup.scale
    )
    try:
        return read_first_queries(
            case=Case(book=book),
            file=form.content,
            name=form.file_name,
            format=form.cleaned_data["format"],
            by=request.user,
        )
    except formats.UnclearFile as error:
        form.formats = [(file_format.name, str(file_format)) for file_format in error.formats]
        form.add_error(form.source_field, str(error))
    except formats.BadFile as error:
        form.add_error(form.source_field, str(error))
    except ValidationError as error:
        form.add_error(form.source_field, error_text(error))
    return None


def _import_ratings(request: HtmxRequest, case: Case, first: FirstQueries) -> None:
    """Imports the ratings into the new case; many of them by a worker. A message says what was imported."""
    if first.source is None:
        return
    try:
        imported = ratings_import.import_or_queue(case=case, source=first.source, by=request.user)
    except formats.BadFile as error:  # such as another import into the book that has begun meanwhile
        messages.error(request, f"The ratings were not imported. {error}")
        return
    if isinstance(imported, RatingImport):
        tasks.send(tasks.import_ratings, imported.pk)
        messages.info(
            request, f"{counted(imported.total, 'rating is', 'ratings are')} being imported; scores change meanwhile."
        )
        return
    if imported.changed:
        tasks.enqueue_book_rescore(case.book_id)
    messages.success(request, f"{counted(imported.changed, 'rating')} imported.")


def _open(request: HtmxRequest, created: cases.CreatedCase, form: QueriesForm, first: FirstQueries) -> HttpResponse:
    """Starts the run, and redirects to where the new case goes on."""
    case, pasted = created.case, first.pasted
    count = case.case_queries.present().count()
    made = f"Case “{case}” created with {counted(count, 'query', 'queries')}" if count else f"Case “{case}” created"
    details = (
        f" {counted(len(pasted.repeated), 'repeated line was', 'repeated lines were')} added once."
        if pasted.repeated
        else ""
    )
    details += f" {counted(len(pasted.rejected), 'line was', 'lines were')} left out." if pasted.rejected else ""
    if created.run is not None:
        transaction.on_commit(partial(tasks.enqueue_run, created.run))
        messages.success(request, f"{made}; its first run has started.{details}")
        return redirect("case", case.pk)
    messages.success(request, f"{made}.{details}")
    if form.chosen_source in hooks.query_pages:
        return redirect(form.chosen_source, case.pk)
    return redirect("case" if case.attempts.exists() else "case_files", case.pk)
