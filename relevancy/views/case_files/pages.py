"""The page with the files of a case: what can be downloaded, and uploads with a preview."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from relevancy import formats, runs, tasks
from relevancy.formats import exports
from relevancy.formats.queries import queries_import
from relevancy.formats.rankings import runs_file
from relevancy.formats.ratings import ratings_import
from relevancy.models import Case, RatingImport, Role, Run
from relevancy.models.errors import error_text
from relevancy.views.requests import HtmxRequest, ImportAction, submitted
from relevancy.views.responses import download, redirect_with_message
from relevancy.views.workbench.access import CaseAccess, get_case, get_case_with_editable_book
from relevancy.views.workbench.notices import unsearched
from relevancy.wording import counted

from .forms import QueriesFileForm, RatingsFileForm, RunsFileForm

FRAGMENTS = {"queries_form": "_queries_preview", "runs_form": "_runs_preview"}


@dataclass(frozen=True)
class Download:
    """A file as the page lists it. name: in its address. group: the heading above it."""

    name: str
    label: str
    hint: str
    group: str = ""


@require_GET
def case_files(request: HtmxRequest, case_id: int) -> HttpResponse:
    """What can be downloaded and, for editors, uploaded."""
    return _render(request, get_case(request, case_id), {})


@require_POST
def import_ratings(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Imports ratings. `do=preview` only says what would be imported, for htmx as a fragment."""
    case = get_case_with_editable_book(request, case_id)
    form = RatingsFileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _render(request, case, {"ratings_form": form}, status=422)
    file = form.cleaned_data["file"]
    try:
        source = ratings_import.open_source(case=case, file=file, name=file.name, format=form.cleaned_data["format"])
        if submitted(request, ImportAction) == ImportAction.PREVIEW:
            preview = ratings_import.preview_ratings(case=case, source=source, by=request.user)
            return _render(request, case, {"ratings_form": form, "preview": preview})
        imported = ratings_import.import_or_queue(case=case, source=source, by=request.user)
    except formats.BadFile as error:
        case = get_case_with_editable_book(request, case_id)  # it may have been deleted meanwhile
        form.add_error(_wrong_field(error), str(error))
        return _render(request, case, {"ratings_form": form}, status=422)
    url = reverse("case_files", args=[case.pk])
    if isinstance(imported, RatingImport):
        tasks.send(tasks.import_ratings, imported.pk)
        return redirect_with_message(
            request,
            url,
            f"{counted(imported.total, 'rating is', 'ratings are')} being imported. This page shows how far.",
        )
    if imported.changed:
        tasks.enqueue_book_rescore(case.book_id)
    return redirect_with_message(
        request,
        url,
        f"{imported.changed:,} of {counted(imported.ratings, 'rating')} {'is' if imported.changed == 1 else 'are'} new or changed; "
        f"{counted(imported.queries, 'query', 'queries')} added.",
    )


def _wrong_field(error: Exception) -> str:
    """Returns the field that is to be changed."""
    return "format" if isinstance(error, formats.UnclearFile) else "file"


@require_POST
def import_queries(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Imports queries and their details. `do=preview` only says what would be imported, for htmx as a fragment."""
    case = get_case_with_editable_book(request, case_id)
    form = QueriesFileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _render(request, case, {"queries_form": form}, status=422)
    file = form.cleaned_data["file"]
    named = {"name": file.name, "format": form.cleaned_data["format"]}
    try:
        if long_list := ratings_import.open_long_list(file=file, **named):
            source_of_list, lines = long_list
            if submitted(request, ImportAction) == ImportAction.PREVIEW:
                return _render(request, case, {"queries_form": form, "long_list": lines})
            queued = ratings_import.import_or_queue(case=case, source=source_of_list, by=request.user)
            if isinstance(queued, RatingImport):
                tasks.send(tasks.import_ratings, queued.pk)
            text = f"{lines:,} lines are being imported. This page shows how far."
            return redirect_with_message(request, reverse("case_files", args=[case.pk]), text)
        source = queries_import.open_source(case=case, file=file, **named)
        if submitted(request, ImportAction) == ImportAction.PREVIEW:
            preview = queries_import.preview_queries(case=case, source=source)
            others = Case.objects.live().filter(book=case.book_id).exclude(pk=case.pk)
            context = {"queries_form": form, "queries_preview": preview, "shares_book": others.exists()}
            return _render(request, case, context)
        imported = queries_import.import_queries(case=case, source=source, by=request.user)
    except (formats.BadFile, ValidationError) as error:
        form.add_error(_wrong_field(error), error_text(error))
        return _render(request, case, {"queries_form": form}, status=422)
    transaction.on_commit(partial(tasks.enqueue_book_rescore, case.book_id))
    return redirect_with_message(
        request, reverse("case_files", args=[case.pk]), queries_import.describe_import(imported)
    )


@require_POST
def import_runs(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Imports rankings that were made elsewhere as runs, which a worker scores. `do=preview` only says what would be imported."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    form = RunsFileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _render(request, case, {"runs_form": form}, status=422)
    file, name = form.cleaned_data["file"], form.cleaned_data["name"]
    try:
        snapshots = runs_file.read_file(file=file, name=file.name)
        if submitted(request, ImportAction, ImportAction.IMPORT) == ImportAction.PREVIEW:
            plan = runs_file.plan_runs(case=case, snapshots=snapshots, name=name)
            return _render(request, case, {"runs_form": form, "runs_plan": plan})
        imported = runs_file.import_runs(case=case, snapshots=snapshots, by=request.user, name=name)
    except (formats.BadFile, runs.RunNotAllowed) as error:
        form.add_error("file", str(error))
        return _render(request, case, {"runs_form": form}, status=422)
    for run in imported.runs:
        transaction.on_commit(partial(tasks.enqueue_run_rescore, run))
    text = runs_file.describe_import(imported)
    return redirect_with_message(request, _compare_url(case), text)


def _compare_url(case: Case) -> str:
    """Returns where the newest run is compared with the one before it; the page of the case if there is none."""
    newest = list(Run.objects.finished().newest_for(case)[:2])
    if len(newest) < 2:
        return reverse("case", args=[case.pk])
    return reverse("compare", args=[case.pk], query=[("run", run.number) for run in reversed(newest)])


def _render(request: HtmxRequest, case: Case, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """Renders the page; for htmx the fragment that belongs to the form that was sent."""
    if request.htmx:
        name = next((name for form, name in FRAGMENTS.items() if form in context), "_ratings_preview")
        return render(request, f"case_files/{name}.html", {"case": case, **context}, status=status)
    run = Run.objects.finished().newest_for(case).first()
    forms = {
        "ratings_form": RatingsFileForm(),
        "queries_form": QueriesFileForm(),
        "runs_form": RunsFileForm(),
    } | context
    for name in ("ratings_form", "queries_form", "runs_form"):
        forms[name].auto_id = f"{name}_%s"  # the forms of the page have fields of the same names
    context = {
        "case": case,
        "run": run,
        "case_files": [
            Download(name, file.label, file.hint, file.group) for name, file in exports.files_of(Case).items()
        ],
        "run_files": [
            Download(name, f"Run {run.number:,}, {file.label}", file.hint)
            for name, file in exports.files_of(Run).items()
        ]
        if run
        else [],
        "list_hint": "the list of the workbench: queries with the scores of the newest run, tags and notes",
        "rating_import": RatingImport.objects.last_of(case.book_id),
        "can_edit": case.is_editable,
        "notices": list(unsearched(CaseAccess(case, request.user), run, is_next=True))
        if run and not run.is_active
        else [],
        **forms,
    }
    return render(request, "case_files/files.html", context, status=status)


@require_GET
def case_download(request: HtmxRequest, case_id: int, name: str) -> HttpResponseBase:
    """One file of the case; see `exports`."""
    return download(get_case(request, case_id), name, by=request.user)


@require_GET
def run_download(request: HtmxRequest, case_id: int, number: int, kind: str) -> HttpResponseBase:
    """One file of a finished run."""
    runs_of_case = Run.objects.finished().filter(case=get_case(request, case_id)).select_related("case")
    return download(get_object_or_404(runs_of_case, number=number), kind, by=request.user)
