"""The page with the files of a case: what can be downloaded, and uploads with a preview."""

from functools import partial

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_POST

from relevancy import queries, runs, tasks, transfer
from relevancy.models import Case, Role, Run
from relevancy.views.forms import add_errors
from relevancy.views.requests import HtmxRequest, ImportAction, submitted
from relevancy.views.responses import attachment, redirect_with_message
from relevancy.views.workbench.access import get_case

from .forms import QueriesFileForm, RatingsFileForm, RunsFileForm

MAX_REJECTED = 20  # lines that are listed


@require_GET
def case_files(request: HtmxRequest, case_id: int) -> HttpResponse:
    """What can be downloaded and, for editors, uploaded."""
    return _render(request, get_case(request, case_id), {})


@require_POST
def ratings_import(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Imports ratings. `do=preview` only says what would be imported, for htmx as a fragment."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    form = RatingsFileForm(files=request.FILES)
    if not form.is_valid():
        return _render(request, case, {"ratings_form": form}, status=422)
    lines = transfer.read_lines(form.cleaned_data["file"])
    try:
        if submitted(request, ImportAction) == ImportAction.PREVIEW:
            preview = transfer.ratings_preview.preview_ratings(case=case, text=lines, by=request.user)
            return _render(request, case, {"ratings_form": form, "preview": preview})
        imported = transfer.ratings_csv.import_ratings(case=case, text=lines, by=request.user)
    except transfer.BadFile as error:
        form.add_error("file", str(error))
        return _render(request, case, {"ratings_form": form}, status=422)
    if imported.changed:
        transaction.on_commit(partial(tasks.enqueue_book_rescore, case.book_id))
    return redirect_with_message(
        request,
        reverse("case_files", args=[case.pk]),
        f"{imported.changed:,} of {imported.ratings:,} ratings are new or changed; {imported.queries:,} queries added.",
    )


@require_POST
def queries_import(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Adds the queries of a file. `do=preview` only says what would be added, for htmx as a fragment."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    form = QueriesFileForm(files=request.FILES)
    if not form.is_valid():
        return _render(request, case, {"queries_form": form}, status=422)
    try:
        pasted = transfer.queries_csv.parse_queries(form.cleaned_data["file"])
        if submitted(request, ImportAction) == ImportAction.IMPORT:
            added = queries.add(case=case, texts=pasted)
            text = f"{len(added.added):,} queries added; {len(added.repeated):,} were there already."
            text += f" {len(added.rejected):,} lines were left out." if added.rejected else ""
            return redirect_with_message(request, reverse("case_files", args=[case.pk]), text)
    except transfer.BadFile as error:
        form.add_error("file", str(error))
    except ValidationError as error:
        add_errors(form, error)
    if form.errors:
        return _render(request, case, {"queries_form": form}, status=422)
    present = set(case.case_queries.present().values_list("query__text", flat=True))
    found = {
        "added": sum(text not in present for text in pasted.texts),
        "present": sum(text in present for text in pasted.texts),
        "repeated": len(pasted.repeated),
        "rejected": len(pasted.rejected),
        "lines": pasted.rejected[:MAX_REJECTED],
    }
    return _render(request, case, {"queries_form": form, "found": found})


@require_POST
def runs_import(request: HtmxRequest, case_id: int) -> HttpResponse:
    """Imports rankings that were made elsewhere as runs, which a worker scores."""
    case = get_case(request, case_id, needs=Role.EDITOR)
    form = RunsFileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _render(request, case, {"runs_form": form}, status=422)
    data = form.cleaned_data
    try:
        imported = transfer.runs_file.import_runs(case=case, text=data["file"], by=request.user, name=data["name"])
    except (transfer.BadFile, runs.RunNotAllowed) as error:
        form.add_error("file", str(error))
        return _render(request, case, {"runs_form": form}, status=422)
    for run in imported.runs:
        transaction.on_commit(partial(tasks.enqueue_run_rescore, run))
    text = transfer.runs_file.describe_import(imported)
    return redirect_with_message(request, _compare_url(case), text)


def _compare_url(case: Case) -> str:
    """Returns where the newest run is compared with the one before it; the page of the case if there is none."""
    newest = list(Run.objects.finished().newest_for(case)[:2])
    if len(newest) < 2:
        return reverse("case", args=[case.pk])
    return reverse("compare", args=[case.pk], query=[("run", run.number) for run in reversed(newest)])


def _render(request: HtmxRequest, case: Case, context: dict[str, object], status: int = 200) -> HttpResponse:
    """Renders the page; for htmx the fragment that belongs to the form that was sent."""
    if request.htmx:
        name = "_queries_preview" if "queries_form" in context else "_ratings_preview"
        return render(request, f"case_files/{name}.html", {"case": case, **context}, status=status)
    role: int = vars(case)["role"]  # annotated by the access methods
    context = {
        "case": case,
        "run": Run.objects.finished().newest_for(case).first(),
        "can_edit": role >= Role.EDITOR,
        "ratings_form": RatingsFileForm(),
        "queries_form": QueriesFileForm(),
        "runs_form": RunsFileForm(),
        **context,
    }
    return render(request, "case_files/files.html", context, status=status)


TEXT_FILES = {
    "ratings": (transfer.ratings_csv.export_ratings, "ratings.csv", "text/csv"),
    "qrels": (transfer.trec.export_qrels, "qrels.txt", "text/plain"),
}
RUN_FILES = {
    "run": (transfer.run_csv.export_run, "csv", "text/csv"),
    "trec-run": (transfer.trec.export_run, "txt", "text/plain"),
}


@require_GET
def case_download(request: HtmxRequest, case_id: int, name: str) -> HttpResponse | FileResponse:
    """One file: ratings or qrels, run or trec-run of the newest finished run, or the whole case."""
    case = get_case(request, case_id)
    stem = slugify(case.name) or "case"
    if name in TEXT_FILES:
        export, suffix, content_type = TEXT_FILES[name]
        return attachment(export(case=case), f"{stem}-{suffix}", content_type)
    if name in RUN_FILES:
        run = Run.objects.finished().newest_for(case).first()
        if run is None:
            raise Http404
        export_run, extension, content_type = RUN_FILES[name]
        return attachment(export_run(run=run), f"{stem}-run-{run.number}.{extension}", content_type)
    file = transfer.relevancy_export.export_case(case=case, by=request.user)
    return FileResponse(file, as_attachment=True, filename=f"{stem}.json", content_type="application/json")
