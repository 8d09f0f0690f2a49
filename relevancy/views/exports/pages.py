"""A large file that a worker makes for a user: how far it is, why it failed, and the file."""

from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from relevancy import tasks
from relevancy.formats import stored_exports
from relevancy.formats.exports import Export, files_of
from relevancy.models import Book, Case, Role, Run, StoredExport
from relevancy.views import responses
from relevancy.views.permissions import get_or_403
from relevancy.views.requests import HtmxRequest
from relevancy.views.workbench.access import get_case
from relevancy.wording import describe_pace


@require_GET
def export(request: HtmxRequest, export_id: int) -> HttpResponse:
    """How far the file is; for htmx as a part of the page."""
    stored, shown = _find(request, export_id)
    rate = stored.per_second(timezone.now())
    path = stored_exports.path_of(stored)
    is_there = stored.status == stored.Status.COMPLETE and path.exists()
    context = {
        "stored": stored,
        "file": _kind(stored),
        "pace": describe_pace(rate, max(stored.total - stored.done, 0)) if rate else "",
        "size": path.stat().st_size if is_there else None,
        "kept_until": stored.progressed_at + stored_exports.KEPT,
        "book" if isinstance(shown, Book) else "case": shown,
        "tab_path": reverse("book_files" if isinstance(shown, Book) else "case_files", args=[shown.pk]),
        "frame": f"_ui/{'book' if isinstance(shown, Book) else 'case'}_page.html",
    }
    return render(request, "exports/_export.html" if request.htmx else "exports/export.html", context)


@require_GET
def export_file(request: HtmxRequest, export_id: int) -> HttpResponseBase:
    """The complete file; leads to its page if it is not there."""
    stored, _ = _find(request, export_id)
    if stored.status == stored.Status.COMPLETE:
        try:
            return responses.export_file(_kind(stored), stored.row, stored_exports.path_of(stored).open("rb"))
        except FileNotFoundError:
            pass
    return redirect("export", stored.pk)


@require_POST
def export_again(request: HtmxRequest, export_id: int) -> HttpResponse:
    """Makes a file again that is complete or has failed."""
    stored, _ = _find(request, export_id)
    return redirect("export", tasks.enqueue_export(row=stored.row, name=stored.name, by=request.user, again=True).pk)


def _find(request: HtmxRequest, export_id: int) -> tuple[StoredExport, Case | Book]:
    """Returns a file that the user has asked for, and the case or book that it is of, which the user may still see."""
    own = StoredExport.objects.filter(by=request.user).select_related("case", "run__case", "book")
    stored = get_object_or_404(own, pk=export_id)
    shown: Case | Book
    if isinstance(stored.row, Book):
        shown = get_or_403(Book.objects, request.user, stored.row.pk, needs=Role.VIEWER)
    else:
        shown = get_case(request, stored.row.case_id if isinstance(stored.row, Run) else stored.row.pk)
    return stored, shown


def _kind(stored: StoredExport) -> Export[Case | Run | Book]:
    """Returns what kind of file it is, which the app may no longer know that it came from."""
    kind: Export[Case | Run | Book] | None = files_of(type(stored.row)).get(stored.name)
    if kind is None:
        raise Http404
    return kind
